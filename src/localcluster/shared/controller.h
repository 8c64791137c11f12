#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/event_loop.h"
#include "base/random.h"
#include "base/scope.h"
#include "kube/client/client.h"
#include "kube/client/work_queue.h"
#include "localcluster/shared/plan.h"
#include "localcluster/shared/shared_informers.h"

namespace koord::localcluster {

// The voices in which a cluster's parts tell people what they do, one a component.
class Recorders {
 public:
  virtual ~Recorders() = default;
  virtual EventRecorder& For(const std::string& component) = 0;
};

// Writes Events.
class EventRecorders final : public Recorders {
 public:
  EventRecorders(kube::Client& client, uint64_t seed) : client_(client), seed_(seed) {}
  EventRecorder& For(const std::string& component) override;

 private:
  kube::Client& client_;
  const uint64_t seed_;
  std::map<std::string, std::unique_ptr<EventRecorder>> recorders_;
};

// What all controllers work with.
struct ControllerContext {
  kube::Client& client;
  SharedInformers& informers;
  Random& random;  // of names
  Recorders& recorders;

  EventLoop& loop() const { return client.loop(); }
  const Clock& clock() const { return client.loop().clock(); }
};

// Keeps objects of one kind as they should be. A subclass says which keys a change concerns
// (Enqueue) and what is to be done about a key (Decide), and nothing else: this class carries plans
// out, tells people, and comes back when something failed.
//
// No key is decided before all informers have their first lists, and none again before they show
// what the last plan has written: a decision never rests on the world as it was before the one
// before it. A write whose effect does not show (the object went as it came, or the answer was
// lost) is waited for only so long.
class Controller {
 public:
  Controller(std::string name, ControllerContext& context, int concurrency = 8);
  virtual ~Controller();
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  // Nothing is waiting to be decided or under way.
  bool idle() const { return queue_.idle(); }
  const std::string& name() const { return name_; }

 protected:
  virtual Plan Decide(const std::string& key) = 0;
  // A write of the key's plan was refused, with the reason; the key will be decided again.
  virtual void OnRefused(const std::string& key, const Write& write, const Status& status);
  // All writes of the key's plan were carried out.
  virtual void OnDone(const std::string& key);

  // Calls `handler(before, after)` for every change that an informer shows, as long as this exists.
  template <class T, class Handler>
  void Watch(kube::Informer<T>& informer, Handler handler) {
    informer.AddHandler(scope_.Wrap(std::move(handler)));
  }

  void Enqueue(const std::string& key);
  void EnqueueAfter(const std::string& key, Duration delay) { queue_.AddAfter(key, delay); }

  EventRecorder& recorder() { return recorder_; }
  ControllerContext& context() { return context_; }
  SharedInformers& informers() { return context_.informers; }
  WallTime Now() const { return context_.clock().Now(); }

 private:
  // Something this controller has written and has not seen yet.
  struct Unseen {
    Write::Verb verb;
    const SharedInformers::Source* source;
    kube::ObjectKey key;
    std::string uid;               // empty if the answer was lost
    std::string resource_version;  // likewise
    SteadyTime give_up;
  };

  void Handle(const std::string& key, kube::WorkQueue::Finish done);
  bool AwaitsOwnWrites(const std::string& key);
  static bool Shows(const Unseen& write);
  void Finished(const std::string& key, const Plan& plan, const std::vector<WriteResult>& results,
                const kube::WorkQueue::Finish& done);
  void Remember(const std::string& key, const WriteResult& result);

  const std::string name_;
  ControllerContext& context_;
  EventRecorder& recorder_;
  std::vector<std::string> before_sync_;
  std::map<std::string, std::vector<Unseen>> unseen_;
  kube::WorkQueue queue_;
  Scope scope_;
};

// "ns/name" and back.
inline std::string KeyText(const kube::ObjectMeta& meta) { return kube::KeyOf(meta).ToString(); }
kube::ObjectKey ParseKey(std::string_view text);

}  // namespace koord::localcluster
