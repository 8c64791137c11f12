#include "manager/config/written_strategies.h"

#include <fmt/format.h>

#include <type_traits>

#include "api/annotation_codec.h"
#include "manager/config/slo_config.h"

namespace koord::manager {
namespace {

template <class S, template <class> class Document>
StatusOr<WrittenStrategies> Read(std::string_view text) {
  ASSIGN_OR_RETURN(const Document<S> document, api::DecodeLoose<Document<S>>(text));
  WrittenStrategies written;
  if (std::is_same_v<Document<S>, NestedDocument<S>>) written.cluster_path = "clusterStrategy";
  written.cluster = kube::Encode(document.cluster);
  for (const NodeEntry<S>& entry : document.nodes) {
    written.entries.push_back({entry.name,
                               fmt::format("{}[{}]", Document<S>::kNodes, written.entries.size()),
                               entry.node_selector, kube::Encode(entry.strategy)});
  }
  return written;
}

}  // namespace

std::optional<api::StrategyKind> StrategyKindOf(std::string_view key) {
  if (key == kColocationConfig) return api::StrategyKind::kColocation;
  if (key == kThresholdConfig) return api::StrategyKind::kThreshold;
  if (key == kResourceQosConfig) return api::StrategyKind::kResourceQos;
  if (key == kCpuBurstConfig) return api::StrategyKind::kCpuBurst;
  if (key == kSystemConfig) return api::StrategyKind::kSystem;
  return std::nullopt;
}

StatusOr<WrittenStrategies> ReadStrategies(std::string_view key, std::string_view text) {
  if (key == kColocationConfig) return Read<ColocationStrategy, InlineDocument>(text);
  if (key == kThresholdConfig) return Read<api::ResourceThresholdStrategy, NestedDocument>(text);
  if (key == kResourceQosConfig) return Read<api::ResourceQosStrategy, NestedDocument>(text);
  if (key == kCpuBurstConfig) return Read<api::CpuBurstStrategy, NestedDocument>(text);
  if (key == kSystemConfig) return Read<api::SystemStrategy, NestedDocument>(text);
  if (key == kHostApplicationConfig) return Read<HostApplications, InlineDocument>(text);
  if (key == kCpuNormalizationConfig) return Read<CpuNormalizationStrategy, InlineDocument>(text);
  if (key == kAmplificationConfig) return Read<AmplificationStrategy, InlineDocument>(text);
  return InvalidArgument("{}: koord-manager reads nothing under this key", key);
}

}  // namespace koord::manager
