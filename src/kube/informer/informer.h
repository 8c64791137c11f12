#pragma once
#include <absl/container/btree_map.h>
#include <absl/container/btree_set.h>
#include <absl/functional/function_ref.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/log.h"
#include "base/random.h"
#include "kube/client/client.h"
#include "kube/codec.h"
#include "kube/informer/resource_version.h"
#include "kube/objects/meta.h"
#include "kube/resource.h"

// A local, always current copy of a collection: list in pages, watch, resume, relist when history
// is gone, with back-off in between. Only the watch feeds the copy; answers to writes never do.
namespace koord::kube {

struct InformerOptions {
  std::string ns = {};  // empty: all namespaces
  std::string label_selector = {};
  std::string field_selector = {};
  bool stream_list = true;  // use the watch's initial events where the server offers them
  int page_size = 500;
  uint64_t seed = 1;  // of the jitter
  // For this long a server's internal errors end only the watch; after that the list is made anew.
  Duration internal_error_window{0};
  Duration resync{0};  // how often handlers see every object again; zero: never
};

// The untyped half: keeps the protocol with the server and tells a sink what changed. The objects
// of a (re)list are told one by one, so that nobody has to keep the documents of all; `Replace`
// ends it, and deletions that were missed in between follow from it.
//
// What is told never goes back in time: events older than the newest version seen are dropped, and
// a list that is older is made again, this time asking for the latest state. Only if that is older
// too, the server itself was set back, and is believed.
class Reflector {
 public:
  class Sink {
   public:
    virtual ~Sink() = default;
    virtual void List(JsonView object) = 0;
    virtual void Unlist(JsonView object) = 0;  // was listed, and is gone already
    virtual void ForgetList() = 0;             // it begins anew, or is given up
    virtual void Replace() = 0;
    virtual void Upsert(JsonView object) = 0;
    virtual void Remove(JsonView last) = 0;
  };

  Reflector(Client& client, Resource resource, InformerOptions options, Sink& sink);
  ~Reflector();
  void Start();
  void Stop();    // may be started again; continues where it was if the server still can
  void Relist();  // lists the latest state once more, while running

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// The copy with its indexes and handlers: one piece of code for all types of objects, so that an
// informer of one more type costs the build next to nothing.
class ObjectCopy final : private Reflector::Sink {
 public:
  using Ptr = std::shared_ptr<const void>;
  using Handler = std::function<void(const Ptr& before, const Ptr& after)>;
  using IndexFunction = std::function<std::vector<std::string>(const void*)>;
  struct Type {
    StatusOr<Ptr> (*decode)(JsonView);
    const ObjectMeta& (*metadata)(const void*);
  };

  ObjectCopy(Client& client, Resource resource, InformerOptions options, Type type);

  void AddHandler(Handler handler);
  void AddIndex(std::string name, IndexFunction function);
  void WhenSynced(std::function<void()> callback);
  void Start();
  void Stop();
  void Relist(std::function<void()> callback);

  bool synced() const { return synced_; }
  const ObjectMeta& Metadata(const Ptr& object) const { return type_.metadata(object.get()); }
  Ptr Get(const ObjectKey& key) const;
  size_t size() const { return objects_.size(); }
  // In the order of their keys.
  void ForEach(absl::FunctionRef<void(const Ptr&)> visit) const;
  void ForEachOf(std::string_view index, std::string_view value,
                 absl::FunctionRef<void(const Ptr&)> visit) const;

 private:
  // Where an object stays as long as it is in the copy, so that a change of what no index is about
  // touches no index.
  struct Slot {
    Ptr object;
    const ObjectMeta* metadata = nullptr;  // the object's
  };
  struct InOrder {
    bool operator()(const Slot* a, const Slot* b) const {
      return std::tie(a->metadata->ns, a->metadata->name) <
             std::tie(b->metadata->ns, b->metadata->name);
    }
  };
  using Slots = absl::btree_set<Slot*, InOrder>;
  struct Index {
    IndexFunction function;
    std::map<std::string, Slots, std::less<>> entries;

    void Add(const std::vector<std::string>& values, Slot* slot);
    void Remove(const std::vector<std::string>& values, Slot* slot);
  };
  struct Change {
    Ptr before, after;
  };

  void List(JsonView object) override;
  void Unlist(JsonView object) override;
  void ForgetList() override;
  void Replace() override;
  void Upsert(JsonView object) override;
  void Remove(JsonView last) override;

