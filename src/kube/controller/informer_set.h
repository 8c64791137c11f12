#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <typeindex>
#include <utility>
#include <vector>

#include "base/event_loop.h"
#include "base/scope.h"
#include "kube/client/client.h"
#include "kube/informer/informer.h"
#include "kube/objects/meta.h"
#include "kube/resource.h"

namespace koord::kube {

// The copies of the cluster's objects that the parts of a program share: each object is received
// and decoded once, however many look at it. Whoever needs a kind says so; the first time an
// informer is made for it, after that all get the same. They start, stop and become known together.
//
// Where several such programs run in one process, a set borrows from another what that has, and
// asks the server only for the rest.
class InformerSet {
 public:
  struct Options {
    uint64_t seed = 1;  // of the jitter
    // What it or its own lender has is not asked for again; it starts and stops that itself, and
    // outlives this. Null: everything is our own.
    InformerSet* lender = nullptr;
  };
  using MetaPtr = std::shared_ptr<const ObjectMeta>;

  // One of the informers, whatever its type: only what all objects have in common.
  class Source {
   public:
    const Resource& resource() const { return resource_; }
    bool synced() const { return copy_->synced(); }
    MetaPtr Find(const ObjectKey& key) const;
    void Watch(std::function<void(const MetaPtr& before, const MetaPtr& after)> handler) const;

   private:
    friend InformerSet;
    template <class T>
    Source(Resource resource, InformerOptions options, std::shared_ptr<Informer<T>> informer)
        : resource_(std::move(resource)),
          options_(std::move(options)),
          type_(typeid(T)),
          informer_(informer.get()),
          copy_(&informer->untyped()),
          owned_(std::move(informer)) {}

    Resource resource_;
    InformerOptions options_;  // which objects are watched
    std::type_index type_;     // what they are read as
    void* informer_;
    ObjectCopy* copy_;             // the informer's
    std::shared_ptr<void> owned_;  // the informer; null if it is lent
  };

  // Of a lender's copies those that hold exactly the objects that are asked for will do, or also
  // one of all objects of the kind.
  enum class Lent { kExactly, kOrAll };

  InformerSet(Client& client, Options options);
  explicit InformerSet(Client& client) : InformerSet(client, {.lender = nullptr}) {}
  InformerSet(const InformerSet&) = delete;
  InformerSet& operator=(const InformerSet&) = delete;

  // The informer of these objects; one that is made after Start is started at once. The set chooses
  // the seed.
  template <class T>
  Informer<T>& Use(const Resource& resource, InformerOptions options = {},
                   Lent lent = Lent::kExactly) {
    if (const Source* there = FindOrBorrow(resource, typeid(T), options, lent)) {
      return *static_cast<Informer<T>*>(there->informer_);
    }
    options.seed = seed_ + sources_.size();
    auto informer = std::make_shared<Informer<T>>(client_, resource, options);
    Add(Source(resource, std::move(options), informer));
    return *informer;
  }

  // The same for one that the lender has, whatever it selects.
  template <class T>
  Informer<T>& Borrow(Informer<T>& informer) {
    AddBorrowed(lender_->FindInformer(&informer));
    return informer;
  }

  // What is lent to this set is left alone. Nobody acts before all is known: kinds that cannot be
  // listed, such as those that are not installed, are named in the log once.
  void Start();
  void Stop();

  // Started, and all first lists are there, also of what is lent.
  bool synced() const { return started_ && unsynced_ == 0; }
  // Runs `callback` once that is so; at once if it is.
  void WhenSynced(std::function<void()> callback);
  // The kinds whose first list is not there yet.
  std::vector<std::string> Unsynced() const;

  // What shows objects of the resource; null if nothing does.
  const Source* Find(const Resource& resource) const;

 private:
  const Source* FindOrBorrow(const Resource& resource, std::type_index type,
                             const InformerOptions& options, Lent lent);
  const Source* FindExactly(const Resource& resource, std::type_index type,
                            const InformerOptions& options) const;
  const Source* FindInformer(const void* informer) const;
  const Source* AddBorrowed(const Source* found);
  void Add(Source source);
  void OnSynced();
  void TellOfUnlisted();

  Client& client_;
  const uint64_t seed_;
  InformerSet* const lender_;
  std::deque<Source> sources_;  // stay where they are
  size_t unsynced_ = 0;
  bool started_ = false;
  std::vector<std::function<void()>> when_synced_;
  Timer listing_;
  std::string told_of_;  // the kinds that could not be listed
  Scope scope_;
};

}  // namespace koord::kube
