#pragma once
#include <functional>
#include <string>

#include "base/scope.h"
#include "kube/client/client.h"
#include "kube/client/informer.h"
#include "kube/client/work_queue.h"
#include "manager/cluster/controller.h"
#include "manager/cluster/manager_informers.h"
#include "manager/config/slo_config_keeper.h"

namespace koord::manager {

// What all controllers work with.
struct ManagerContext {
  kube::Client& client;  // writes only while this instance leads
  ManagerInformers& informers;
  SloConfigKeeper& config;

  EventLoop& loop() const { return client.loop(); }
  const Clock& clock() const { return client.loop().clock(); }
};

// Keeps something of every node as it should be; keys are the names of nodes.
class NodeController : public Controller {
 public:
  void Start() override;
  void Stop() override { active_ = false; }
  bool idle() const override { return queue_.idle(); }

 protected:
  explicit NodeController(ManagerContext& context, int concurrency = 32);

  virtual void Reconcile(const std::string& node, kube::WorkQueue::Finish done) = 0;
  // Names besides those of nodes that are looked at first: of objects whose nodes may be gone.
  virtual std::vector<std::string> Others() const { return {}; }

  // Calls `handler(before, after)` for every change that an informer shows, as long as this exists.
  template <class T, class Handler>
  void Watch(kube::Informer<T>& informer, Handler handler) {
    informer.AddHandler(scope_.Wrap(std::move(handler)));
  }

  void Enqueue(const std::string& node);
  void EnqueueAfter(const std::string& node, Duration delay);
  void EnqueueAll();

  ManagerContext& context() { return context_; }
  const ManagerContext& context() const { return context_; }
  ManagerInformers& informers() { return context_.informers; }
  const Scope& scope() const { return scope_; }

 private:
  ManagerContext& context_;
  bool active_ = false;
  kube::WorkQueue queue_;
  Scope scope_;
};

}  // namespace koord::manager
