#pragma once
#include <absl/functional/any_invocable.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/event_loop.h"
#include "base/status.h"
#include "kube/api_error.h"
#include "kube/json.h"
#include "kube/resource.h"
#include "kube/transport/transport.h"

namespace koord::kube {

enum class PatchType { kJson, kMerge, kStrategic, kApply };

struct ListOptions {
  std::string label_selector = {};
  std::string field_selector = {};
  int limit = 0;
  std::string continue_token = {};
  std::string resource_version = {};
  std::string resource_version_match = {};
};

struct WriteOptions {
  std::string subresource = {};    // "status", "binding", "eviction", "scale"
  std::string field_manager = {};  // empty: the server derives it from the user agent
  bool force = false;              // apply only
  bool dry_run = false;
  bool ignore_answer = false;  // success comes without the object, which then is not even parsed
};

struct DeleteOptions {
  std::optional<int64_t> grace_period_seconds = {};
  std::string propagation_policy = {};  // Background, Foreground, Orphan
  std::string uid = {};                 // preconditions
  std::string resource_version = {};
};

struct WatchOptions {
  std::string label_selector = {};
  std::string field_selector = {};
  std::string resource_version = {};
  std::string resource_version_match = {};
  std::optional<bool> send_initial_events = {};
  bool allow_bookmarks = true;
  int timeout_seconds = 0;
};

// Talks to one API server about any resource. Every call is asynchronous: `done` runs on the loop,
// once, with the server's object or an error (see api_error.h for what it carries). Requests beyond
// the rate limit wait their turn; answers with Retry-After are retried as Kubernetes' own clients
// do, and a read whose connection broke is tried again after a second. A write whose answer was
// lost is not repeated: only its caller can tell whether it happened.
//
// Destroying the client cancels what it has under way; `done` is not called then.
class Client {
 public:
  using Done = absl::AnyInvocable<void(StatusOr<Json>)>;

  struct Options {
    std::string user_agent = "koordinator";
    double qps = 50;  // 0 switches the limit off
    int burst = 100;
    // For one attempt, from the moment it leaves the rate limit. Lists may be long.
    Duration timeout = std::chrono::seconds(30);
    Duration list_timeout = std::chrono::minutes(5);
    // Asked each time that something is about to be sent that may change the cluster, also again:
    // for programs of which only the leader may write. Null: always.
    std::function<bool()> may_write = {};
  };

  // One watch. Destroying it closes the stream, also from within its callbacks. Events arrive in
  // order: `type` is ADDED, MODIFIED, DELETED or BOOKMARK; a server's ERROR event ends the watch
  // with that error. Nothing is retried here.
  class Watcher {
   public:
    virtual ~Watcher() = default;
  };
  struct WatchEvents {
    absl::AnyInvocable<void()> opened;  // the server has accepted the watch
    // The object lives for the call.
    absl::AnyInvocable<void(std::string_view type, JsonView object)> event;
    absl::AnyInvocable<void(Status)> end;  // OK when the server closed the stream normally
  };

  Client(EventLoop& loop, std::shared_ptr<Transport> transport, Options options);
  ~Client();

  EventLoop& loop() const;

  void Get(const Resource& resource, const ObjectKey& key, Done done);
  void List(const Resource& resource, std::string_view ns, const ListOptions& options, Done done);
  void Create(const Resource& resource, std::string_view ns, const Json& object,
              const WriteOptions& options, Done done);
  // POST to the subresource that the options name: binding, eviction, token.
  void CreateSubresource(const Resource& resource, const ObjectKey& key, const Json& object,
                         const WriteOptions& options, Done done);
  void Update(const Resource& resource, const ObjectKey& key, const Json& object,
              const WriteOptions& options, Done done);
  void Patch(const Resource& resource, const ObjectKey& key, PatchType type, const Json& patch,
             const WriteOptions& options, Done done);
  void Delete(const Resource& resource, const ObjectKey& key, const DeleteOptions& options,
              Done done);
  void DeleteCollection(const Resource& resource, std::string_view ns, const ListOptions& which,
                        const DeleteOptions& options, Done done);
  std::unique_ptr<Watcher> Watch(const Resource& resource, std::string_view ns,
                                 const WatchOptions& options, WatchEvents events);
  // Anything else: discovery, /version, health. An HTTP error is an answer here.
  void Raw(HttpRequest request, Transport::Done done);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace koord::kube
