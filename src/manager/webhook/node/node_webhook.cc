#include "manager/webhook/node/node_webhook.h"

#include <cmath>
#include <optional>

#include "api/annotation_codec.h"
#include "api/keys.h"
#include "api/node_annotations.h"
#include "kube/objects/node.h"

namespace koord::manager::webhook {
namespace {

using kube::Json;
using kube::Quantity;
using kube::ResourceList;

Quantity Times(const Quantity& amount, double ratio) {
  const double milli = static_cast<double>(amount.MilliValue()) * ratio;
  return Quantity::FromMilli(static_cast<int64_t>(std::trunc(milli)), amount.format());
}

ResourceList CpuAndMemory(const ResourceList& all) {
  ResourceList some;
  for (const std::string_view name : {kube::kCpu, kube::kMemory}) {
    if (const auto it = all.find(name); it != all.end()) some.insert(*it);
  }
  return some;
}

// Whether this write says what the node has. Everybody else leaves that as it is.
bool IsReported(const kube::Node& node, const kube::Node* old) {
  return old == nullptr ||
         CpuAndMemory(old->status.allocatable) != CpuAndMemory(node.status.allocatable);
}

// What the kubelet reported last; nothing if that cannot be told.
StatusOr<std::optional<ResourceList>> RawOf(const kube::Node& node, const kube::Node* old,
                                            Json& object) {
  const ResourceList now = CpuAndMemory(node.status.allocatable);
  const std::string* text =
      kube::FindValue(node.metadata.annotations, api::kAnnotationRawAllocatable);
  if (text != nullptr && !IsReported(node, old)) {
    if (Trim(*text) == "null") return std::optional<ResourceList>();
    return api::RawAllocatableOf(node.metadata.annotations);
  }
  if (!now.empty()) {
    kube::At(object, {"metadata", "annotations", api::kAnnotationRawAllocatable}) =
        api::EncodeAnnotation(now);
  }
  return std::optional<ResourceList>(now);
}

void Set(Json& object, const kube::Node& node, std::string_view name, const Quantity& amount) {
  if (kube::AmountOf(node.status.allocatable, name) == amount) return;
  kube::At(object, {"status", "allocatable", name}) = amount.ToString();
}

// Amplification is off. What the kubelet has not reported anew is put back as it was reported.
void Restore(const kube::Node& node, const kube::Node* old, Json& object) {
  const auto raw = api::RawAllocatableOf(node.metadata.annotations);
  if (raw.ok() && *raw && !IsReported(node, old)) {
    for (const auto& [name, amount] : CpuAndMemory(**raw)) {
      // What is not more was not amplified.
      if (kube::AmountOf(node.status.allocatable, name) > amount) Set(object, node, name, amount);
    }
  }
  Json* annotations = kube::Find(object, {"metadata", "annotations"});
  if (annotations != nullptr && annotations->is_object()) {
    annotations->get_object().erase(api::kAnnotationRawAllocatable);
  }
}

Status Amplify(const kube::Node& node, const kube::Node* old, Json& object) {
  if (kube::ValueOf(node.metadata.annotations, api::kAnnotationResourceAmplificationRatio)
          .empty()) {
    Restore(node, old, object);
    return absl::OkStatus();
  }
  if (kube::FindObject(object, {"status", "allocatable"}) == nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(const auto raw, RawOf(node, old, object));
  ASSIGN_OR_RETURN(const auto ratios, api::AmplificationRatiosOf(node.metadata.annotations));
  if (!raw || !ratios) return absl::OkStatus();
  for (const std::string_view name : {kube::kCpu, kube::kMemory}) {
    const auto amount = raw->find(name);
    if (amount == raw->end()) continue;
    const auto ratio = ratios->find(name);
    const bool amplified = ratio != ratios->end() && ratio->second > 1;
    Set(object, node, name, amplified ? Times(amount->second, ratio->second) : amount->second);
  }
  return absl::OkStatus();
}

}  // namespace

Response MutateNodeStatus(const Request& request) {
  const bool is_about =
      request.group.empty() && request.resource == "nodes" && request.subresource == "status";
  if (!is_about || request.operation != Operation::kUpdate) return Response::Allowed();
  if (request.object.is_null()) return Response::Errored(400, std::string(kNothingToDecode));
  const auto node = kube::Decode<kube::Node>(request.object);
  if (!node.ok()) return Response::Errored(400, node.status());
  std::optional<kube::Node> old;
  if (!request.old_object.is_null()) {
    auto decoded = kube::Decode<kube::Node>(request.old_object);
    if (!decoded.ok()) return Response::Errored(400, decoded.status());
    old = *std::move(decoded);
  }
  Json object = request.object;
  if (const Status status = Amplify(*node, old ? &*old : nullptr, object); !status.ok()) {
    return Response::Errored(500, status);
  }
  return Response::Patched(request.object, object);
}

}  // namespace koord::manager::webhook
