#include "kube/schema/builtin_types.h"

namespace koord::kube::schema {

const GroupSource kAppsTypes = {
    .api_version = "apps/v1",
    .openapi_prefix = "io.k8s.api.apps.v1.",
    .messages = R"(
kind DaemonSet: metadata ObjectMeta, spec DaemonSetSpec, status DaemonSetStatus
DaemonSetCondition: type !, status !, lastTransitionTime Time, reason, message
DaemonSetSpec: selector LabelSelector?!, template PodTemplateSpec!,
  updateStrategy DaemonSetUpdateStrategy, minReadySeconds i, 6.revisionHistoryLimit i?
DaemonSetStatus: currentNumberScheduled i!, numberMisscheduled i!, desiredNumberScheduled i!,
  numberReady i!, observedGeneration i, updatedNumberScheduled i, numberAvailable i,
  numberUnavailable i, collisionCount i?, conditions [DaemonSetCondition] merge=type
DaemonSetUpdateStrategy: type, rollingUpdate RollingUpdateDaemonSet?
kind Deployment: metadata ObjectMeta, spec DeploymentSpec, status DeploymentStatus
DeploymentCondition: type !, status !, 4.reason, message, lastUpdateTime Time,
  lastTransitionTime Time
DeploymentSpec: replicas i?, selector LabelSelector?!, template PodTemplateSpec!,
  strategy DeploymentStrategy retain, minReadySeconds i, revisionHistoryLimit i?, paused b,
  9.progressDeadlineSeconds i?
DeploymentStatus: observedGeneration i, replicas i, updatedReplicas i, availableReplicas i,
  unavailableReplicas i, conditions [DeploymentCondition] merge=type, readyReplicas i,
  collisionCount i?, terminatingReplicas i?
DeploymentStrategy: type, rollingUpdate RollingUpdateDeployment?
kind ReplicaSet: metadata ObjectMeta, spec ReplicaSetSpec, status ReplicaSetStatus
ReplicaSetCondition: type !, status !, lastTransitionTime Time, reason, message
ReplicaSetSpec: replicas i?, selector LabelSelector?!, template PodTemplateSpec, minReadySeconds i
ReplicaSetStatus: replicas i!, fullyLabeledReplicas i, observedGeneration i, readyReplicas i,
  availableReplicas i, conditions [ReplicaSetCondition] merge=type, terminatingReplicas i?
RollingUpdateDaemonSet: maxUnavailable IntOrString?, maxSurge IntOrString?
RollingUpdateDeployment: maxUnavailable IntOrString?, maxSurge IntOrString?
RollingUpdateStatefulSetStrategy: partition i?, maxUnavailable IntOrString?
kind StatefulSet: metadata ObjectMeta, spec StatefulSetSpec, status StatefulSetStatus
StatefulSetCondition: type !, status !, lastTransitionTime Time, reason, message
StatefulSetOrdinals: start i
StatefulSetPersistentVolumeClaimRetentionPolicy: whenDeleted, whenScaled
StatefulSetSpec: replicas i?, selector LabelSelector?!, template PodTemplateSpec!,
  volumeClaimTemplates [PersistentVolumeClaim], serviceName, podManagementPolicy,
  updateStrategy StatefulSetUpdateStrategy, revisionHistoryLimit i?, minReadySeconds i,
  persistentVolumeClaimRetentionPolicy StatefulSetPersistentVolumeClaimRetentionPolicy?,
  ordinals StatefulSetOrdinals?
StatefulSetStatus: observedGeneration i, replicas i!, readyReplicas i, currentReplicas i,
  updatedReplicas i, currentRevision, updateRevision, 9.collisionCount i?,
  conditions [StatefulSetCondition] merge=type, availableReplicas i
StatefulSetUpdateStrategy: type, rollingUpdate RollingUpdateStatefulSetStrategy?
)",
    .json_messages = R"(
kind ControllerRevision: metadata ObjectMeta, data any, revision i!
)",
};

