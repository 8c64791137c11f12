#include <optional>

#include "api/cpu_annotations.h"
#include "api/extended_resources.h"
#include "api/keys.h"
#include "base/cpu_set.h"
#include "model/transform/copy_on_write.h"
#include "model/transform/transform.h"

namespace koord::model {
namespace {

using kube::Quantity;
using kube::ResourceList;
using NodeEdit = CopyOnWrite<kube::Node>;

// What allocatable is to be reduced by; nothing where the annotation is absent or leaves it alone.
StatusOr<ResourceList> ReservedResources(const kube::Annotations& annotations) {
  ASSIGN_OR_RETURN(std::optional<api::NodeReservation> reservation,
                   api::NodeReservationOf(annotations));
  if (!reservation) return ResourceList();
  const std::string& policy = reservation->apply_policy;
  if (!policy.empty() && policy != "Default") return ResourceList();
  ResourceList reserved = std::move(reservation->resources);
  if (!reservation->reserved_cpus.empty()) {
    const auto cpus = CpuSet::Parse(reservation->reserved_cpus);
    if (!cpus.ok()) {
      return InvalidArgument("annotation {}: reservedCPUs: {}", api::kAnnotationNodeReservation,
                             Message(cpus.status()));
    }
    reserved[std::string(kube::kCpu)] = Quantity(static_cast<int64_t>(cpus->size()));
  }
  // koord-manager has taken the reservation into account already.
  reserved.erase(std::string(api::kBatchCpu));
  reserved.erase(std::string(api::kBatchMemory));
  return reserved;
}

void SubtractReservation(NodeEdit& node, std::vector<std::string>& problems) {
  if (!node->metadata.annotations.contains(api::kAnnotationNodeReservation)) return;
  const StatusOr<ResourceList> reserved = ReservedResources(node->metadata.annotations);
  if (!reserved.ok()) {
    problems.emplace_back(Message(reserved.status()));
    return;
  }
  if (kube::IsZero(*reserved)) return;
  ResourceList& allocatable = node.Edit().status.allocatable.Mutable();
  kube::SubtractFrom(allocatable, *reserved);
  for (const auto& [name, amount] : *reserved) {
    Quantity& left = allocatable.find(name)->second;
    if (left.Sign() < 0) left = Quantity(0, left.format());
  }
}

// Whether any of the lists has names of earlier releases.
bool HasDeprecated(const kube::NodeStatus& status) {
  for (const ResourceList* list : {&status.allocatable.get(), &status.capacity.get()}) {
    if (api::HasDeprecatedBatchResources(*list) || api::HasDeprecatedDeviceResources(*list)) {
      return true;
    }
  }
  return false;
}

}  // namespace

Transformed<kube::Node> Transform(std::shared_ptr<const kube::Node> node) {
  Transformed<kube::Node> result;
  NodeEdit edit(std::move(node));
  SubtractReservation(edit, result.problems);
  if (HasDeprecated(edit->status)) {
    kube::NodeStatus& status = edit.Edit().status;
    for (ResourceList* list : {&status.allocatable.Mutable(), &status.capacity.Mutable()}) {
      api::RenameDeprecatedBatchResources(*list);
      api::RenameDeprecatedDeviceResources(*list);
    }
  }
  result.object = edit.Take();
  return result;
}

Transformed<api::Device> Transform(std::shared_ptr<const api::Device> device) {
  CopyOnWrite<api::Device> edit(std::move(device));
  for (size_t i = 0; i < edit->spec.devices.size(); ++i) {
    if (!api::HasDeprecatedDeviceResources(edit->spec.devices[i].resources)) continue;
    api::RenameDeprecatedDeviceResources(edit.Edit().spec.devices[i].resources);
  }
  return {edit.Take(), {}};
}

Transformed<api::ElasticQuota> Transform(std::shared_ptr<const api::ElasticQuota> quota) {
  CopyOnWrite<api::ElasticQuota> edit(std::move(quota));
  if (api::HasDeprecatedBatchResources(edit->spec.max) ||
      api::HasDeprecatedBatchResources(edit->spec.min)) {
    api::ElasticQuotaSpec& spec = edit.Edit().spec;
    api::RenameDeprecatedBatchResources(spec.max);
    api::RenameDeprecatedBatchResources(spec.min);
  }
  return {edit.Take(), {}};
}

}  // namespace koord::model
