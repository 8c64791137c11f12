#include "manager/webhook/pod/pod_validating.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "api/elastic_quota.h"
#include "api/keys.h"
#include "api/unsupported.h"
#include "manager/quota/quota_evaluation.h"

namespace koord::manager::webhook {
namespace {

using kube::Pod;

Status ToStatus(const FieldErrors& errors) {
  return errors.empty() ? absl::OkStatus() : absl::InvalidArgumentError(errors.ToString());
}

// A request with its objects decoded.
struct Subject {
  Pod pod;
  std::optional<Pod> old;
  std::string ns;

  const Pod* old_or_null() const { return old ? &*old : nullptr; }
};

StatusOr<Subject> DecodeSubject(const Request& request) {
  if (request.object.is_null()) return InvalidArgument("{}", kNothingToDecode);
  Subject subject;
  ASSIGN_OR_RETURN(subject.pod, kube::Decode<Pod>(request.object));
  subject.ns = subject.pod.metadata.ns.empty() ? request.ns : subject.pod.metadata.ns;
  if (request.operation != Operation::kUpdate) return subject;
  if (request.old_object.is_null()) return InvalidArgument("{}", kNothingToDecode);
  ASSIGN_OR_RETURN(subject.old, kube::Decode<Pod>(request.old_object));
  return subject;
}

Status CheckTrust(const Request& request, const Subject& subject, const PodValidation& context) {
  FieldErrors errors;
  const Pod* old = subject.old_or_null();
  CheckSchedulerKeys(request, subject.pod.metadata.annotations,
                     old != nullptr ? &old->metadata.annotations : nullptr, context.trust, errors,
                     context.metrics);
  return ToStatus(errors);
}

Status CheckBeforeQuota(const Request& request, const Subject& subject,
                        const PodValidation& context, const StepTimer& timer) {
  const Pod* old = subject.old_or_null();
  RETURN_IF_ERROR(timer.Run("ClusterReservation", [&] {
    FieldErrors errors;
    CheckReservedAnnotations(subject.pod.metadata.annotations, errors);
    return ToStatus(errors);
  }));
  RETURN_IF_ERROR(CheckTrust(request, subject, context));
  RETURN_IF_ERROR(timer.Run("ClusterColocationProfile",
                            [&] { return CheckColocation(subject.pod, old, context.features); }));
  return timer.Run("QuotaMetaChecker", [&] {
    return CheckQuotaParent(subject.pod, old, subject.ns, context.view, context.features);
  });
}

Status CheckAfterQuota(const Subject& subject, const PodValidation& context,
                       const StepTimer& timer) {
  if (context.features.validate_pod_device_resource) {
    RETURN_IF_ERROR(timer.Run("DeviceResource", [&] { return CheckDevices(subject.pod); }));
  }
  if (!context.features.enable_pod_enhanced_validator) return absl::OkStatus();
  return timer.Run("EnhancedValidation", [&] {
    return context.enhanced.Check(subject.pod, subject.ns, context.view.EnhancedValidatorConfig());
  });
}

// The same for the same pod, however often it is reviewed.
std::string IdOf(const Request& request, const Subject& subject) {
  const std::string& name =
      subject.pod.metadata.name.empty() ? request.name : subject.pod.metadata.name;
  return name.empty() ? request.uid : kube::ObjectKey{subject.ns, name}.ToString();
}

// A pod whose name is taken will not be created, so that it must not cost its quota anything.
bool IsNameTaken(const Request& request, const Subject& subject, const ClusterView& view) {
  return request.operation == Operation::kCreate &&
         view.FindPod({subject.ns, subject.pod.metadata.name}) != nullptr;
}

// For what is new: nobody is told of the same thing with every change of the pod.
std::vector<std::string> WarningsOf(const Request& request, const Subject& subject,
                                    const PodValidation& context) {
  std::vector<std::string> warnings = api::UnsupportedRequestsOf(subject.pod);
  if (subject.old) {
    const std::vector<std::string> before = api::UnsupportedRequestsOf(*subject.old);
    std::erase_if(warnings, [&](const std::string& warning) {
      return std::ranges::find(before, warning) != before.end();
    });
    return warnings;
  }
  for (std::string& warning : QuestionableKeys(request, subject.pod, subject.ns, context.view,
                                               context.trust, context.metrics)) {
    warnings.push_back(std::move(warning));
  }
  return warnings;
}

Response ToResponse(const Status& status, std::vector<std::string> warnings) {
  Response response = status.ok() ? Response::Allowed() : Response::Errored(400, status);
  response.warnings = std::move(warnings);
  return response;
}

}  // namespace

void ValidatePod(const Request& request, const PodValidation& context,
                 absl::AnyInvocable<void(Response)> done) {
  const bool is_judged =
      request.operation == Operation::kCreate || request.operation == Operation::kUpdate;
  if (!request.IsAbout("pods") || !is_judged) return done(Response::Allowed());
  StatusOr<Subject> subject = DecodeSubject(request);
  if (!subject.ok()) return done(Response::Errored(400, subject.status()));

  const StepTimer timer(context.metrics, context.clock, "validate", "pod", request.operation);
  const Status before = CheckBeforeQuota(request, *subject, context, timer);
  if (!before.ok()) return done(Response::Errored(400, before));
  // Known before the pod is charged, so that one that is refused anyway costs its quota nothing.
  const Status after = CheckAfterQuota(*subject, context, timer);
  std::vector<std::string> warnings = WarningsOf(request, *subject, context);
  const Features& features = context.features;
  const std::string quota =
      QuotaToCharge(subject->pod, subject->old_or_null(), subject->ns, context.view, features);
  if (quota.empty() || context.evaluator == nullptr) {
    return done(ToResponse(after, std::move(warnings)));
  }
  if (features.elastic_quota_evaluation_transform_pod && features.replace_resources_transformer) {
    ReplaceResources(subject->pod);
  }
  const bool dry_run =
      request.dry_run || !after.ok() || IsNameTaken(request, *subject, context.view);
  context.evaluator->Evaluate(
      quota, IdOf(request, *subject), subject->pod, dry_run,
      [timer, start = context.clock.Steady(), after, warnings = std::move(warnings),
       done = std::move(done)](Status evaluated) mutable {
        timer.Observe("EvaluateQuota", evaluated.ok(), start);
        done(ToResponse(evaluated.ok() ? after : evaluated, std::move(warnings)));
      });
}

void CheckReservedAnnotations(const kube::Annotations& annotations, FieldErrors& errors) {
  if (!annotations.contains(api::kAnnotationReservePod)) return;
  errors.Forbidden(fmt::format("annotations.{}", api::kAnnotationReservePod),
                   "cannot set in annotations");
}

Status CheckQuotaParent(const Pod& pod, const Pod* old, std::string_view ns,
                        const ClusterView& view, const Features& features) {
  if (old != nullptr && kube::ValueOf(pod.metadata.labels, api::kLabelQuotaPreemptible) !=
                            kube::ValueOf(old->metadata.labels, api::kLabelQuotaPreemptible)) {
    return InvalidArgument("Preemptible label is forbidden modify now.");
  }
  if (features.support_parent_quota_submit_pod) return absl::OkStatus();
  const std::string name =
      view.quotas().QuotaOf(pod.metadata.labels, ns, features.disable_default_quota);
  const QuotaInfo* quota = view.quotas().Find(name);
  if (quota == nullptr || name == api::kDefaultQuota || !quota->is_parent) {
    return absl::OkStatus();
  }
  return InvalidArgument("pod can not be linked to a parentQuotaGroup,quota:{}, pod:{}", name,
                         pod.metadata.name);
}

std::string QuotaToCharge(const Pod& pod, const Pod* old, std::string_view ns,
                          const ClusterView& view, const Features& features) {
  if (!features.enable_quota_admission) return "";
  const auto quota_of = [&](const Pod& which) {
    return view.quotas().QuotaOf(which.metadata.labels, ns, features.disable_default_quota);
  };
  std::string quota = quota_of(pod);
  if (old != nullptr && (!features.enable_quota_admission_on_update || quota == quota_of(*old))) {
    return "";
  }
  const bool is_built_in =
      quota == api::kDefaultQuota || quota == api::kSystemQuota || quota == api::kRootQuota;
  return is_built_in ? "" : quota;
}

}  // namespace koord::manager::webhook
