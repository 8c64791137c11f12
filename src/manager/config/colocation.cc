#include "manager/config/colocation.h"

#include <fmt/format.h>

#include "api/annotation_codec.h"
#include "api/keys.h"
#include "api/node_annotations.h"

namespace koord::manager {
namespace {

struct RatioLabel {
  std::string_view label;
  std::string_view member;
  std::optional<int64_t> ColocationStrategy::*field;
};

constexpr RatioLabel kRatioLabels[] = {
    {api::kLabelCpuReclaimRatio, "cpuReclaimThresholdPercent",
     &ColocationStrategy::cpu_reclaim_threshold_percent},
    {api::kLabelMemoryReclaimRatio, "memoryReclaimThresholdPercent",
     &ColocationStrategy::memory_reclaim_threshold_percent},
    {api::kLabelMidStaticCpuReservedRatio, "midStaticCPUReservedPercent",
     &ColocationStrategy::mid_static_cpu_reserved_percent},
    {api::kLabelMidStaticMemoryReservedRatio, "midStaticMemoryReservedPercent",
     &ColocationStrategy::mid_static_memory_reserved_percent},
};

// What the node says of itself; nothing where that cannot be read.
std::optional<ColocationStrategy> OwnStrategyOf(const kube::Node& node) {
  auto own = api::ReadNonEmptyAnnotation<ColocationStrategy>(node.metadata.annotations,
                                                             api::kAnnotationColocationStrategy);
  return own.ok() ? *std::move(own) : std::nullopt;
}

void AddSources(StrategySources& sources, const ColocationStrategy& given,
                const std::string& source) {
  const kube::Json encoded = kube::Encode(given);
  for (const auto& [member, value] : encoded.as_object()) {
    sources.insert_or_assign(std::string(std::string_view(member)), source);
  }
}

}  // namespace

NodeColocation ColocationOf(const ColocationConfig& config, const kube::Node& node) {
  const kube::Labels& labels = node.metadata.labels;
  NodeColocation colocation{config.For(labels), false};
  ColocationStrategy& strategy = colocation.strategy;
  if (const auto own = OwnStrategyOf(node)) strategy = Merged(strategy, *own);
  for (const RatioLabel& each : kRatioLabels) {
    if (const auto percent = api::RatioPercentOf(labels, each.label)) {
      strategy.*each.field = percent;
    }
  }
  colocation.enabled = config.cluster.enable.value_or(false) && strategy.enable.value_or(false);
  return colocation;
}

StrategySources ColocationSourcesOf(const ColocationConfig& config, const kube::Node& node) {
  StrategySources sources;
  AddSources(sources, DefaultColocationStrategy(), "default");
  AddSources(sources, config.given, fmt::format("{}, cluster", kColocationConfig));
  if (const ColocationConfig::Entry* entry = config.Match(node.metadata.labels)) {
    const std::string name = entry->name.empty() ? "" : fmt::format(" \"{}\"", entry->name);
    AddSources(sources, entry->given,
               fmt::format("{}, {}{}", kColocationConfig, entry->path, name));
  }
  if (const auto own = OwnStrategyOf(node)) {
    AddSources(sources, *own, fmt::format("annotation {}", api::kAnnotationColocationStrategy));
  }
  for (const RatioLabel& each : kRatioLabels) {
    if (api::RatioPercentOf(node.metadata.labels, each.label)) {
      sources.insert_or_assign(std::string(each.member), fmt::format("label {}", each.label));
    }
  }
  return sources;
}

}  // namespace koord::manager
