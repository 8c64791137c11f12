#include "scheduler/plugins/load_aware_scheduling/load_description.h"

#include <algorithm>

#include "kube/codec.h"
#include "kube/time.h"

namespace koord::scheduler {
namespace {

kube::Json ListOf(const LoadAmounts& amounts, const LoadResources& tracked) {
  kube::ResourceList list;
  for (size_t i = 0; i < tracked.size(); ++i) {
    const std::string& name = tracked.name(i);
    const auto format = name == kube::kMemory ? kube::Quantity::Format::kBinarySi
                                              : kube::Quantity::Format::kDecimalSi;
    list.emplace(name, name == kube::kCpu ? kube::Quantity::FromMilli(amounts[i])
                                          : kube::Quantity(amounts[i], format));
  }
  return kube::Encode(list);
}

template <class Predicate>
kube::Json NamesOf(const NodeLoad& load, Predicate is_in) {
  std::vector<std::string> names;
  for (const NodeLoad::Pod& pod : load.pods()) {
    if (is_in(pod)) names.push_back(KeyOf(pod.info->pod->metadata).ToString());
  }
  std::ranges::sort(names);
  return kube::Encode(names);
}

kube::Json PodsOf(const NodeLoad& load) {
  std::vector<const NodeLoad::Pod*> pods;
  for (const NodeLoad::Pod& pod : load.pods()) {
    if (pod.counts) pods.push_back(&pod);
  }
  std::ranges::sort(pods, {}, [](const NodeLoad::Pod* pod) {
    return std::pair(pod->timestamp, KeyOf(pod->info->pod->metadata));
  });
  kube::json::array list;
  for (const NodeLoad::Pod* pod : pods) {
    list.push_back(kube::json::object{{"timestamp", kube::FormatTime(pod->timestamp)},
                                      {"pod", kube::Encode(*pod->info->pod)}});
  }
  return list;
}

}  // namespace

kube::Json DescribeLoad(const NodeLoad& load, const LoadResources& tracked) {
  const NodeLoad::Sums& sums = load.sums();
  return kube::json::object{
      {"pods", PodsOf(load)},
      {"prodUsage", ListOf(sums.prod_usage, tracked)},
      {"nodeDelta", ListOf(sums.node_delta, tracked)},
      {"prodDelta", ListOf(sums.prod_delta, tracked)},
      {"nodeEstimated", ListOf(sums.node_estimated, tracked)},
      {"nodeDeltaPods", NamesOf(load, [&](const auto& pod) { return load.IsInNodeDelta(pod); })},
      {"prodDeltaPods", NamesOf(load, [&](const auto& pod) { return load.IsInProdDelta(pod); })},
      {"nodeEstimatedPods",
       NamesOf(load, [](const auto& pod) { return pod.counts && pod.estimated; })}};
}

}  // namespace koord::scheduler
