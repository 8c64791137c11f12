#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/cluster_colocation_profile.h"
#include "base/random.h"
#include "base/status.h"
#include "kube/json.h"
#include "kube/objects/priority_class.h"
#include "kube/schema/type.h"
#include "kube/selectors.h"

// What a ClusterColocationProfile makes of an object on its way into the cluster: ordinary pods
// become co-located ones without their authors changing a line.
//
// All profiles are looked at once, with the labels that the object came with; those that match are
// applied by name. Documents are changed in place, so that what we do not know of stays.
namespace koord::manager {

using ProfilePtr = std::shared_ptr<const api::ClusterColocationProfile>;

// A profile with its selectors made ready.
struct CompiledProfile {
  ProfilePtr profile;
  kube::LabelMatcher namespaces;
  kube::LabelMatcher objects;

  const std::string& name() const { return profile->metadata.name; }
};
// An error says which selector cannot be read.
StatusOr<CompiledProfile> Compile(ProfilePtr profile);

// All profiles of the cluster, by name. One whose selectors cannot be read matches nothing.
class ProfileSet {
 public:
  void Set(const ProfilePtr& profile);
  void Remove(const std::string& name) { profiles_.erase(name); }
  bool empty() const { return profiles_.empty(); }

  // The namespace's labels are asked for only if a profile wants to know them; if they cannot be
  // had, that is the answer.
  using NamespaceLabels = std::function<StatusOr<const kube::Labels*>()>;
  StatusOr<std::vector<const CompiledProfile*>> Match(
      const kube::json::object* labels, const NamespaceLabels& namespace_labels) const;
  // Of an object that is in no namespace: only its own labels count.
  std::vector<const CompiledProfile*> Match(const kube::json::object* labels) const;

 private:
  std::map<std::string, CompiledProfile, std::less<>> profiles_;
};

// Whether this time the profile is applied: its probability in percent against the dice.
StatusOr<bool> Chosen(const api::ClusterColocationProfileSpec& spec, Random& random);

using FindPriorityClass =
    std::function<std::shared_ptr<const kube::PriorityClass>(std::string_view name)>;

// What is changed, and how.
struct ProfileTarget {
  kube::Json& object;
  // Finds where scheduler name and priority go; null if they go nowhere.
  std::function<kube::Json*(kube::Json& object)> pod_spec = {};
  FindPriorityClass priority_class = {};
  const kube::Type* type = nullptr;  // of the object, for the profile's patch
};

// Applies one profile. An error is for the user.
Status ApplyProfile(const api::ClusterColocationProfileSpec& spec, const ProfileTarget& target);

struct AppliedProfiles {
  std::vector<std::string> applied;  // names
  bool skip_resources = false;       // one of those that match asks to leave resources alone
};
StatusOr<AppliedProfiles> ApplyProfiles(const std::vector<const CompiledProfile*>& matched,
                                        const ProfileTarget& target, Random& random);

// Moves what a pod of the batch or mid class asks of cpu and memory to that class's own resources.
Status RewriteResources(kube::Json& pod);

// Profiles and then resources, as for a pod that is created. False if no profile matches.
struct PodProfileContext {
  const ProfileSet& profiles;
  ProfileSet::NamespaceLabels namespace_labels;
  FindPriorityClass priority_class;
  bool rewrite_resources = true;
};
StatusOr<bool> ApplyToPod(const PodProfileContext& context, Random& random, kube::Json& pod);
// Likewise for a Reservation, whose pod is its template.
StatusOr<bool> ApplyToReservation(const PodProfileContext& context, Random& random,
                                  kube::Json& reservation);

}  // namespace koord::manager
