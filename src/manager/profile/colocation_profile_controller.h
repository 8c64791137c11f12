#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "kube/client/token_bucket.h"
#include "kube/controller/controller.h"
#include "kube/objects/namespace.h"
#include "kube/objects/pod.h"
#include "manager/profile/profile.h"

namespace koord::manager {

// Applies profiles to pods that were there before them: those that still wait for a node.
//
// Only profiles that ask for it are handled (label controller-managed, or all by a flag), and only
// metadata and the profile's patch are applied: scheduler, priority and resources cannot change any
// more. Writes are paced; what the pace leaves out is done in the next round.
class ColocationProfileController final : public kube::Controller {
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
    kube::ControllerParts parts;  // writes only while this instance leads
    kube::Informer<api::ClusterColocationProfile>& profiles;
    kube::Informer<kube::Namespace>& namespaces;
    kube::Informer<kube::Pod>& pods;
  };

  ColocationProfileController(const Inputs& inputs, Options options);

 private:
  // What one look at a profile has found out. They are looked at one after the other.
  struct Round {
    ProfilePtr profile;  // null: there is nothing to do
    Status status;
    std::vector<kube::Json> pods;  // to which it is to be applied
  };

  void Prepare(const std::string& name, std::function<void()> ready) override;
  kube::Plan Decide(const std::string& name) override;
  void OnWritten(const std::string& name, const kube::Write& write,
                 const kube::Json& answer) override;
  void OnRefused(const std::string& name, const kube::Write& write, const Status& status) override;
  std::vector<std::string> AllKeys() const override;

  bool IsHandled(const api::ClusterColocationProfile& profile) const;
  std::vector<std::shared_ptr<const kube::Pod>> PodsOf(const CompiledProfile& profile) const;
  StatusOr<std::vector<kube::ObjectKey>> Due(const CompiledProfile& profile);
  void Read(const kube::ObjectKey& pod, std::function<void()> done);
  std::optional<kube::Write> ApplyTo(const kube::Json& pod);
  void NoteApplied(const kube::Json& pod);
  void LogFailure(const kube::ObjectKey& pod, const Status& status) const;
  void Forget();

  const Inputs inputs_;
  const Options options_;
  Random random_;
  kube::TokenBucket pace_;
  std::map<std::string, SteadyTime> applied_;  // by version of the profile and uid of the pod
  Round round_;
};

}  // namespace koord::manager
