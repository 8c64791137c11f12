#pragma once
#include <string>

namespace koord::localcluster {

// What runs on simulated machines besides their kubelets.
class NodeAgents {
 public:
  virtual ~NodeAgents() = default;
  // The machine is there and works.
  virtual void Begin(const std::string& node) = 0;
  // It is gone, or somebody has pulled the plug.
  virtual void End(const std::string& node) = 0;
  // Whether the agent tells the cluster what the node uses, so that nobody else has to.
  virtual bool Reports(const std::string& node) const = 0;
};

}  // namespace koord::localcluster
