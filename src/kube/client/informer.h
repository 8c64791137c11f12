#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/random.h"
#include "kube/client/client.h"
#include "kube/codec.h"
#include "kube/resource.h"

// A local, always current copy of a collection: list in pages, watch, resume, relist when history
// is gone, with back-off in between. Only the watch feeds the copy; answers to writes never do.
namespace koord::kube {

struct InformerOptions {
  std::string ns;  // empty: all namespaces
  std::string label_selector;
  std::string field_selector;
  bool stream_list = true;  // use the watch's initial events where the server offers them
  int page_size = 500;
  uint64_t seed = 1;  // of the jitter
};

// The untyped half: keeps the protocol with the server and tells a sink what changed. `Replace`
// ends every (re)list; deletions that were missed in between follow from it.
class Reflector {
 public:
  class Sink {
   public:
    virtual ~Sink() = default;
    virtual void Replace(std::vector<Json> objects) = 0;
    virtual void Upsert(Json object) = 0;
    virtual void Remove(const Json& last) = 0;
  };

  Reflector(Client& client, Resource resource, InformerOptions options, Sink& sink);
  ~Reflector();
  void Start();
  void Stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// The typed half. T is a described struct (codec.h) with a member `metadata` of type ObjectMeta.
// Each object is decoded once and shared; an object that cannot be decoded is logged, left out and
// harms no other.
template <class T>
class Informer final : private Reflector::Sink {
 public:
  using Ptr = std::shared_ptr<const T>;

  // `before` is null for an addition, `after` for a deletion (also one noticed only by a relist).
  // The copy already shows the change when a handler runs. Handlers run in the order in which they
  // were added; one that is added late first sees every object as an addition.
  using Handler = std::function<void(const Ptr& before, const Ptr& after)>;
  using IndexFunction = std::function<std::vector<std::string>(const T&)>;

  Informer(Client& client, Resource resource, InformerOptions options = {});

  void AddHandler(Handler handler);
  // Objects under a name of the caller's choosing, e.g. pods by node. Add before Start.
  void AddIndex(std::string name, IndexFunction function);
  void Start();
  void Stop();

  bool synced() const { return synced_; }  // the first list is complete and delivered
  Ptr Get(const ObjectKey& key) const;
  std::vector<Ptr> List() const;  // in key order
  std::vector<Ptr> ByIndex(const std::string& index, const std::string& value) const;  // key order
  size_t size() const { return objects_.size(); }

 private:
  using Index = std::map<std::string, std::map<ObjectKey, Ptr>>;
  struct NamedIndex {
    IndexFunction function;
    Index entries;
  };

  void Replace(std::vector<Json> objects) override;
  void Upsert(Json object) override;
  void Remove(const Json& last) override;
  Ptr DecodeOrLog(const Json& object) const;
  void Set(const ObjectKey& key, Ptr after);
  void Reindex(const ObjectKey& key, const Ptr& before, const Ptr& after);

  std::map<ObjectKey, Ptr> objects_;
  std::map<std::string, NamedIndex> indexes_;
  std::vector<Handler> handlers_;
  bool synced_ = false;
  Reflector reflector_;
};

}  // namespace koord::kube

#include "kube/client/informer_impl.h"
