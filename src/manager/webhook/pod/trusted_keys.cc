#include "manager/webhook/pod/trusted_keys.h"

#include <algorithm>
#include <utility>

#include "api/annotation_codec.h"
#include "api/keys.h"
#include "api/output_keys.h"
#include "api/qos.h"
#include "base/strings.h"

namespace koord::manager::webhook {
namespace {

constexpr size_t kLongestValue = 16 << 10;

bool SameValue(const kube::Annotations& now, const kube::Annotations* before,
               std::string_view key) {
  const std::string* value = kube::FindValue(now, key);
  const std::string* old = before == nullptr ? nullptr : kube::FindValue(*before, key);
  if (value == nullptr || old == nullptr) return value == old;
  return *value == *old;
}

// Those who run the cluster rather than work in it.
bool IsSystemUser(const kube::UserInfo& user) {
  const auto is_system = [](std::string_view name) {
    return name.starts_with("system:") &&
           (!name.starts_with("system:serviceaccount:") ||
            name.starts_with("system:serviceaccount:kube-system:") ||
            name.starts_with("system:serviceaccount:koordinator-system:"));
  };
  return is_system(user.name) ||
         std::ranges::find(user.groups, "system:masters") != user.groups.end();
}

class Warnings {
 public:
  explicit Warnings(WebhookMetrics* metrics) : metrics_(metrics) {}

  void Add(std::string_view key, std::string_view why) {
    list_.push_back(fmt::format("{}: {}", key, why));
    if (metrics_ != nullptr) metrics_->untrusted_keys.With({key, "warned"}).Increment();
  }
  std::vector<std::string> Take() { return std::move(list_); }

 private:
  WebhookMetrics* metrics_;
  std::vector<std::string> list_;
};

void AboutTheNode(const kube::Pod& pod, Warnings& warnings) {
  const kube::Labels& labels = pod.metadata.labels;
  const kube::Annotations& annotations = pod.metadata.annotations;
  if (const auto adjust = ParseInt(kube::ValueOf(annotations, api::kAnnotationOomScoreAdj));
      adjust && *adjust < 0) {
    warnings.Add(api::kAnnotationOomScoreAdj,
                 "a value below zero protects the pod from the kernel at the cost of others; nodes "
                 "may raise it");
  }
  if (annotations.contains(api::kAnnotationResctrl)) {
    warnings.Add(api::kAnnotationResctrl, "nodes have few classes of service; they may ignore it");
  }
  if (labels.contains(api::kLabelCoreSchedGroupId)) {
    warnings.Add(api::kLabelCoreSchedGroupId, "groups are kept apart by namespace");
  }
  if (kube::ValueOf(labels, api::kLabelCoreSchedPolicy) == "none") {
    warnings.Add(api::kLabelCoreSchedPolicy, "the pod asks to leave core scheduling");
  }
  if (api::RawQosClass(labels) == api::QosClass::kSystem) {
    warnings.Add(api::kLabelQosClass, "SYSTEM is meant for daemons of the node");
  }
}

void AboutChecks(const Request& request, const kube::Pod& pod, Warnings& warnings) {
  if (IsSystemUser(request.user)) return;
  for (const std::string_view key : {api::kLabelSkipEnhancedValidation, api::kKeySkipHookServer}) {
    if (kube::ValueOf(pod.metadata.labels, key) == "true" ||
        kube::ValueOf(pod.metadata.annotations, key) == "true") {
      warnings.Add(key, "checks are skipped at the request of the pod's author");
    }
  }
}

void AboutQuota(const kube::Pod& pod, std::string_view ns, const ClusterView& view,
                Warnings& warnings) {
  const std::string_view name = kube::ValueOf(pod.metadata.labels, api::kLabelQuotaName);
  if (name.empty()) return;
  const QuotaInfo* quota = view.quotas().Find(name);
  if (quota == nullptr || quota->namespaces.empty() || quota->ns == ns) return;
  if (std::ranges::find(quota->namespaces, ns) == quota->namespaces.end()) {
    warnings.Add(api::kLabelQuotaName,
                 fmt::format("quota {} is meant for other namespaces", Quote(name)));
  }
}

void AboutGangs(const kube::Pod& pod, std::string_view ns, Warnings& warnings) {
  const auto groups = api::ReadNonEmptyAnnotation<std::vector<std::string>>(
      pod.metadata.annotations, api::kAnnotationGangGroups);
  if (!groups.ok() || !groups->has_value()) return;
  for (const std::string& group : **groups) {
    const size_t slash = group.find('/');
    if (slash == group.npos || std::string_view(group).substr(0, slash) == ns) continue;
    warnings.Add(api::kAnnotationGangGroups,
                 fmt::format("gang {} is in another namespace", Quote(group)));
    return;
  }
}

void AboutSize(const kube::Pod& pod, Warnings& warnings) {
  for (const auto& [key, value] : pod.metadata.annotations) {
    if (value.size() > kLongestValue && key.find("koordinator.sh/") != key.npos) {
      warnings.Add("annotation", fmt::format("{} is longer than {} bytes and may be ignored",
                                             Quote(key), kLongestValue));
    }
  }
}

}  // namespace

void CheckSchedulerKeys(const Request& request, const kube::Annotations& now,
                        const kube::Annotations* before, const TrustOptions& options,
                        FieldErrors& errors, WebhookMetrics* metrics) {
  if (options.trust_everyone) return;
  if (std::ranges::find(options.schedulers, request.user.name) != options.schedulers.end()) return;
  const auto check = [&](std::string_view key, std::string_view rule) {
    if (SameValue(now, before, key)) return;
    errors.Forbidden(fmt::format("annotations.{}", key),
                     fmt::format("{}, not user {}", rule, Quote(request.user.name)));
    if (metrics != nullptr) metrics->untrusted_keys.With({key, "refused"}).Increment();
  };
  for (const std::string_view key : api::kOutputAnnotations)
    check(key, "only the scheduler may set it");
  // When a pod is created, the mutating webhook says there what the containers ask for.
  if (before == nullptr) return;
  check(api::kAnnotationExtendedResourceSpec,
        "it is set when the pod is created, and only the scheduler may change it");
}

std::vector<std::string> QuestionableKeys(const Request& request, const kube::Pod& pod,
                                          std::string_view ns, const ClusterView& view,
                                          const TrustOptions& options, WebhookMetrics* metrics) {
  if (options.trust_everyone) return {};
  Warnings warnings(metrics);
  AboutTheNode(pod, warnings);
  AboutChecks(request, pod, warnings);
  AboutQuota(pod, ns, view, warnings);
  AboutGangs(pod, ns, warnings);
  AboutSize(pod, warnings);
  return warnings.Take();
}

}  // namespace koord::manager::webhook