  Ptr DecodeOrLog(JsonView object) const;
  std::vector<Ptr> Snapshot() const;
  ObjectKey KeyOf(const Change& change) const;
  void Put(const Change& change);
  void Store(const Change& change);
  void Deliver(const Change& change, size_t handlers);
  void Resync();

  const Resource resource_;
  const Duration resync_;
  const Type type_;
  absl::btree_map<ObjectKey, std::unique_ptr<Slot>> objects_;
  absl::btree_map<ObjectKey, Ptr> listed_;  // by the list under way
  std::map<std::string, Index, std::less<>> indexes_;
  std::deque<Handler> handlers_;  // stay where they are when a handler adds another
  std::vector<std::function<void()>> when_synced_, when_relisted_;
  bool synced_ = false;
  Timer resync_timer_;
  Reflector reflector_;
};

// The typed face. T is a described struct (codec.h) with a member `metadata` of type ObjectMeta.
// Each object is decoded once and shared; an object that cannot be decoded is logged, left out (or
// stays as it was last readable) and harms no other.
template <class T>
class Informer {
 public:
  using Ptr = std::shared_ptr<const T>;

  // `before` is null for an addition, `after` for a deletion (also one noticed only by a relist).
  // An object that was deleted and made anew under its name is a deletion and an addition, even if
  // the moment in between was missed. The copy already shows the change when a handler runs; after
  // a relist it shows all changes, and deletions are told first. Handlers run in the order in which
  // they were added; one that is added late first sees every object as an addition.
  using Handler = std::function<void(const Ptr& before, const Ptr& after)>;
  using IndexFunction = std::function<std::vector<std::string>(const T&)>;

  Informer(Client& client, Resource resource, InformerOptions options = {})
      : copy_(client, std::move(resource), std::move(options),
              {.decode = &DecodeObject, .metadata = &MetadataOf}) {}

  void AddHandler(Handler handler) {
    copy_.AddHandler([handler = std::move(handler)](const ObjectCopy::Ptr& before,
                                                    const ObjectCopy::Ptr& after) {
      handler(Typed(before), Typed(after));
    });
  }
  // Objects under a name of the caller's choosing, e.g. pods by node. An index is known by its name
  // to all who share the copy: the function depends on the object alone, and the first stays.
  void AddIndex(std::string name, IndexFunction function) {
    copy_.AddIndex(std::move(name), [function = std::move(function)](const void* object) {
      return function(*static_cast<const T*>(object));
    });
  }
  // Runs `callback` when the first list is complete and delivered; at once if it is.
  void WhenSynced(std::function<void()> callback) { copy_.WhenSynced(std::move(callback)); }
  void Start() { copy_.Start(); }
  void Stop() { copy_.Stop(); }
  // Lists once more and runs `callback` when all that had happened before this call was delivered.
  // A watch alone never tells how far behind it is.
  void Relist(std::function<void()> callback) { copy_.Relist(std::move(callback)); }

  bool synced() const { return copy_.synced(); }  // the first list is complete and delivered
  Ptr Get(const ObjectKey& key) const { return Typed(copy_.Get(key)); }
  std::vector<Ptr> List() const {  // in key order
    std::vector<Ptr> list;
    list.reserve(size());
    copy_.ForEach([&](const ObjectCopy::Ptr& object) { list.push_back(Typed(object)); });
    return list;
  }
  std::vector<Ptr> ByIndex(std::string_view index, std::string_view value) const {  // key order
    std::vector<Ptr> list;
    copy_.ForEachOf(index, value,
                    [&](const ObjectCopy::Ptr& object) { list.push_back(Typed(object)); });
    return list;
  }
  size_t size() const { return copy_.size(); }

  // For those to whom all kinds are alike.
  ObjectCopy& untyped() { return copy_; }

 private:
  static StatusOr<ObjectCopy::Ptr> DecodeObject(JsonView object) {
    auto typed = std::make_shared<T>();
    RETURN_IF_ERROR(Codec<T>::Read(object, *typed));
    return ObjectCopy::Ptr(std::move(typed));
  }
  static const ObjectMeta& MetadataOf(const void* object) {
    return static_cast<const T*>(object)->metadata;
  }
  static Ptr Typed(ObjectCopy::Ptr object) {
    return std::static_pointer_cast<const T>(std::move(object));
  }

  ObjectCopy copy_;
};

}  // namespace koord::kube
