#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/event_loop.h"
#include "base/scope.h"
#include "kube/client/client.h"
#include "kube/controller/informer_set.h"
#include "kube/controller/own_writes.h"
#include "kube/controller/plan.h"
#include "kube/controller/work_queue.h"
#include "kube/events/event_recorder.h"

namespace koord::kube {

// What a controller works with.
struct ControllerParts {
  Client& client;
  InformerSet& informers;
  EventRecorder& events;  // its voice
};

struct ControllerOptions {
  int concurrency = 8;
  // Acts only between Start and Stop: where only one of several instances does. Otherwise it acts
  // from the beginning.
  bool by_leadership = false;
};

// Keeps objects of one kind as they should be. A subclass says which keys a change concerns
// (Enqueue) and what is to be done about a key (Decide), and nothing else: this class carries plans
// out, tells people, and comes back when something failed.
//
// No key is decided before all informers have their first lists, and none again before they show
// what the last plan has written: a decision never rests on the world as it was before the one
// before it.
class Controller {
 public:
  Controller(std::string name, const ControllerParts& parts, ControllerOptions options = {});
  virtual ~Controller();
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  // Looks at everything that there is as soon as the informers know it, and from then on at what
  // changes.
  virtual void Start();
  // Nothing is decided any more. What was decided before is still carried out: see idle.
  void Stop();
  // Nothing is waiting to be decided or under way.
  bool idle() const { return queue_.idle(); }
  const std::string& name() const { return name_; }

 protected:
  virtual Plan Decide(const std::string& key) = 0;
  // Asks the server for what Decide needs and informers do not show, and calls `ready` then.
  virtual void Prepare(const std::string& key, std::function<void()> ready);
  // The server has accepted a write of the key's plan, or there was nothing left of it to do, which
  // is a null answer.
  virtual void OnWritten(const std::string& key, const Write& write, const Json& answer);
  // A write of the key's plan was refused, with the reason; the key will be decided again.
  virtual void OnRefused(const std::string& key, const Write& write, const Status& status);
  // All writes of the key's plan were carried out.
  virtual void OnDone(const std::string& key);
  // The keys that Start looks at.
  virtual std::vector<std::string> AllKeys() const { return {}; }

  // Calls `handler(before, after)` for every change that an informer shows, as long as this exists.
  template <class T, class Handler>
  void Watch(Informer<T>& informer, Handler handler) {
    informer.AddHandler(scope_.Wrap(std::move(handler)));
  }

  // Nothing while this does not act.
  void Enqueue(const std::string& key) { EnqueueAfter(key, Duration::zero()); }
  void EnqueueAfter(const std::string& key, Duration delay);
  void EnqueueAll();

  // Tells people at once, whatever becomes of the plan.
  void WarnNow(const Resource& resource, const ObjectMeta& about, std::string_view reason,
               std::string message);

  Client& client() const { return parts_.client; }
  const Clock& clock() const { return parts_.client.loop().clock(); }
  WallTime Now() const { return clock().Now(); }
  const Scope& scope() const { return scope_; }

 private:
  void Begin();
  void Handle(const std::string& key, WorkQueue::Finish done);
  void CarryOut(const std::string& key, Plan plan, WorkQueue::Finish done);
  void Finished(const std::string& key, const Plan& plan, const std::vector<WriteResult>& results,
                const WorkQueue::Finish& done);

  const std::string name_;
  const ControllerParts parts_;
  bool started_ = false;
  bool acts_ = false;                                          // started, and all is known
  std::vector<std::pair<std::string, Duration>> before_sync_;  // enqueued in between
  OwnWrites own_writes_;
  WorkQueue queue_;
  Scope scope_;
};

// "ns/name" and back.
inline std::string KeyText(const ObjectMeta& meta) { return KeyOf(meta).ToString(); }
ObjectKey ParseKey(std::string_view text);

}  // namespace koord::kube
