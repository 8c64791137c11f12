#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/event_loop.h"
#include "base/random.h"
#include "base/scope.h"
#include "base/string_map.h"
#include "localcluster/apiserver/apply/field_schema.h"
#include "localcluster/apiserver/core/metrics.h"
#include "localcluster/apiserver/core/options.h"
#include "localcluster/apiserver/core/request.h"
#include "localcluster/apiserver/crd/definition.h"
#include "localcluster/apiserver/registry/registry.h"
#include "localcluster/apiserver/storage/store.h"

namespace koord::apiserver {

// A custom resource that is being served.
struct CustomState {
  std::shared_ptr<const CustomResource> resource;
  // Objects written at or before this revision have seen an older schema.
  Revision schema_since = 0;
  int64_t generation = 0;  // of the definition that `resource` was made from
  // How field ownership divides its objects, by version.
  std::map<std::string, std::shared_ptr<const OpenApiFieldSchema>, std::less<>> field_schemas;
  bool terminating = false;  // its definition is being deleted: no new objects
};

// What the parts of the server share.
struct Core {
  Core(EventLoop& loop, Store& store, ApiServerOptions options)
      : loop(loop), store(store), options(std::move(options)), random(this->options.seed) {}

  EventLoop& loop;
  Store& store;
  const ApiServerOptions options;
  Registry registry;
  StringMap<CustomState> customs;  // by qualified name
  // The names that definitions ask for and have got, whether they are served or not.
  std::map<std::string, kube::Json, std::less<>> definitions;
  Random random;
  Metrics metrics;
  bool stopping = false;

  // Null for built-in resources.
  const CustomState* FindCustom(const ResourceInfo& info) const;
  const CustomVersion* FindCustomVersion(const ResourceInfo& info) const;

  WallTime now() const { return loop.clock().Now(); }
  std::string NewUid();           // a version 4 UUID
  std::string NameSuffix();       // five characters that spell no words
  std::string Timestamp() const;  // now, as creationTimestamp spells it

  // As the store's, but not after the server is gone.
  void WhenDurable(Revision revision, Task task) {
    store.WhenDurable(revision, scope_.Wrap(std::move(task)));
  }
  void After(Duration delay, Task task) { loop.Schedule(delay, scope_.Wrap(std::move(task))); }
  void Post(Task task) { loop.Post(scope_.Wrap(std::move(task))); }

  // Runs `task` once the store has reached `revision`, or after 3 s with false.
  void WhenReached(Revision revision, absl::AnyInvocable<void(bool reached)> task);

  // Called after every write to a resource (by its name in the store), inside the write.
  using Observer = std::function<void(const EntryPtr& before, const EntryPtr& after)>;
  void Observe(std::string_view stored_as, Observer observer);
  // Of every resource; called after those above.
  using AnyObserver = std::function<void(const std::string& stored_as, const EntryPtr& before,
                                         const EntryPtr& after)>;
  void ObserveAll(AnyObserver observer) { any_observers_.push_back(std::move(observer)); }

  // Every write goes through these: they give it the next revision and tell whoever waits for it.
  EntryPtr Put(const ResourceInfo& info, const std::string& key, const kube::Json& object);
  EntryPtr Remove(const ResourceInfo& info, const std::string& key, const kube::Json& last);

 private:
  struct Waiter {
    explicit Waiter(EventLoop& loop) : timeout(loop) {}
    absl::AnyInvocable<void(bool)> task;
    Timer timeout;
  };
  void OnWritten(const std::string& stored_as, const EntryPtr& before, const EntryPtr& after);

  std::multimap<Revision, std::unique_ptr<Waiter>> waiters_;
  std::map<std::string, std::vector<Observer>, std::less<>> observers_;
  std::vector<AnyObserver> any_observers_;
  Scope scope_;
};

// Empty if there is no such object.
std::string UidOf(const Core& core, const kube::Resource& resource, const kube::ObjectKey& key);

// The key of an object in the store.
inline std::string KeyOf(std::string_view ns, std::string_view name) {
  return ns.empty() ? std::string(name) : std::string(ns).append("/").append(name);
}

}  // namespace koord::apiserver
