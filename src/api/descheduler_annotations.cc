#include "api/descheduler_annotations.h"

#include "api/annotation_codec.h"
#include "api/keys.h"
#include "api/numbers.h"
#include "base/strings.h"

namespace koord::api {

StatusOr<int32_t> EvictionCostOf(const kube::Annotations& annotations) {
  const std::string* text = kube::FindValue(annotations, kAnnotationEvictionCost);
  if (text == nullptr) return 0;
  const bool is_plain = *text == "0" || text->starts_with('-') ||
                        (!text->empty() && text->front() >= '1' && text->front() <= '9');
  const std::optional<int32_t> cost = ToInt32(is_plain ? ParseInt(*text) : std::nullopt);
  if (!cost) return InvalidArgument("invalid value {}", Quote(*text, 64));
  return *cost;
}

StatusOr<std::optional<SoftEviction>> SoftEvictionOf(const kube::Annotations& annotations) {
  return ReadAnnotation<SoftEviction>(annotations, kAnnotationSoftEviction);
}

std::string EncodeSoftEviction(const SoftEviction& eviction) { return EncodeAnnotation(eviction); }

std::string_view EvictReasonOf(const kube::Annotations& job_annotations) {
  const std::string_view reason = kube::ValueOf(job_annotations, kAnnotationEvictReason);
  if (!reason.empty()) return reason;
  const std::string_view trigger = kube::ValueOf(job_annotations, kAnnotationEvictTrigger);
  return trigger.empty() ? "NotSet" : trigger;
}

}  // namespace koord::api
