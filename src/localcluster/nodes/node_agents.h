#pragma once
#include <cstdint>
#include <string>

namespace koord::localcluster {

// What agents do to best-effort pods in favour of others.
struct Protection {
  int suppressed_nodes = 0;  // where they want more CPU than they are left, at this moment
  int64_t suppressions = 0;  // how often that began
  int64_t evictions = 0;     // of pods
};

// What runs on simulated machines besides their kubelets.
class NodeAgents {
 public:
  virtual ~NodeAgents() = default;
  // The machine is there and works.
  virtual void Begin(const std::string& node) = 0;
  // It is gone, or somebody has pulled the plug.
  virtual void End(const std::string& node) = 0;
};

}  // namespace koord::localcluster
