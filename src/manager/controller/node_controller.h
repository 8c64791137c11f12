#pragma once
#include <string>
#include <vector>

#include "kube/client/client.h"
#include "kube/controller/controller.h"
#include "kube/events/event_recorders.h"
#include "manager/config/slo_config_keeper.h"
#include "manager/informers/manager_informers.h"

namespace koord::manager {

// What all controllers work with.
struct ManagerContext {
  kube::Client& client;  // writes only while this instance leads
  ManagerInformers& informers;
  SloConfigKeeper& config;
  kube::EventRecorders& recorders;
};

// Keeps something of every node as it should be; keys are the names of nodes. All nodes are looked
// at when this instance begins to lead and when the configuration changes.
class NodeController : public kube::Controller {
 protected:
  NodeController(const std::string& name, ManagerContext& context);

  std::vector<std::string> AllKeys() const override;

  ManagerInformers& informers() const { return context_.informers; }
  // Null until there is one.
  const SloConfig* config() const { return context_.config.config(); }

 private:
  ManagerContext& context_;
};

}  // namespace koord::manager