const GroupSource kBatchTypes = {
    .api_version = "batch/v1",
    .openapi_prefix = "io.k8s.api.batch.v1.",
    .messages = R"(
kind CronJob: metadata ObjectMeta, spec CronJobSpec, status CronJobStatus
CronJobSpec: schedule !, startingDeadlineSeconds i?, concurrencyPolicy, suspend b?,
  jobTemplate JobTemplateSpec!, successfulJobsHistoryLimit i?, failedJobsHistoryLimit i?,
  timeZone ?
CronJobStatus: active [ObjectReference], 4.lastScheduleTime Time?, lastSuccessfulTime Time?
kind Job: metadata ObjectMeta, spec JobSpec, status JobStatus
JobCondition: type !, status !, lastProbeTime Time, lastTransitionTime Time, reason, message
JobSpec: parallelism i?, completions i?, activeDeadlineSeconds i?, selector LabelSelector?,
  manualSelector b?, template PodTemplateSpec!, backoffLimit i?, ttlSecondsAfterFinished i?,
  completionMode ?, suspend b?, podFailurePolicy PodFailurePolicy?, backoffLimitPerIndex i?,
  maxFailedIndexes i?, podReplacementPolicy ?, managedBy ?, successPolicy SuccessPolicy?
JobStatus: conditions [JobCondition] merge=type atomic, startTime Time?, completionTime Time?,
  active i, succeeded i, failed i, completedIndexes,
  uncountedTerminatedPods UncountedTerminatedPods?, ready i?, failedIndexes ?, terminating i?
JobTemplateSpec: metadata ObjectMeta, spec JobSpec
PodFailurePolicy: rules [PodFailurePolicyRule]!
PodFailurePolicyOnExitCodesRequirement: containerName ?, operator !, values [i]! set
PodFailurePolicyOnPodConditionsPattern: type !, status
PodFailurePolicyRule: action !, onExitCodes PodFailurePolicyOnExitCodesRequirement?,
  onPodConditions [PodFailurePolicyOnPodConditionsPattern]
SuccessPolicy: rules [SuccessPolicyRule]!
SuccessPolicyRule: succeededIndexes ?, succeededCount i?
UncountedTerminatedPods: succeeded [s] set, failed [s] set
)",
    .json_messages = {},
};

const GroupSource kPolicyTypes = {
    .api_version = "policy/v1",
    .openapi_prefix = "io.k8s.api.policy.v1.",
    .messages = R"(
kind Eviction: metadata ObjectMeta, deleteOptions DeleteOptions?
kind PodDisruptionBudget: metadata ObjectMeta, spec PodDisruptionBudgetSpec,
  status PodDisruptionBudgetStatus
PodDisruptionBudgetSpec: minAvailable IntOrString?, selector LabelSelector? replace,
  maxUnavailable IntOrString?, unhealthyPodEvictionPolicy ?
PodDisruptionBudgetStatus: observedGeneration i, disruptedPods map:Time, disruptionsAllowed i!,
  currentHealthy i!, desiredHealthy i!, expectedPods i!, conditions [Condition] merge=type
)",
    .json_messages = {},
};

const GroupSource kAutoscalingTypes = {
    .api_version = "autoscaling/v1",
    .openapi_prefix = "io.k8s.api.autoscaling.v1.",
    .messages = R"(
kind Scale: metadata ObjectMeta, spec ScaleSpec, status ScaleStatus
ScaleSpec: replicas i
ScaleStatus: replicas i!, selector
)",
    .json_messages = {},
};

const GroupSource kSchedulingTypes = {
    .api_version = "scheduling.k8s.io/v1",
    .openapi_prefix = "io.k8s.api.scheduling.v1.",
    .messages = R"(
kind PriorityClass: metadata ObjectMeta, value i!, globalDefault b, description,
  preemptionPolicy ?
)",
    .json_messages = {},
};

const GroupSource kCoordinationTypes = {
    .api_version = "coordination.k8s.io/v1",
    .openapi_prefix = "io.k8s.api.coordination.v1.",
    .messages = R"(
kind Lease: metadata ObjectMeta, spec LeaseSpec
LeaseSpec: holderIdentity ?, leaseDurationSeconds i?, acquireTime MicroTime?,
  renewTime MicroTime?, leaseTransitions i?, strategy ?, preferredHolder ?
)",
    .json_messages = {},
};

const GroupSource kEventsTypes = {
    .api_version = "events.k8s.io/v1",
    .openapi_prefix = "io.k8s.api.events.v1.",
    .messages = R"(
kind Event: metadata ObjectMeta, eventTime MicroTime!, series EventSeries?, reportingController,
  reportingInstance, action, reason, regarding ObjectReference, related ObjectReference?, note,
  type, deprecatedSource EventSource, deprecatedFirstTimestamp Time, deprecatedLastTimestamp Time,
  deprecatedCount i
EventSeries: count i!, lastObservedTime MicroTime!
)",
    .json_messages = {},
};

const GroupSource kMetricsTypes = {
    .api_version = "metrics.k8s.io/v1beta1",
    .openapi_prefix = "io.k8s.metrics.pkg.apis.metrics.v1beta1.",
    .messages = {},
    .json_messages = R"(
ContainerMetrics: name !, usage map:Quantity!
kind NodeMetrics: metadata ObjectMeta, timestamp Time!, window Duration!, usage map:Quantity!
kind PodMetrics: metadata ObjectMeta, timestamp Time!, window Duration!,
  containers [ContainerMetrics]!
)",
};

}  // namespace koord::kube::schema
