#include "localcluster/controllers/job/job_pod.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"
#include "kube/resources.h"
#include "localcluster/controllers/common/ownership.h"

namespace koord::localcluster {
namespace {

using kube::Json;

constexpr std::string_view kIndexVariable = "JOB_COMPLETION_INDEX";

void TellIndex(Json& containers) {
  if (!containers.is_array()) return;
  const std::string path = fmt::format("metadata.annotations['{}']", kCompletionIndex);
  for (Json& container : containers.as_array()) {
    Json& env = kube::At(container, {"env"});
    if (!env.is_array()) env = kube::json::array{};
    const bool known = std::any_of(
        env.as_array().begin(), env.as_array().end(),
        [](const Json& item) { return kube::FindString(item, {"name"}) == kIndexVariable; });
    if (known) continue;
    env.as_array().push_back(
        {{"name", kIndexVariable}, {"valueFrom", {{"fieldRef", {{"fieldPath", path}}}}}});
  }
}

void GiveIndex(const kube::Job& job, int32_t index, Json& pod) {
  const std::string text = std::to_string(index);
  kube::At(pod, {"metadata", "annotations", kCompletionIndex}) = text;
  kube::At(pod, {"metadata", "labels", kCompletionIndex}) = text;
  kube::At(pod, {"spec", "hostname"}) = fmt::format("{}-{}", job.metadata.name, index);
  for (const char* member : {"containers", "initContainers"}) {
    if (Json* containers = kube::Find(pod, {"spec", member})) TellIndex(*containers);
  }
}

}  // namespace

Json JobPod(const kube::Job& job, std::optional<int32_t> index, Random& random) {
  Json pod = PodFromTemplate(job.spec.pod_template, {kube::kJobs, job.metadata});
  Json& finalizers = kube::At(pod, {"metadata", "finalizers"});
  if (!finalizers.is_array()) finalizers = kube::json::array{};
  finalizers.as_array().push_back(kJobTracking);
  std::string prefix = job.metadata.name + "-";
  if (index) {
    GiveIndex(job, *index, pod);
    prefix += fmt::format("{}-", *index);
  }
  NameRandomly(pod, prefix, random);
  return pod;
}

std::optional<int32_t> IndexOf(const kube::Pod& pod) {
  const auto number = ParseUint(kube::ValueOf(pod.metadata.annotations, kCompletionIndex));
  if (!number || *number > INT32_MAX) return std::nullopt;
  return static_cast<int32_t>(*number);
}

bool IsTracked(const kube::Pod& pod) {
  const auto& finalizers = pod.metadata.finalizers;
  return std::find(finalizers.begin(), finalizers.end(), kJobTracking) != finalizers.end();
}

kube::Write Untrack(const kube::Pod& pod) {
  return StrategicPatch(
      kube::kPods, pod.metadata,
      {{"metadata",
        {{"uid", pod.metadata.uid},
         {"$deleteFromPrimitiveList/finalizers", kube::json::array{kJobTracking}}}}});
}

}  // namespace koord::localcluster
