#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "kube/objects/meta.h"
#include "kube/objects/resource_list.h"

// Annotations of pods that concern admission and scheduling in general.
namespace koord::api {

// node.koordinator.sh/extended-resource-spec: what each container asks of batch resources.
struct ExtendedResourceSpec {
  std::map<std::string, kube::ResourceRequirements, std::less<>> containers;

  static void Fields(auto& self, auto&& field) { field("containers", self.containers); }
  bool operator==(const ExtendedResourceSpec&) const = default;
};

StatusOr<std::optional<ExtendedResourceSpec>> ExtendedResourceSpecOf(
    const kube::Annotations& annotations);
std::string EncodeExtendedResourceSpec(const ExtendedResourceSpec& spec);

// pod.koordinator.sh/replace-resources: "a:b,c:" renames a to b and erases c.
struct ResourceReplacements {
  std::vector<std::pair<std::string, std::string>> replace;
  std::vector<std::string> erase;

  bool operator==(const ResourceReplacements&) const = default;
};

// Pairs without exactly one colon are ignored.
ResourceReplacements ParseReplaceResources(std::string_view text);
// Erases first. A name is replaced only where the new one is absent; cpu is counted in milli-cores
// then.
void Apply(const ResourceReplacements& replacements, kube::ResourceList& resources);

// Nodes to look at first, or at all.
struct SchedulingHint {
  std::vector<std::string> node_names;
  std::vector<std::string> preferred_node_names;
  kube::Json extensions;

  static void Fields(auto& self, auto&& field) {
    field("nodeNames", self.node_names);
    field("preferredNodeNames", self.preferred_node_names);
    field("extensions", self.extensions);
  }
  bool operator==(const SchedulingHint&) const = default;
};

// The current key where it is not empty, else the deprecated one. A bad value is an error, also
// where the other key has a good one.
StatusOr<std::optional<SchedulingHint>> SchedulingHintOf(const kube::Annotations& annotations);

// scheduling.koordinator.sh/load-estimated-...: how a pod wants its load estimated while it is not
// yet measured. What is empty or malformed counts as not said.
struct LoadEstimation {
  std::map<std::string, int64_t, std::less<>> scaling_factors;  // percent of the request
  std::optional<int64_t> seconds_after_pod_scheduled;
  std::optional<int64_t> seconds_after_initialized;

  bool operator==(const LoadEstimation&) const = default;
};

LoadEstimation LoadEstimationOf(const kube::Annotations& annotations);

}  // namespace koord::api
