#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/scope.h"
#include "kube/client/client.h"
#include "kube/client/informer.h"
#include "kube/client/token_bucket.h"
#include "kube/client/work_queue.h"
#include "kube/objects/namespace.h"
#include "kube/objects/pod.h"
#include "manager/cluster/controller.h"
#include "manager/profile/profile.h"

namespace koord::manager {

// Applies profiles to pods that were there before them: those that still wait for a node.
//
// Only profiles that ask for it are handled (label controller-managed, or all by a flag), and only
// metadata and the profile's patch are applied: scheduler, priority and resources cannot change any
// more. Writes are paced; what the pace leaves out is done in the next round.
class ColocationProfileController final : public Controller {
 public:
  static constexpr std::string_view kName = "colocationprofile";

  struct Options {
    bool all_profiles = false;
    Duration interval = std::chrono::seconds(30);
    // How long a pod to which a profile was applied is left alone.
    Duration force_update = std::chrono::minutes(5);
    double qps = 10;
    int burst = 100;
    uint64_t seed = 1;
  };
  struct Inputs {
    kube::Client& client;  // writes only while this instance leads
    kube::Informer<api::ClusterColocationProfile>& profiles;
    kube::Informer<kube::Namespace>& namespaces;
    kube::Informer<kube::Pod>& pods;
  };

  ColocationProfileController(const Inputs& inputs, Options options);

  void Start() override;
  void Stop() override { active_ = false; }
  bool idle() const override { return queue_.idle(); }

 private:
  bool IsHandled(const api::ClusterColocationProfile& profile) const;
  void Reconcile(const std::string& name, kube::WorkQueue::Finish done);
  std::vector<std::shared_ptr<const kube::Pod>> PodsOf(const CompiledProfile& profile) const;
  StatusOr<std::vector<kube::ObjectKey>> Due(const CompiledProfile& profile);
  void ApplyTo(const ProfilePtr& profile, const kube::ObjectKey& pod, std::function<void()> done);
  void Forget();

  Inputs inputs_;
  const Options options_;
  Random random_;
  kube::TokenBucket pace_;
  std::map<std::string, SteadyTime> applied_;  // by version of the profile and uid of the pod
  bool active_ = false;
  kube::WorkQueue queue_;
  Scope scope_;
};

}  // namespace koord::manager
