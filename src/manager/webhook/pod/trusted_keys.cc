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
constexpr std::string_view kOnlyTheScheduler = "only the scheduler may set it";

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

void AboutReservations(const Request& request, const kube::Pod& pod, Warnings& warnings) {
  if (IsSystemUser(request.user)) return;
  if (kube::ValueOf(pod.metadata.labels, api::kLabelReservationIgnored) == "true") {
    warnings.Add(api::kLabelReservationIgnored,
                 "the pod may take room that is reserved for others");
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

bool IsScheduler(const Request& request, const TrustOptions& options) {
  return std::ranges::find(options.schedulers, request.user.name) != options.schedulers.end();
}

// Annotations before and after a request, and what is wrong with the difference.
class Changes {
 public:
  Changes(const Request& request, std::string_view at, const kube::Annotations& now,
          const kube::Annotations* before, FieldErrors& errors, WebhookMetrics* metrics)
      : request_(request),
        at_(at),
        now_(now),
        before_(before),
        errors_(errors),
        metrics_(metrics) {}

  void Refuse(std::string_view key, std::string_view rule) {
    if (SameValue(now_, before_, key)) return;
    errors_.Forbidden(fmt::format("{}.{}", at_, key),
                      fmt::format("{}, not user {}", rule, Quote(request_.user.name)));
    if (metrics_ != nullptr) metrics_->untrusted_keys.With({key, "refused"}).Increment();
  }
  void RefuseOutput(std::string_view rule) {
    for (const std::string_view key : api::kOutputAnnotations) Refuse(key, rule);
  }

 private:
  const Request& request_;
  std::string_view at_;
  const kube::Annotations& now_;
  const kube::Annotations* before_;
  FieldErrors& errors_;
  WebhookMetrics* metrics_;
};

// Those that are no text are the API server's to refuse.
kube::Annotations AnnotationsAt(const kube::Json& object,
                                std::initializer_list<std::string_view> path) {
  kube::Annotations annotations;
  const kube::json::object* pairs = kube::FindObject(object, path);
  if (pairs == nullptr) return annotations;
  for (const auto& [key, value] : *pairs) {
    if (value.is_string()) annotations.emplace(key, value.get_string());
  }
  return annotations;
}

// Whether an item of a reservation's owners says nothing about whose pods it is for.
bool IsForEverybody(const kube::Json& owner) {
  const auto says = [&](std::initializer_list<std::string_view> path) {
    const kube::json::object* found = kube::FindObject(owner, path);
    return found != nullptr && !found->empty();
  };
  return !says({"object"}) && !says({"controller"}) && !says({"labelSelector", "matchLabels"}) &&
         kube::FindArray(owner, {"labelSelector", "matchExpressions"}) == nullptr;
}

}  // namespace

void CheckSchedulerKeys(const Request& request, const kube::Annotations& now,
                        const kube::Annotations* before, const TrustOptions& options,
                        FieldErrors& errors, WebhookMetrics* metrics) {
  if (options.trust_everyone || IsScheduler(request, options)) return;
  Changes changes(request, "annotations", now, before, errors, metrics);
  changes.RefuseOutput(kOnlyTheScheduler);
  changes.Refuse(api::kAnnotationReservationCurrentOwner, kOnlyTheScheduler);
  // When a pod is created, the mutating webhook says there what the containers ask for.
  if (before == nullptr) return;
  changes.Refuse(api::kAnnotationExtendedResourceSpec,
                 "it is set when the pod is created, and only the scheduler may change it");
}

void CheckSchedulerKeysOfReservation(const Request& request, const TrustOptions& options,
                                     FieldErrors& errors, WebhookMetrics* metrics) {
  if (options.trust_everyone) return;
  const auto check = [&](std::string_view at, std::initializer_list<std::string_view> path,
                         auto refuse) {
    const kube::Annotations now = AnnotationsAt(request.object, path);
    const kube::Annotations before = AnnotationsAt(request.old_object, path);
    Changes changes(request, at, now, &before, errors, metrics);
    refuse(changes);
  };
  check("spec.template.metadata.annotations", {"spec", "template", "metadata", "annotations"},
        [](Changes& changes) {
          changes.RefuseOutput("the scheduler sets it, and on the reservation itself");
        });
  if (IsScheduler(request, options)) return;
  check("annotations", {"metadata", "annotations"}, [](Changes& changes) {
    changes.RefuseOutput(kOnlyTheScheduler);
    changes.Refuse(api::kAnnotationReservationResizeAllocatable, kOnlyTheScheduler);
    changes.Refuse(api::kAnnotationReservationCurrentOwner, kOnlyTheScheduler);
  });
}

std::vector<std::string> QuestionableOwners(const Request& request, const TrustOptions& options,
                                            WebhookMetrics* metrics) {
  if (options.trust_everyone || IsSystemUser(request.user)) return {};
  const kube::json::array* owners = kube::FindArray(request.object, {"spec", "owners"});
  if (owners == nullptr || std::none_of(owners->begin(), owners->end(), IsForEverybody)) return {};
  Warnings warnings(metrics);
  warnings.Add("spec.owners", "every pod of every namespace may use it");
  return warnings.Take();
}

std::vector<std::string> QuestionableKeys(const Request& request, const kube::Pod& pod,
                                          std::string_view ns, const ClusterView& view,
                                          const TrustOptions& options, WebhookMetrics* metrics) {
  if (options.trust_everyone) return {};
  Warnings warnings(metrics);
  AboutTheNode(pod, warnings);
  AboutChecks(request, pod, warnings);
  AboutReservations(request, pod, warnings);
  AboutQuota(pod, ns, view, warnings);
  AboutGangs(pod, ns, warnings);
  AboutSize(pod, warnings);
  return warnings.Take();
}

}  // namespace koord::manager::webhook
