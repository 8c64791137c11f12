#include "koordlet/metrics/collectors/node_info.h"

#include <array>
#include <functional>

#include "api/extended_resources.h"
#include "koordlet/metrics/storage_info.h"

namespace koord::koordlet {
namespace {

constexpr Duration kStorageRefresh = std::chrono::minutes(1);

struct ShownResource {
  std::string_view name;
  std::string_view unit;
};
constexpr std::array<ShownResource, 4> kShown{{{api::kBatchCpu, "integer"},
                                               {api::kBatchMemory, "byte"},
                                               {api::kMidCpu, "integer"},
                                               {api::kMidMemory, "byte"}}};

constexpr std::string_view StatusText(bool ok) { return ok ? "succeeded" : "failed"; }

}  // namespace

CpuInfoCollector::CpuInfoCollector(CollectorContext context)
    : Collector(context),
      status_(context.internal.AddCounters("koordlet_collect_node_cpu_info_status",
                                           "How often the processors were read.",
                                           {"node", "status"})) {}

void CpuInfoCollector::Collect() {
  auto info = context_.host.ReadCpuInfo();
  status_.With({context_.options.node_name, StatusText(info.ok())}).Increment();
  if (!info.ok()) return Complain("processors", info.status());
  context_.info.SetCpu(std::move(*info));
}

StorageInfoCollector::StorageInfoCollector(CollectorContext context)
    : Collector(context),
      status_(context.internal.AddCounters("koordlet_collect_node_local_storage_info_status",
                                           "How often disks and mounts were read.",
                                           {"node", "status"})) {}

void StorageInfoCollector::Collect() {
  const FileTree& proc = context_.host.proc();
  size_t fingerprint = 0;
  for (const std::string_view path : {"partitions", "1/mountinfo"}) {
    const auto text = proc.Read(path);
    fingerprint = fingerprint * 31 + (text.ok() ? std::hash<std::string>()(*text) : 0);
  }
  const bool is_due = !read_at_.has_value() || Now() - *read_at_ >= kStorageRefresh;
  if (!is_due && fingerprint == fingerprint_) return;
  fingerprint_ = fingerprint;
  read_at_ = Now();
  auto info = ReadStorageInfo(context_.host.sys(), proc);
  status_.With({context_.options.node_name, StatusText(info.ok())}).Increment();
  if (!info.ok()) return Complain("storage", info.status());
  context_.info.SetStorage(std::move(*info));
}

ResourceMetricsCollector::ResourceMetricsCollector(CollectorContext context)
    : Collector(context),
      allocatable_(context.external.AddGauges("koordlet_node_resource_allocatable",
                                              "Resources that Koordinator adds to the node.",
                                              {"node", "resource", "unit"})),
      requests_(context.external.AddGauges("koordlet_container_resource_requests",
                                           "What containers ask for of those resources.",
                                           {"node", "pod_namespace", "pod_name", "container_id",
                                            "container_name", "pod_uid", "resource", "unit"})),
      limits_(context.external.AddGauges("koordlet_container_resource_limits",
                                         "What containers may have of those resources.",
                                         {"node", "pod_namespace", "pod_name", "container_id",
                                          "container_name", "pod_uid", "resource", "unit"})) {}

void ResourceMetricsCollector::ShowNode(const kube::Node& node) {
  allocatable_.Clear();
  for (const ShownResource& resource : kShown) {
    const auto it = node.status.allocatable.find(resource.name);
    if (it == node.status.allocatable.end()) continue;
    allocatable_.With({context_.options.node_name, resource.name, resource.unit})
        .Set(it->second.ToDouble());
  }
}

void ResourceMetricsCollector::ShowPods(const NodePods& pods) {
  requests_.Clear();
  limits_.Clear();
  const auto show = [&](const NodePod& pod, const NodeContainer& container,
                        const kube::ResourceList& list, metrics::Gauges& gauges) {
    for (const ShownResource& resource : kShown) {
      const auto it = list.find(resource.name);
      if (it == list.end()) continue;
      gauges
          .With({context_.options.node_name, pod.pod->metadata.ns, pod.pod->metadata.name,
                 container.status->container_id, container.status->name, pod.uid(), resource.name,
                 resource.unit})
          .Set(it->second.ToDouble());
    }
  };
  for (const NodePod& pod : pods) {
    if (!pod.is_active) continue;
    for (const NodeContainer& container : pod.containers) {
      if (container.spec == nullptr || container.status == nullptr) continue;
      show(pod, container, container.spec->resources.requests, requests_);
      show(pod, container, container.spec->resources.limits, limits_);
    }
  }
}

void ResourceMetricsCollector::Collect() {
  if (node_ != context_.state.node()) {
    node_ = context_.state.node();
    if (node_ != nullptr) ShowNode(*node_);
  }
  if (pods_ != context_.state.pods()) {
    pods_ = context_.state.pods();
    ShowPods(*pods_);
  }
}

}  // namespace koord::koordlet
