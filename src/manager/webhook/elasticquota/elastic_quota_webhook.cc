#include "manager/webhook/elasticquota/elastic_quota_webhook.h"

#include <utility>

#include "api/annotation_codec.h"
#include "api/keys.h"
#include "api/resources.h"
#include "api/unsupported.h"

namespace koord::manager::webhook {
namespace {

using api::ElasticQuota;
using kube::Json;
using kube::ResourceList;

bool IsAboutQuotas(const Request& request) {
  return request.group == api::kElasticQuotas.group &&
         request.resource == api::kElasticQuotas.resource && request.subresource.empty();
}

StatusOr<ElasticQuota> DecodeQuota(const Json& object) {
  if (object.is_null()) return InvalidArgument("{}", kNothingToDecode);
  return kube::Decode<ElasticQuota>(object);
}

Json& Label(Json& quota, std::string_view key) {
  return kube::At(quota, {"metadata", "labels", key});
}

// A quota belongs to the tree of its parent.
Status FillTree(const ClusterView& view, const ElasticQuota& typed, Json& quota) {
  const std::string_view parent = kube::ValueOf(typed.metadata.labels, api::kLabelQuotaParent);
  if (parent.empty()) {
    Label(quota, api::kLabelQuotaParent) = api::kRootQuota;
    return absl::OkStatus();
  }
  // One that is its own parent is refused by validation, which says why.
  if (!kube::ValueOf(typed.metadata.labels, api::kLabelQuotaTreeId).empty() ||
      parent == api::kRootQuota || parent == typed.metadata.name) {
    return absl::OkStatus();
  }
  const QuotaInfo* info = view.quotas().Find(parent);
  if (info == nullptr) {
    return InvalidArgument("fill quota {} failed, parent not exist", typed.metadata.name);
  }
  if (!info->tree_id.empty()) Label(quota, api::kLabelQuotaTreeId) = info->tree_id;
  return absl::OkStatus();
}

// The weight is about the same resources as max.
Status FillSharedWeight(const ElasticQuota& typed, Json& quota, WebhookMetrics* metrics) {
  const std::string_view text =
      kube::ValueOf(typed.metadata.annotations, api::kAnnotationQuotaSharedWeight);
  ResourceList given;
  if (!text.empty()) {
    auto parsed = api::DecodeLoose<ResourceList>(text);
    if (!parsed.ok()) {
      return InvalidArgument("fillDefaultQuotaInfo unmarshal sharedWeight failed:{}",
                             Message(parsed.status()));
    }
    given = *std::move(parsed);
  }
  bool changed = text.empty();
  ResourceList weight;
  for (const auto& [key, max] : typed.spec.max) {
    const auto it = given.find(key);
    changed |= it == given.end();
    weight.emplace(key, it == given.end() ? max : it->second);
  }
  if (!changed && weight.size() == given.size()) return absl::OkStatus();
  kube::At(quota, {"metadata", "annotations", api::kAnnotationQuotaSharedWeight}) =
      api::EncodeAnnotation(weight);
  if (metrics == nullptr || !text.empty()) return absl::OkStatus();
  for (const auto& [key, amount] : weight) {
    metrics->quota_shared_weight.With({typed.metadata.name, key}).Set(amount.ToDouble());
  }
  return absl::OkStatus();
}

// What decides about admission must be readable and not negative: pods would be refused for no
// fault of theirs, or let in where there is no room. Only what changes is judged.
Status CheckAccounts(const ElasticQuota& quota, const ElasticQuota* before) {
  for (const std::string_view key :
       {api::kAnnotationQuotaChildRequest, api::kAnnotationQuotaAdmission}) {
    const std::string_view text = kube::ValueOf(quota.metadata.annotations, key);
    if (before != nullptr && text == kube::ValueOf(before->metadata.annotations, key)) continue;
    const auto amounts = api::QuotaAmounts(quota, key);
    if (!amounts.ok()) {
      return InvalidArgument("metadata.annotations[{}]: {}", key, Message(amounts.status()));
    }
    for (const auto& [name, amount] : *amounts) {
      if (amount.Sign() >= 0) continue;
      return InvalidArgument("metadata.annotations[{}]: {} must not be negative, found {}", key,
                             name, amount.ToString());
    }
  }
  return absl::OkStatus();
}

Status Judge(const Request& request, ClusterView& view) {
  const QuotaPods pods{[&](std::string_view quota) { return view.PodsOfQuota(quota); },
                       [&](std::string_view ns) { return view.HasPods(ns); }};
  const bool remember = !request.dry_run;
  switch (request.operation) {
    case Operation::kCreate: {
      ASSIGN_OR_RETURN(const ElasticQuota quota, DecodeQuota(request.object));
      RETURN_IF_ERROR(CheckAccounts(quota, nullptr));
      return view.quotas().Create(quota, remember);
    }
    case Operation::kUpdate: {
      ASSIGN_OR_RETURN(const ElasticQuota before, DecodeQuota(request.old_object));
      ASSIGN_OR_RETURN(const ElasticQuota after, DecodeQuota(request.object));
      RETURN_IF_ERROR(CheckAccounts(after, &before));
      return view.quotas().Update(before, after, pods, remember);
    }
    case Operation::kDelete: {
      // Not by the name of the request: that is empty for each object of a deleted collection,
      // which is how a namespace is emptied.
      ASSIGN_OR_RETURN(const ElasticQuota quota, DecodeQuota(request.old_object));
      const std::string& name = quota.metadata.name;
      return view.IsNamespaceBeingDeleted(request.ns)
                 ? view.quotas().DeleteWithNamespace({request.ns, name}, pods, remember)
                 : view.quotas().Delete(name, pods, remember);
    }
    case Operation::kConnect:
      return absl::OkStatus();
  }
  return absl::OkStatus();
}

}  // namespace

Response MutateElasticQuota(const Request& request, const ClusterView& view,
                            WebhookMetrics* metrics) {
  if (!IsAboutQuotas(request) || request.operation != Operation::kCreate) {
    return Response::Allowed();
  }
  const auto typed = DecodeQuota(request.object);
  if (!typed.ok()) return Response::Errored(400, typed.status());
  if (typed->metadata.name == api::kRootQuota) return Response::Allowed();
  Json quota = request.object;
  if (const Status status = FillTree(view, *typed, quota); !status.ok()) {
    return Response::Errored(400, status);
  }
  if (const Status status = FillSharedWeight(*typed, quota, metrics); !status.ok()) {
    return Response::Errored(400, status);
  }
  return Response::Patched(request.object, quota);
}

Response ValidateElasticQuota(const Request& request, ClusterView& view) {
  if (!IsAboutQuotas(request)) return Response::Allowed();
  const Status status = Judge(request, view);
  if (!status.ok()) return Response::Errored(400, status);
  Response response = Response::Allowed();
  if (request.operation == Operation::kCreate) {
    auto why = api::UnsupportedKind(api::kElasticQuotas.group, api::kElasticQuotas.kind);
    if (why) response.warnings.push_back(*std::move(why));
  }
  return response;
}

}  // namespace koord::manager::webhook
