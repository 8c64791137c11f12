#pragma once
#include <string>
#include <utility>

#include "base/random.h"
#include "kube/client/client.h"
#include "kube/controller/controller.h"
#include "kube/events/event_recorders.h"
#include "localcluster/informers/cluster_informers.h"

namespace koord::localcluster {

// What all controllers of a local cluster work with.
struct ControllerContext {
  kube::Client& client;
  ClusterInformers& informers;
  Random& random;  // of names
  kube::EventRecorders& recorders;

  EventLoop& loop() const { return client.loop(); }
  const Clock& clock() const { return client.loop().clock(); }
};

// A controller that sees the cluster through its informers.
class ClusterController : public kube::Controller {
 protected:
  ClusterController(const std::string& name, ControllerContext& context, int concurrency = 8)
      : Controller(name, {context.client, context.informers, context.recorders.For(name)},
                   {.concurrency = concurrency}),
        context_(context) {}

  ControllerContext& context() { return context_; }
  ClusterInformers& informers() { return context_.informers; }

 private:
  ControllerContext& context_;
};

}  // namespace koord::localcluster
