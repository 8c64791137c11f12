#include "manager/noderesource/node_problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/annotation_codec.h"
#include "api/cpu_annotations.h"
#include "api/keys.h"
#include "api/node_annotations.h"
#include "base/cpu_set.h"
#include "base/log.h"
#include "base/strings.h"
#include "manager/config/colocation.h"

namespace koord::manager {
namespace {

class Finder {
 public:
  explicit Finder(const kube::Node& node) : node_(node) {}

  std::vector<std::string> Find() && {
    LookAtStrategy();
    LookAtRatioLabels();
    LookAtReservation();
    LookAtAmplification();
    Annotation(api::kAnnotationNetworkBandwidth, api::NetworkBandwidthOf(annotations()).status(),
               "its NodeSLO has no system strategy");
    return std::move(problems_);
  }

 private:
  const kube::Annotations& annotations() const { return node_.metadata.annotations; }

  void Annotation(std::string_view key, const Status& status, std::string_view so) {
    if (status.ok()) return;
    problems_.push_back(
        fmt::format("annotation {} cannot be used, so {}: {}", key, so, Message(status)));
  }

  void LookAtStrategy() {
    const auto own = api::ReadNonEmptyAnnotation<ColocationStrategy>(
        annotations(), api::kAnnotationColocationStrategy);
    Annotation(api::kAnnotationColocationStrategy, own.status(), "it is ignored");
    if (!own.ok() || !*own) return;
    if (const Status status = Validate(**own); !status.ok()) {
      problems_.push_back(fmt::format("annotation {} makes no sense: {}",
                                      api::kAnnotationColocationStrategy, Message(status)));
    }
  }

  void LookAtRatioLabels() {
    const kube::Labels& labels = node_.metadata.labels;
    for (const std::string_view key :
         {api::kLabelCpuReclaimRatio, api::kLabelMemoryReclaimRatio,
          api::kLabelMidStaticCpuReservedRatio, api::kLabelMidStaticMemoryReservedRatio}) {
      const std::string* text = kube::FindValue(labels, key);
      if (text == nullptr || api::RatioPercentOf(labels, key)) continue;
      problems_.push_back(
          fmt::format("label {} is ignored: expected a ratio of at least 0, such as 0.6, found {}",
                      key, Quote(*text)));
    }
  }

  void LookAtReservation() {
    const auto reservation = api::NodeReservationOf(annotations());
    Status status = reservation.status();
    if (status.ok() && *reservation && !(*reservation)->reserved_cpus.empty()) {
      status = CpuSet::Parse((*reservation)->reserved_cpus).status();
    }
    Annotation(api::kAnnotationNodeReservation, status, "nothing is kept back for it");
  }

  void LookAtAmplification() {
    Annotation(api::kAnnotationRawAllocatable, api::RawAllocatableOf(annotations()).status(),
               "amplification stays as it is");
    Annotation(api::kAnnotationResourceAmplificationRatio,
               api::AmplificationRatiosOf(annotations()).status(), "nothing is amplified");
    for (std::string& problem : AmplificationProblemsOf(node_)) {
      problems_.push_back(std::move(problem));
    }
  }

  const kube::Node& node_;
  std::vector<std::string> problems_;
};

bool Contains(const std::vector<std::string>& list, const std::string& text) {
  return std::ranges::find(list, text) != list.end();
}

}  // namespace

std::vector<std::string> ProblemsOf(const kube::Node& node) { return Finder(node).Find(); }

std::vector<std::string> AmplificationProblemsOf(const kube::Node& node) {
  const auto ratios = api::AmplificationRatiosOf(node.metadata.annotations);
  std::vector<std::string> problems;
  if (!ratios.ok() || !*ratios) return problems;
  for (const auto& [resource, ratio] : **ratios) {
    if (ratio >= 1) continue;
    problems.push_back(
        fmt::format("annotation {} has no effect on {}: the ratio must be at least 1, found {}",
                    api::kAnnotationResourceAmplificationRatio, resource, ratio));
  }
  return problems;
}

void NodeProblems::Set(const kube::Node& node, const std::vector<NodeDecision::Failure>& failures) {
  std::vector<std::string> now = ProblemsOf(node);
  for (const NodeDecision::Failure& failure : failures) {
    // What is wrong with the configuration is told in events of the ConfigMap.
    if (failure.why.code() == absl::StatusCode::kFailedPrecondition) continue;
    now.push_back(fmt::format("{}: {}", failure.plugin, Message(failure.why)));
  }
  const std::string& name = node.metadata.name;
  const auto known = problems_.find(name);
  const std::vector<std::string> before =
      known != problems_.end() ? known->second : std::vector<std::string>();
  if (now == before) return;
  Forget(name);
  for (const std::string& problem : now) {
    const int nodes = ++nodes_[problem];
    if (Contains(before, problem)) continue;
    if (nodes <= kMostNodes) Tell(node, problem);
    if (nodes == kMostNodes + 1) {
      LOG_WARNING("More nodes have the same problem; they are not named", {"problem", problem});
    }
  }
  if (!now.empty()) problems_[name] = std::move(now);
}

void NodeProblems::Forget(const std::string& node) {
  const auto known = problems_.find(node);
  if (known == problems_.end()) return;
  for (const std::string& problem : known->second) {
    const auto count = nodes_.find(problem);
    if (--count->second == 0) nodes_.erase(count);
  }
  problems_.erase(known);
}

void NodeProblems::Tell(const kube::Node& node, const std::string& problem) {
  LOG_WARNING("A node is not as it was asked to be", {"node", node.metadata.name},
              {"problem", problem});
  events_.Record({.regarding = {.kind = "Node",
                                .ns = {},
                                .name = node.metadata.name,
                                .uid = node.metadata.uid,
                                .api_version = "v1",
                                .resource_version = {},
                                .field_path = {}},
                  .type = "Warning",
                  .reason = "InvalidNodeSettings",
                  .message = problem});
}

}  // namespace koord::manager
