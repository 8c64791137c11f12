#include "scheduler/quota_controller/quota_status_patch.h"

#include <algorithm>

#include "api/annotation_codec.h"
#include "api/keys.h"
#include "api/resources.h"

namespace koord::scheduler {
namespace {

using kube::ResourceList;

bool SameButZeros(const ResourceList& a, const ResourceList& b) {
  ResourceList rest = a;
  kube::SubtractFrom(rest, b);
  return kube::IsZero(rest);
}

// One that cannot be read is written anew.
bool Says(const api::ElasticQuota& object, std::string_view annotation, const ResourceList& list) {
  const auto said = api::QuotaAmounts(object, annotation);
  return said.ok() && SameButZeros(*said, list);
}

}  // namespace

std::optional<kube::Write> QuotaStatusPatch(const api::ElasticQuota& object,
                                            const model::QuotaStatus& status,
                                            const model::Dimensions& dimensions,
                                            bool keep_admitted) {
  kube::json::object annotations;
  const auto say = [&](std::string_view annotation, const model::QuotaAmounts& amounts) {
    const ResourceList list = dimensions.ListOf(amounts);
    if (!Says(object, annotation, list)) annotations[annotation] = api::EncodeAnnotation(list);
  };
  say(api::kAnnotationQuotaRuntime, status.runtime);
  say(api::kAnnotationQuotaRequest, status.request);
  if (!keep_admitted || !AdmitsMore(object, status, dimensions)) {
    say(api::kAnnotationQuotaChildRequest, status.child_request);
  }
  say(api::kAnnotationQuotaGuaranteed, status.guaranteed);
  say(api::kAnnotationQuotaAllocated, status.allocated);
  say(api::kAnnotationQuotaNonPreemptibleRequest, status.non_preemptible_request);
  say(api::kAnnotationQuotaNonPreemptibleUsed, status.non_preemptible_used);
  kube::json::object patch;
  if (!annotations.empty()) patch["metadata"] = {{"annotations", std::move(annotations)}};
  ResourceList used = dimensions.ListOf(status.used);
  for (const auto& [name, amount] : object.spec.max) used.try_emplace(name);
  if (!SameButZeros(object.status.used, used)) {
    kube::json::object amounts = kube::Encode(used).as_object();
    // A merge leaves what it does not name.
    for (const auto& [name, amount] : object.status.used) {
      if (!used.contains(name)) amounts[name] = nullptr;
    }
    patch["status"] = {{"used", std::move(amounts)}};
  }
  if (patch.empty()) return std::nullopt;
  return kube::PinnedPatch(api::kElasticQuotas, object.metadata, std::move(patch));
}

bool AdmitsMore(const api::ElasticQuota& object, const model::QuotaStatus& status,
                const model::Dimensions& dimensions) {
  const auto said = api::QuotaAmounts(object, api::kAnnotationQuotaChildRequest);
  return said.ok() && !kube::FitsIn(*said, dimensions.ListOf(status.child_request));
}

}  // namespace koord::scheduler
