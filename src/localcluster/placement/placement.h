#pragma once
#include <map>
#include <set>
#include <string>

#include "localcluster/placement/node_choice.h"
#include "localcluster/shared/controller.h"

namespace koord::localcluster {

// Assigns pods to nodes by the plainest rules that make a cluster usable: for clusters that run
// without a scheduler of their own. Pods of other schedulers are left alone.
class Placement final : public Controller {
 public:
  explicit Placement(ControllerContext& context);

 private:
  struct Placed {
    std::string node;
    kube::ResourceList requests;
  };

  Plan Decide(const std::string& key) override;
  void OnRefused(const std::string& key, const Write& write, const Status& status) override;
  void OnPod(const kube::Pod& pod);
  void Count(const kube::Pod& pod, const std::string& node);
  void Uncount(const std::string& uid);
  void RetryWaiting();
  Plan Explain(const kube::Pod& pod, const std::string& message);

  NodeUses uses_;
  std::map<std::string, Placed> placed_;  // by UID: what uses_ is made of
  std::set<std::string> waiting_;         // keys of pods that fitted nowhere
};

}  // namespace koord::localcluster
