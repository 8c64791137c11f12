#include "kube/objects/pod.h"

#include <algorithm>

namespace koord::kube {

bool IsTerminal(const Pod& pod) {
  return pod.status.phase == "Succeeded" || pod.status.phase == "Failed";
}

bool IsReady(const Pod& pod) { return IsConditionTrue(pod.status.conditions, "Ready"); }

bool IsMirrorPod(const Pod& pod) {
  return pod.metadata.annotations.contains("kubernetes.io/config.mirror");
}

bool MatchesNode(const PodSpec& pod, std::string_view node_name, const Labels& node_labels) {
  const bool selected = std::ranges::all_of(pod.node_selector, [&](const auto& pair) {
    const std::string* value = FindValue(node_labels, pair.first);
    return value != nullptr && *value == pair.second;
  });
  if (!selected) return false;
  if (!pod.affinity || !pod.affinity->node_affinity) return true;
  const std::optional<NodeSelector>& required = pod.affinity->node_affinity->required;
  return !required || Matches(*required, node_name, node_labels);
}

}  // namespace koord::kube

KOORD_DEFINE_CODEC(koord::kube::PodSpec);
KOORD_DEFINE_CODEC(koord::kube::PodStatus);
KOORD_DEFINE_CODEC(koord::kube::PodTemplateSpec);
KOORD_DEFINE_CODEC(koord::kube::Pod);
