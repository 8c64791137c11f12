#include "localcluster/controllers/daemonset/daemon_pod.h"

#include "kube/resources.h"
#include "localcluster/controllers/common/ownership.h"
#include "localcluster/controllers/common/template_hash.h"

namespace koord::localcluster {
namespace {

using kube::Json;
using kube::Toleration;

Toleration Anyway(std::string_view key, std::string_view effect) {
  return {.key = std::string(key), .op = "Exists", .effect = std::string(effect)};
}

std::vector<Toleration> TolerationsOfDaemons(bool host_network) {
  std::vector<Toleration> tolerations = {
      Anyway(kube::kTaintNodeNotReady, kube::kNoExecute),
      Anyway(kube::kTaintNodeUnreachable, kube::kNoExecute),
      Anyway("node.kubernetes.io/disk-pressure", kube::kNoSchedule),
      Anyway("node.kubernetes.io/memory-pressure", kube::kNoSchedule),
      Anyway("node.kubernetes.io/pid-pressure", kube::kNoSchedule),
      Anyway(kube::kTaintNodeUnschedulable, kube::kNoSchedule)};
  if (host_network) {
    tolerations.push_back(Anyway("node.kubernetes.io/network-unavailable", kube::kNoSchedule));
  }
  return tolerations;
}

bool HasFieldName(const kube::NodeSelectorRequirement& field) {
  return field.key == "metadata.name" && field.op == "In" && field.values.size() == 1;
}

}  // namespace

DaemonRequirements::DaemonRequirements(const Json& pod_template) {
  const auto decoded = kube::Decode<kube::PodTemplateSpec>(pod_template);
  if (!decoded.ok()) return;
  readable_ = true;
  spec_ = decoded->spec;
  for (Toleration& toleration : TolerationsOfDaemons(spec_.host_network)) {
    spec_.tolerations.Mutable().push_back(std::move(toleration));
  }
}

NodeVerdict DaemonRequirements::Judge(const kube::Node& node) const {
  if (!readable_) return {};
  if (!spec_.node_name.empty() && spec_.node_name != node.metadata.name) return {};
  if (!kube::MatchesNode(spec_, node.metadata.name, node.metadata.labels)) return {};
  NodeVerdict verdict{.start = true, .stay = true};
  for (const kube::Taint& taint : node.spec.taints) {
    if (kube::Tolerates(spec_.tolerations, taint)) continue;
    if (taint.effect == kube::kNoExecute) verdict = {};
    if (taint.effect == kube::kNoSchedule) verdict.start = false;
  }
  return verdict;
}

Json DaemonPod(const kube::DaemonSet& set, const std::string& revision_hash,
               std::string_view node) {
  Json pod = PodFromTemplate(set.spec.pod_template, {kube::kDaemonSets, set.metadata});
  kube::At(pod, {"metadata", "labels", kControllerRevisionHash}) = revision_hash;
  const Json here{
      {"key", "metadata.name"}, {"operator", "In"}, {"values", kube::json::array{node}}};
  const Json term{{"matchFields", kube::json::array{here}}};
  kube::At(pod, {"spec", "affinity", "nodeAffinity",
                 "requiredDuringSchedulingIgnoredDuringExecution"}) = {
      {"nodeSelectorTerms", kube::json::array{term}}};
  Json& tolerations = kube::At(pod, {"spec", "tolerations"});
  if (!tolerations.is_array()) tolerations = kube::json::array{};
  for (const Toleration& extra :
       TolerationsOfDaemons(kube::FindBool(pod, {"spec", "hostNetwork"}))) {
    tolerations.as_array().push_back(kube::Encode(extra));
  }
  return pod;
}

std::string NodeOf(const kube::Pod& pod) {
  if (kube::IsAssigned(pod)) return pod.spec.node_name;
  if (!pod.spec.affinity || !pod.spec.affinity->node_affinity) return {};
  const auto& required = pod.spec.affinity->node_affinity->required;
  if (!required) return {};
  for (const kube::NodeSelectorTerm& term : required->node_selector_terms) {
    for (const kube::NodeSelectorRequirement& field : term.match_fields) {
      if (HasFieldName(field)) return field.values.front();
    }
  }
  return {};
}

}  // namespace koord::localcluster
