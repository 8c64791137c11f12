#include "manager/profile/profile_explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/keys.h"
#include "api/priority.h"
#include "base/strings.h"
#include "kube/objects/pod.h"

namespace koord::manager {
namespace {

using kube::Json;
using kube::LabelMatcher;
namespace json = kube::json;

kube::Labels LabelsOf(const Json& pod) {
  kube::Labels labels;
  if (const json::object* object = kube::FindObject(pod, {"metadata", "labels"})) {
    for (const auto& [key, value] : *object) {
      if (value.is_string()) labels.emplace(key, std::string_view(value.get_string()));
    }
  }
  return labels;
}

// Says of each requirement that is not met what there is instead; false if there is one.
bool JudgeSelector(const LabelMatcher& matcher, const kube::Labels& labels,
                   std::string_view selector, const std::string& whose,
                   std::vector<std::string>& reasons) {
  if (matcher.empty()) {
    reasons.push_back(
        fmt::format("{}: takes every {}", selector, selector == "selector" ? "pod" : "namespace"));
    return true;
  }
  bool matches = true;
  for (const LabelMatcher::Requirement& each : matcher.requirements()) {
    const auto label = labels.find(each.key);
    const bool has = label != labels.end();
    const bool met = each.Matches(has ? std::optional<std::string_view>(label->second)
                                      : std::optional<std::string_view>());
    matches &= met;
    reasons.push_back(fmt::format("{}: {} {}: {} {}", selector, each.ToString(),
                                  met ? "holds" : "does not hold", whose,
                                  has ? fmt::format("has {}={}", each.key, label->second)
                                      : fmt::format("has no label {}", each.key)));
  }
  return matches;
}

// Of 100 throws how many are at most the percentage.
StatusOr<int> ShareOf(const api::ClusterColocationProfileSpec& spec) {
  if (!spec.probability) return 100;
  ASSIGN_OR_RETURN(const int64_t percent,
                   spec.probability->Scale(100, kube::IntOrString::Rounding::kFloor));
  if (percent <= 0) return 0;
  return percent >= 99 ? 100 : static_cast<int>(percent) + 1;
}

class Explainer {
 public:
  Explainer(const ProfilesQuestion& question, const Json& pod)
      : question_(question), pod_(pod), labels_(LabelsOf(pod)) {
    out_.result = pod;
  }

  ProfilesExplanation Explain() && {
    std::vector<ProfilePtr> profiles = question_.profiles;
    std::sort(profiles.begin(), profiles.end(),
              [](const auto& a, const auto& b) { return a->metadata.name < b->metadata.name; });
    for (const ProfilePtr& profile : profiles) {
      out_.profiles.push_back(Judge(profile));
      ProfileVerdict& verdict = out_.profiles.back();
      if (verdict.matches && verdict.percent > 0) Apply(*profile, verdict);
    }
    RewriteIfAsked();
    if (!out_.rejection().empty()) out_.result = pod_;
    return std::move(out_);
  }

 private:
  ProfileVerdict Judge(const ProfilePtr& profile) {
    ProfileVerdict verdict;
    verdict.name = profile->metadata.name;
    const auto compiled = Compile(profile);
    if (!compiled.ok()) {
      verdict.reasons.push_back(
          fmt::format("matches nothing, its selector is wrong: {}", Message(compiled.status())));
      return verdict;
    }
    const bool in_namespace =
        JudgeSelector(compiled->namespaces, question_.namespace_labels, "namespaceSelector",
                      fmt::format("namespace {}", question_.ns), verdict.reasons);
    const bool pod =
        JudgeSelector(compiled->objects, labels_, "selector", "the pod", verdict.reasons);
    verdict.matches = in_namespace && pod;
    const auto share = ShareOf(profile->spec);
    verdict.percent = share.ok() ? *share : 0;
    if (verdict.matches && !share.ok()) {
      verdict.rejection =
          fmt::format("profile {}: spec.probability: {}", verdict.name, Message(share.status()));
    }
    if (verdict.matches &&
        profile->metadata.annotations.contains(api::kAnnotationProfileSkipUpdateResources)) {
      resources_kept_by_ = verdict.name;
    }
    return verdict;
  }

  void Apply(const api::ClusterColocationProfile& profile, ProfileVerdict& verdict) {
    const ProfileTarget target{
        .object = out_.result,
        .pod_spec = [](Json& object) { return kube::Find(object, {"spec"}); },
        .priority_class = question_.priority_class,
        .type = kube::FindBuiltinType("v1", "Pod")};
    const Status applied = ApplyProfile(profile.spec, target);
    if (!applied.ok()) verdict.rejection = std::string(Message(applied));
  }

