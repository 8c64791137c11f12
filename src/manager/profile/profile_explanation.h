#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "manager/profile/profile.h"

// Which profiles are for a pod, why or why not, and what they would make of it. Nothing is left to
// the dice: a profile that applies to some pods only is taken to apply, and its share is said.
namespace koord::manager {

struct ProfileVerdict {
  std::string name;
  bool matches = false;
  // Why: what each selector asks for and what the pod, or its namespace, has.
  std::vector<std::string> reasons;
  int percent = 100;      // of the pods that match; 0: it never applies
  std::string rejection;  // not empty: a pod like this one is refused because of it

  static void Fields(auto& self, auto&& field) {
    field("name", self.name);
    field("matches", kube::Always(self.matches));
    field("reasons", self.reasons);
    field("appliesToPercent", kube::Always(self.percent));
    field("rejection", self.rejection);
  }
};

struct ProfilesExplanation {
  std::vector<ProfileVerdict> profiles;  // by name: the order in which they apply
  std::string resources;                 // what becomes of cpu and memory, and why
  kube::Json result;                     // the pod after it; as it was if it would be refused

  bool any_matches() const;
  // Of the first profile because of which the pod is refused; empty if it is not.
  std::string_view rejection() const;
};

struct ProfilesQuestion {
  std::vector<ProfilePtr> profiles;
  std::string ns;
  kube::Labels namespace_labels;
  FindPriorityClass priority_class;
};
ProfilesExplanation ExplainProfiles(const ProfilesQuestion& question, const kube::Json& pod);

// For people: one paragraph a profile.
std::string FormatVerdicts(const ProfilesExplanation& explanation);

// The pods that a manifest stands for: itself, the template of a workload, or that of a CronJob,
// each as a Pod with the template's metadata. Empty if it is about no pod.
struct PodOfManifest {
  std::string what;  // "Deployment default/web"
  std::string ns;
  kube::Json pod;
};
std::vector<PodOfManifest> PodsOf(const kube::Json& manifest, std::string_view default_namespace);

}  // namespace koord::manager
