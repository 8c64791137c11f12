#include "api/unsupported.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "api/extended_resources.h"
#include "api/keys.h"

namespace koord::api {
namespace {

constexpr std::string_view kGangs = "pods are placed one by one, not as a gang";
constexpr std::string_view kQuotas = "pods are not charged to elastic quotas";
constexpr std::string_view kCpus = "CPUs are not bound and NUMA nodes not aligned";
constexpr std::string_view kDevices = "devices are not allocated, their amounts only counted";
constexpr std::string_view kMigration = "pods are not migrated";

constexpr std::string_view kGangPlugin = "Coscheduling";

struct Key {
  std::string_view name;
  std::string_view instead;      // what happens
  std::string_view plugin = {};  // acts on it where it is at work
};

constexpr std::array kLabels{
    Key{kLabelPodGroup, kGangs, kGangPlugin},
    Key{kLabelPodGroupName, kGangs, kGangPlugin},
    Key{kLabelPodGroupMinAvailable, kGangs, kGangPlugin},
    Key{kLabelQuotaName, kQuotas},
};

constexpr std::array kAnnotations{
    Key{kAnnotationGangName, kGangs, kGangPlugin}, Key{kAnnotationResourceSpec, kCpus},
    Key{kAnnotationNumaTopologySpec, kCpus},       Key{kAnnotationDeviceAllocateHint, kDevices},
    Key{kAnnotationDeviceJointAllocate, kDevices}, Key{kAnnotationGpuPartitionSpec, kDevices},
};

constexpr std::array kResources{
    Key{kGpu, kDevices},       Key{kGpuShared, kDevices},      Key{kGpuCore, kDevices},
    Key{kGpuMemory, kDevices}, Key{kGpuMemoryRatio, kDevices}, Key{kRdma, kDevices},
    Key{kFpga, kDevices},
};

std::string Sentence(std::string_view what, const Key& key) {
  return fmt::format("{} {} has no effect in this version: {}", what, key.name, key.instead);
}

bool AsksFor(const kube::Pod& pod, std::string_view resource) {
  const auto in = [&](const auto& containers) {
    for (const kube::Container& container : containers) {
      if (container.resources.requests.contains(resource)) return true;
      if (container.resources.limits.contains(resource)) return true;
    }
    return false;
  };
  return in(pod.spec.containers) || in(pod.spec.init_containers);
}

}  // namespace

std::vector<std::string> UnsupportedRequestsOf(const kube::Pod& pod,
                                               std::span<const std::string_view> at_work) {
  std::vector<std::string> sentences;
  const auto is_acted_on = [&](const Key& key) {
    return std::find(at_work.begin(), at_work.end(), key.plugin) != at_work.end();
  };
  for (const Key& key : kLabels) {
    if (is_acted_on(key)) continue;
    if (pod.metadata.labels.contains(key.name)) sentences.push_back(Sentence("label", key));
  }
  for (const Key& key : kAnnotations) {
    if (!is_acted_on(key) && pod.metadata.annotations.contains(key.name)) {
      sentences.push_back(Sentence("annotation", key));
    }
  }
  for (const Key& key : kResources) {
    if (AsksFor(pod, key.name)) sentences.push_back(Sentence("resource", key));
  }
  return sentences;
}

std::optional<std::string> UnsupportedKind(std::string_view group, std::string_view kind) {
  struct Kind {
    std::string_view group;
    std::string_view kind;
    std::string_view instead;
  };
  constexpr std::array kKinds{
      Kind{"scheduling.sigs.k8s.io", "PodGroup", kGangs},
      Kind{"scheduling.sigs.k8s.io", "ElasticQuota", kQuotas},
      Kind{"quota.koordinator.sh", "ElasticQuotaProfile", kQuotas},
      Kind{"scheduling.koordinator.sh", "PodMigrationJob", kMigration},
      Kind{"scheduling.koordinator.sh", "ClusterNetworkTopology", kGangs},
      Kind{"descheduler", "DeschedulerConfiguration", kMigration},
  };
  for (const Kind& known : kKinds) {
    if (known.group != group || known.kind != kind) continue;
    return fmt::format("{} is accepted but has no effect in this version: {}", kind, known.instead);
  }
  return std::nullopt;
}

}  // namespace koord::api