  void RewriteIfAsked() {
    if (!out_.any_matches()) {
      out_.resources = "stay as they are: no profile matches";
      return;
    }
    if (!resources_kept_by_.empty()) {
      out_.resources = fmt::format("stay as they are: profile {} is annotated {}",
                                   resources_kept_by_, api::kAnnotationProfileSkipUpdateResources);
      return;
    }
    const auto typed = kube::Decode<kube::Pod>(out_.result);
    const auto band = typed.ok() ? api::PriorityBandOf(*typed) : api::PriorityBand::kNone;
    if (band != api::PriorityBand::kBatch && band != api::PriorityBand::kMid) {
      out_.resources = fmt::format("stay as they are: the pod's class is {}",
                                   band == api::PriorityBand::kNone ? "none" : ToString(band));
      return;
    }
    out_.resources =
        fmt::format("cpu and memory become {0}-cpu and {0}-memory: the class is {1}",
                    band == api::PriorityBand::kBatch ? "batch" : "mid", ToString(band));
    if (const Status status = RewriteResources(out_.result); !status.ok()) {
      for (ProfileVerdict& each : out_.profiles) {
        if (each.matches && each.rejection.empty()) each.rejection = std::string(Message(status));
      }
    }
  }

  const ProfilesQuestion& question_;
  const Json& pod_;
  const kube::Labels labels_;
  std::string resources_kept_by_;
  ProfilesExplanation out_;
};

}  // namespace

bool ProfilesExplanation::any_matches() const {
  return std::any_of(profiles.begin(), profiles.end(),
                     [](const ProfileVerdict& each) { return each.matches; });
}

std::string_view ProfilesExplanation::rejection() const {
  for (const ProfileVerdict& each : profiles) {
    if (!each.rejection.empty()) return each.rejection;
  }
  return {};
}

ProfilesExplanation ExplainProfiles(const ProfilesQuestion& question, const Json& pod) {
  return Explainer(question, pod).Explain();
}

std::string FormatVerdicts(const ProfilesExplanation& explanation) {
  std::string text;
  for (const ProfileVerdict& each : explanation.profiles) {
    std::string applies;
    if (each.matches && each.percent == 0) applies = ", but its probability is 0";
    if (each.matches && each.percent > 0 && each.percent < 100) {
      applies = fmt::format(", applies to {} of 100 pods", each.percent);
    }
    text +=
        fmt::format("{}: {}{}\n", each.name, each.matches ? "matches" : "does not match", applies);
    for (const std::string& reason : each.reasons) text += fmt::format("  {}\n", reason);
    if (!each.rejection.empty()) text += fmt::format("  the pod is refused: {}\n", each.rejection);
  }
  return text;
}

std::vector<PodOfManifest> PodsOf(const Json& manifest, std::string_view default_namespace) {
  const std::string_view kind = kube::FindString(manifest, {"kind"});
  const std::string ns(kube::FindString(manifest, {"metadata", "namespace"}, default_namespace));
  const std::string what =
      fmt::format("{} {}/{}", kind, ns, kube::FindString(manifest, {"metadata", "name"}));
  std::vector<PodOfManifest> pods;
  if (kind == "Pod") {
    pods.push_back({what, ns, manifest});
    return pods;
  }
  if (kind == "List") {
    if (const json::array* items = kube::FindArray(manifest, {"items"})) {
      for (const Json& item : *items) {
        auto found = PodsOf(item, default_namespace);
        pods.insert(pods.end(), found.begin(), found.end());
      }
    }
    return pods;
  }
  const Json* pod_template = kind == "CronJob"
                                 ? kube::Find(manifest, {"spec", "jobTemplate", "spec", "template"})
                                 : kube::Find(manifest, {"spec", "template"});
  if (pod_template == nullptr || kube::FindObject(*pod_template, {"spec"}) == nullptr) return pods;
  Json pod{{"apiVersion", "v1"}, {"kind", "Pod"}};
  for (const char* member : {"metadata", "spec"}) {
    if (const Json* value = kube::Find(*pod_template, {member})) pod.get_object()[member] = *value;
  }
  pods.push_back({"pods of " + what, ns, std::move(pod)});
  return pods;
}

}  // namespace koord::manager
