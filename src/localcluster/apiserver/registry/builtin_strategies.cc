#include "localcluster/apiserver/registry/builtin_strategies.h"

#include <map>
#include <string>

#include "localcluster/apiserver/registry/defaults.h"
#include "localcluster/apiserver/registry/prepare.h"
#include "localcluster/apiserver/registry/validation.h"

namespace koord::apiserver {
namespace {

Strategy Pods() {
  return {.graceful_deletion = true,
          .returns_deleted = true,
          .generation = GenerationRule::kSpec,
          .set_defaults = DefaultPod,
          .prepare_create = PreparePodCreate,
          .prepare_update = PreparePodUpdate,
          .validate = ValidatePod,
          .validate_update = ValidatePodUpdate};
}

Strategy Workload(void (*defaults)(kube::Json&),
                  void (*validate)(const kube::Json&, FieldErrors&)) {
  return {.generation = GenerationRule::kSpec,
          .set_defaults = defaults,
          .validate = validate,
          .validate_update = ValidateSelectorUnchanged};
}

Strategy Rbac(void (*defaults)(kube::Json&)) {
  return {.name = NameRule::kPathSegment, .create_on_update = true, .set_defaults = defaults};
}

std::map<std::string, Strategy> CoreStrategies() {
  return {
      {"pods", Pods()},
      {"nodes",
       {.keeps_status_on_create = true, .set_defaults = DefaultSpec, .validate = ValidateNode}},
      {"namespaces",
       {.name = NameRule::kLabel,
        .returns_deleted = true,
        .prepare_create = PrepareNamespaceCreate,
        .prepare_update = PrepareNamespaceUpdate}},
      {"configmaps", {.validate = ValidateConfigMap, .validate_update = ValidateImmutableData}},
      {"secrets",
       {.set_defaults = DefaultSecret,
        .validate = ValidateSecret,
        .validate_update = ValidateSecretUpdate}},
      {"events", {.create_on_update = true, .validate = ValidateEvent}},
      {"services",
       {.name = NameRule::kLabel,
        .create_on_update = true,
        .returns_deleted = true,
        .set_defaults = DefaultService,
        .prepare_update = PrepareServiceUpdate,
        .validate = ValidateService,
        .validate_update = ValidateServiceUpdate}},
      {"serviceaccounts", {.returns_deleted = true}},
      {"persistentvolumes",
       {.returns_deleted = true,
        .set_defaults = DefaultPersistentVolume,
        .prepare_create = PreparePendingPhase,
        .validate = ValidatePersistentVolume}},
      {"persistentvolumeclaims",
       {.returns_deleted = true,
        .set_defaults = DefaultPersistentVolumeClaim,
        .prepare_create = PreparePendingPhase,
        .validate = ValidatePersistentVolumeClaim,
        .validate_update = ValidatePersistentVolumeClaimUpdate}},
      {"resourcequotas",
       {.returns_deleted = true,
        .validate = ValidateResourceQuota,
        .validate_update = ValidateResourceQuotaUpdate}},
      {"limitranges",
       {.create_on_update = true,
        .set_defaults = DefaultLimitRange,
        .validate = ValidateLimitRange}},
      {"replicationcontrollers",
       {.generation = GenerationRule::kSpec,
        .set_defaults = DefaultReplicationController,
        .validate = ValidateReplicationController}},
      {"endpoints", {.create_on_update = true, .set_defaults = DefaultEndpoints}},
      {"podtemplates", {.returns_deleted = true, .set_defaults = DefaultPodTemplate}},
  };
}

std::map<std::string, Strategy> WorkloadStrategies() {
  Strategy deployments = Workload(DefaultDeployment, ValidateDeployment);
  deployments.generation = GenerationRule::kSpecAndAnnotations;
  Strategy stateful_sets = Workload(DefaultStatefulSet, ValidateStatefulSet);
  stateful_sets.validate_update = ValidateStatefulSetUpdate;
  Strategy jobs = Workload(DefaultJob, ValidateJob);
  jobs.prepare_create = PrepareJobCreate;
  jobs.validate_update = ValidateJobUpdate;
  return {
      {"deployments.apps", deployments},
      {"replicasets.apps", Workload(DefaultReplicaSet, ValidateReplicaSet)},
      {"statefulsets.apps", stateful_sets},
      {"daemonsets.apps", Workload(DefaultDaemonSet, ValidateDaemonSet)},
      {"controllerrevisions.apps", {.validate_update = ValidateControllerRevisionUpdate}},
      {"jobs.batch", jobs},
      {"cronjobs.batch",
       {.generation = GenerationRule::kSpec,
        .set_defaults = DefaultCronJob,
        .validate = ValidateCronJob}},
      {"poddisruptionbudgets.policy",
       {.unconditional_update = false,
        .generation = GenerationRule::kSpec,
        .validate = ValidatePodDisruptionBudget}},
      {"priorityclasses.scheduling.k8s.io",
       {.set_defaults = DefaultPriorityClass,
        .validate = ValidatePriorityClass,
        .validate_update = ValidatePriorityClassUpdate}},
      {"leases.coordination.k8s.io",
       {.unconditional_update = false,
        .create_on_update = true,
        .set_defaults = DefaultSpec,
        .validate = ValidateLease}},
  };
}

std::map<std::string, Strategy> OtherStrategies() {
  const Strategy webhooks{.unconditional_update = false, .generation = GenerationRule::kContent};
  const Strategy devices{.returns_deleted = true, .generation = GenerationRule::kSpec};
  return {
      {"storageclasses.storage.k8s.io",
       {.returns_deleted = true,
        .set_defaults = DefaultStorageClass,
        .validate = ValidateStorageClass,
        .validate_update = ValidateStorageClassUpdate}},
      {"csinodes.storage.k8s.io", {.unconditional_update = false, .returns_deleted = true}},
      {"csidrivers.storage.k8s.io",
       {.unconditional_update = false, .returns_deleted = true, .set_defaults = DefaultCsiDriver}},
      {"csistoragecapacities.storage.k8s.io", {.unconditional_update = false}},
      {"volumeattachments.storage.k8s.io",
       {.unconditional_update = false, .returns_deleted = true}},
      {"deviceclasses.resource.k8s.io", devices},
      {"resourceslices.resource.k8s.io", devices},
      {"resourceclaims.resource.k8s.io", devices},
      {"resourceclaimtemplates.resource.k8s.io", devices},
      {"events.events.k8s.io", {.create_on_update = true, .validate = ValidateEventV1}},
      {"mutatingwebhookconfigurations.admissionregistration.k8s.io", webhooks},
      {"validatingwebhookconfigurations.admissionregistration.k8s.io", webhooks},
      {"customresourcedefinitions.apiextensions.k8s.io",
       {.unconditional_update = false, .generation = GenerationRule::kContent}},
      {"roles.rbac.authorization.k8s.io", Rbac(nullptr)},
      {"rolebindings.rbac.authorization.k8s.io", Rbac(DefaultRoleBinding)},
      {"clusterroles.rbac.authorization.k8s.io", Rbac(nullptr)},
      {"clusterrolebindings.rbac.authorization.k8s.io", Rbac(DefaultRoleBinding)},
  };
}

}  // namespace

const Strategy& BuiltinStrategy(const kube::Resource& resource) {
  static const auto& strategies = *new std::map<std::string, Strategy>([] {
    std::map<std::string, Strategy> all = CoreStrategies();
    all.merge(WorkloadStrategies());
    all.merge(OtherStrategies());
    return all;
  }());
  static const Strategy kPlain;
  const auto it = strategies.find(resource.qualified());
  return it == strategies.end() ? kPlain : it->second;
}

const Strategy& CustomStrategy() {
  static const Strategy kCustom{.unconditional_update = false,
                                .generation = GenerationRule::kContent};
  return kCustom;
}

}  // namespace koord::apiserver
