#pragma once
#include <string_view>

// The label and annotation keys that Koordinator gives a meaning. kLabel... are labels,
// kAnnotation... annotations; the payloads of the structured ones are in the headers named beside
// each group.
namespace koord::api {

// --- Pods: class and priority (qos.h, priority.h) ---

// LSE, LSR, LS, BE or SYSTEM.
inline constexpr std::string_view kLabelQosClass = "koordinator.sh/qosClass";
// Sub-priority: orders pods inside one band; an int32.
inline constexpr std::string_view kLabelPriority = "koordinator.sh/priority";
// koord-prod, ...: decides the class without looking at spec.priority.
inline constexpr std::string_view kLabelPriorityClass = "koordinator.sh/priority-class";
// Never or PreemptLowerPriority.
inline constexpr std::string_view kLabelPreemptionPolicy =
    "scheduling.koordinator.sh/preemption-policy";
// "true": never a victim of a reservation's preemption.
inline constexpr std::string_view kLabelDisablePreemptible =
    "scheduling.koordinator.sh/disable-preemptible";

// --- Pods: admission and what the scheduler makes of them ---

// "true": the mutating webhook also acts when the pod is updated.
inline constexpr std::string_view kLabelMutatingUpdate = "pod.koordinator.sh/mutating-update";
// "true": the enhanced validator leaves the pod alone.
inline constexpr std::string_view kLabelSkipEnhancedValidation =
    "pod.koordinator.sh/skip-enhanced-validation";
// Any value: the binding webhook lets the pod pass.
inline constexpr std::string_view kLabelBindingAdmissionBypass =
    "koordinator.sh/binding-admission-bypass";
// Replaces spec.schedulerName in the scheduler's view; counts even if empty.
inline constexpr std::string_view kLabelSchedulerName = "scheduling.koordinator.sh/scheduler-name";
// What spec.schedulerName was before; only in the scheduler's memory.
inline constexpr std::string_view kAnnotationOriginalSchedulerName =
    "internal.scheduling.koordinator.sh/original-scheduler-name";
// "a:b,c:": resources to rename or erase (pod_annotations.h).
inline constexpr std::string_view kAnnotationReplaceResources =
    "pod.koordinator.sh/replace-resources";
// Batch resources of each container, for the node agent (pod_annotations.h).
inline constexpr std::string_view kAnnotationExtendedResourceSpec =
    "node.koordinator.sh/extended-resource-spec";
// "Koordinator" on what koordlet creates.
inline constexpr std::string_view kLabelManagedBy = "app.kubernetes.io/managed-by";

// --- CPU orchestration and NUMA (cpu_annotations.h) ---

// How a pod wants its CPUs.
inline constexpr std::string_view kAnnotationResourceSpec =
    "scheduling.koordinator.sh/resource-spec";
// How a pod wants its resources aligned to NUMA nodes.
inline constexpr std::string_view kAnnotationNumaTopologySpec =
    "scheduling.koordinator.sh/numa-topology-spec";
// Which CPUs and NUMA resources a pod or reservation got.
inline constexpr std::string_view kAnnotationResourceStatus =
    "scheduling.koordinator.sh/resource-status";
// Node: None, FullPCPUsOnly or SpreadByPCPUs.
inline constexpr std::string_view kLabelNodeCpuBindPolicy = "node.koordinator.sh/cpu-bind-policy";
// Node: MostAllocated or LeastAllocated.
inline constexpr std::string_view kLabelNodeNumaAllocateStrategy =
    "node.koordinator.sh/numa-allocate-strategy";
// Node: empty, BestEffort, Restricted or SingleNUMANode.
inline constexpr std::string_view kLabelNodeNumaTopologyPolicy =
    "node.koordinator.sh/numa-topology-policy";
// Node, copied to its NodeResourceTopology: "true".
inline constexpr std::string_view kLabelEnableNumaReservation =
    "node.koordinator.sh/enable-numa-reservation";
// Node: resources kept for what Kubernetes does not manage.
inline constexpr std::string_view kAnnotationNodeReservation = "node.koordinator.sh/reservation";
// Node: CPUs of the SYSTEM class.
inline constexpr std::string_view kAnnotationSystemQosResource =
    "node.koordinator.sh/system-qos-resource";

// --- Reservations (reservation_annotations.h) ---

// Pod: which reservations it may use; present but empty means any that it matches.
inline constexpr std::string_view kAnnotationReservationAffinity =
    "scheduling.koordinator.sh/reservation-affinity";
// Pod: the reservation it was given.
inline constexpr std::string_view kAnnotationReservationAllocated =
    "scheduling.koordinator.sh/reservation-allocated";
// Pod: names a reservation that has no owners.
inline constexpr std::string_view kLabelReservation = "scheduling.koordinator.sh/reservation";
// Pod: "true": takes no reservation but may use reserved resources.
inline constexpr std::string_view kLabelReservationIgnored =
    "scheduling.koordinator.sh/reservation-ignored";
// Reservation: smaller non-zero first; an int64.
inline constexpr std::string_view kLabelReservationOrder =
    "scheduling.koordinator.sh/reservation-order";
// Reservation: the resources to which the Restricted policy applies.
inline constexpr std::string_view kAnnotationReservationRestrictedOptions =
    "scheduling.koordinator.sh/reservation-restricted-options";
// Pod: resources of which the reservation must have exactly as much.
inline constexpr std::string_view kAnnotationExactMatchReservation =
    "scheduling.koordinator.sh/exact-match-reservation";
// Reservation: "true": only to be placed by pre-allocation.
inline constexpr std::string_view kLabelPreAllocationRequired =
    "scheduling.koordinator.sh/pre-allocation-required";
// Pod: "true": its resources may be pre-allocated to a reservation.
inline constexpr std::string_view kLabelPreAllocatable = "pod.koordinator.sh/is-pre-allocatable";
// Pod: a number, higher first.
inline constexpr std::string_view kAnnotationPreAllocatablePriority =
    "pod.koordinator.sh/pre-allocatable-priority";
// Pod: Runnable (default) or Reservation (the pod itself acts as a reservation).
inline constexpr std::string_view kLabelOperatingMode = "scheduling.koordinator.sh/operating-mode";
// Pod in Reservation mode: who may use it.
inline constexpr std::string_view kAnnotationReservationOwners =
    "scheduling.koordinator.sh/reservation-owners";
// Reservation that is used once, or pod in Reservation mode: who has used it up.
inline constexpr std::string_view kAnnotationReservationCurrentOwner =
    "scheduling.koordinator.sh/reservation-current-owner";
// Reservation: the allocatable it is to be resized to.
inline constexpr std::string_view kAnnotationReservationResizeAllocatable =
    "scheduling.koordinator.sh/reservation-resize-allocatable";
// Only on the scheduler's own stand-in for a reservation; users may not set the first.
inline constexpr std::string_view kAnnotationReservePod = "scheduling.koordinator.sh/reserve-pod";
inline constexpr std::string_view kAnnotationReservationName =
    "scheduling.koordinator.sh/reservation-name";
inline constexpr std::string_view kAnnotationReservePolicy =
    "scheduling.koordinator.sh/reserve-policy";
inline constexpr std::string_view kAnnotationReservationNode =
    "scheduling.koordinator.sh/reservation-node";
inline constexpr std::string_view kAnnotationIsPreAllocation =
    "scheduling.koordinator.sh/is-pre-allocation";

// --- Devices (device_annotations.h) ---

// Pod or reservation: the devices it was given.
inline constexpr std::string_view kAnnotationDeviceAllocated =
    "scheduling.koordinator.sh/device-allocated";
// Pod: which devices it prefers.
inline constexpr std::string_view kAnnotationDeviceAllocateHint =
    "scheduling.koordinator.sh/device-allocate-hint";
// Pod: device types to be taken together.
inline constexpr std::string_view kAnnotationDeviceJointAllocate =
    "scheduling.koordinator.sh/device-joint-allocate";
// Pod: how it wants its GPUs partitioned.
inline constexpr std::string_view kAnnotationGpuPartitionSpec =
    "scheduling.koordinator.sh/gpu-partition-spec";
// Device: the partitions that the machine offers.
inline constexpr std::string_view kAnnotationGpuPartitions =
    "scheduling.koordinator.sh/gpu-partitions";
// Node or Device: Honor; anything else is Prefer.
inline constexpr std::string_view kLabelGpuPartitionPolicy =
    "node.koordinator.sh/gpu-partition-policy";
// Device: "true", "false" or absent.
inline constexpr std::string_view kLabelSecondaryDeviceWellPlanned =
    "node.koordinator.sh/secondary-device-well-planned";
// Device, copied to its Node.
inline constexpr std::string_view kLabelGpuVendor = "node.koordinator.sh/gpu-vendor";
inline constexpr std::string_view kLabelGpuModel = "node.koordinator.sh/gpu-model";
inline constexpr std::string_view kLabelGpuDriverVersion = "node.koordinator.sh/gpu-driver-version";
// Older names of the last two; written beside them.
inline constexpr std::string_view kLabelDeprecatedGpuModel = "kubernetes.io/gpu-model";
inline constexpr std::string_view kLabelDeprecatedGpuDriver = "kubernetes.io/gpu-driver";
// Pod and Node: who isolates pods that share a GPU, e.g. HAMi-core.
inline constexpr std::string_view kLabelGpuIsolationProvider =
    "koordinator.sh/gpu-isolation-provider";
// Pod: its node, for the vGPU monitor.
inline constexpr std::string_view kLabelHamiVgpuNode = "hami.io/vgpu-node";
// Pod, for device plugins of vendors: when it was bound (unix nanoseconds) and to which GPUs.
inline constexpr std::string_view kAnnotationBindTimestamp =
    "scheduling.koordinator.sh/bind-timestamp";
inline constexpr std::string_view kAnnotationGpuMinors = "scheduling.koordinator.sh/gpu-minors";
// Pod: formats of the vendors' own.
inline constexpr std::string_view kAnnotationPredicateTime = "predicate-time";
inline constexpr std::string_view kAnnotationHuaweiNpuCore = "huawei.com/npu-core";
inline constexpr std::string_view kAnnotationHuaweiAscend310P = "huawei.com/Ascend310P";
inline constexpr std::string_view kAnnotationCambriconAssigned = "CAMBRICON_DSMLU_ASSIGHED";
inline constexpr std::string_view kAnnotationCambriconProfile = "CAMBRICON_DSMLU_PROFILE";
inline constexpr std::string_view kAnnotationMetaxAllocated =
    "metax-tech.com/gpu-devices-allocated";
// Node: locks of the vendors, good for five minutes.
inline constexpr std::string_view kAnnotationHamiMutexLock = "hami.io/mutex.lock";
inline constexpr std::string_view kAnnotationCambriconLock = "cambricon.com/dsmlu.lock";

// --- Nodes and NodeResourceTopology (node_annotations.h) ---

// NodeResourceTopology: every logical CPU with its core, socket and NUMA node.
inline constexpr std::string_view kAnnotationCpuTopology = "node.koordinator.sh/cpu-topology";
// NodeResourceTopology: CPUs that pods hold.
inline constexpr std::string_view kAnnotationPodCpuAllocs = "node.koordinator.sh/pod-cpu-allocs";
// NodeResourceTopology: the CPUs that LS and BE pods share.
inline constexpr std::string_view kAnnotationCpuSharedPools =
    "node.koordinator.sh/cpu-shared-pools";
inline constexpr std::string_view kAnnotationBeCpuSharedPools =
    "node.koordinator.sh/be-cpu-shared-pools";
// NodeResourceTopology: what the kubelet does with CPUs.
inline constexpr std::string_view kAnnotationKubeletCpuManagerPolicy =
    "kubelet.koordinator.sh/cpu-manager-policy";
// NodeResourceTopology: the CPU's model and switches.
inline constexpr std::string_view kAnnotationCpuBasicInfo = "node.koordinator.sh/cpu-basic-info";
// Node: how much a CPU of it is worth, two decimals.
inline constexpr std::string_view kAnnotationCpuNormalizationRatio =
    "node.koordinator.sh/cpu-normalization-ratio";
// Node: a boolean that overrides the configured strategy.
inline constexpr std::string_view kLabelCpuNormalizationEnabled =
    "node.koordinator.sh/cpu-normalization-enabled";
// Node: by how much each resource is amplified.
inline constexpr std::string_view kAnnotationResourceAmplificationRatio =
    "node.koordinator.sh/resource-amplification-ratio";
// Node: allocatable before amplification.
inline constexpr std::string_view kAnnotationRawAllocatable = "node.koordinator.sh/raw-allocatable";
// Node: a colocation strategy of its own, merged over the configured one.
inline constexpr std::string_view kAnnotationColocationStrategy =
    "node.koordinator.sh/colocation-strategy";
// Node: decimal numbers that override single percentages of the strategy.
inline constexpr std::string_view kLabelCpuReclaimRatio = "node.koordinator.sh/cpu-reclaim-ratio";
inline constexpr std::string_view kLabelMemoryReclaimRatio =
    "node.koordinator.sh/memory-reclaim-ratio";
inline constexpr std::string_view kLabelMidStaticCpuReservedRatio =
    "node.koordinator.sh/mid-static-cpu-reserved-ratio";
inline constexpr std::string_view kLabelMidStaticMemoryReservedRatio =
    "node.koordinator.sh/mid-static-memory-reserved-ratio";
// Node: batch and mid resources before third parties took theirs.
inline constexpr std::string_view kAnnotationOriginExtendedAllocatable =
    "node.koordinator.sh/originExtendedAllocatable";
// Node: what third parties took.
inline constexpr std::string_view kAnnotationThirdPartyAllocations =
    "node.koordinator.sh/thirdPartyAllocations";
// Node: bits per second, a quantity.
inline constexpr std::string_view kAnnotationNetworkBandwidth =
    "node.koordinator.sh/network-bandwidth";
// Node: load thresholds of its own.
inline constexpr std::string_view kAnnotationUsageThresholds =
    "scheduling.koordinator.sh/usage-thresholds";

// --- Elastic quota (elastic_quota.h) ---

// Pod: the quota to charge.
inline constexpr std::string_view kLabelQuotaName = "quota.scheduling.koordinator.sh/name";
// Pod: "false": must fit into the quota's min and is never preempted.
inline constexpr std::string_view kLabelQuotaPreemptible =
    "quota.scheduling.koordinator.sh/preemptible";
// Quota: its place in the tree.
inline constexpr std::string_view kLabelQuotaIsParent = "quota.scheduling.koordinator.sh/is-parent";
inline constexpr std::string_view kLabelQuotaParent = "quota.scheduling.koordinator.sh/parent";
inline constexpr std::string_view kLabelQuotaIsRoot = "quota.scheduling.koordinator.sh/is-root";
inline constexpr std::string_view kLabelQuotaTreeId = "quota.scheduling.koordinator.sh/tree-id";
// Quota: "false" keeps its unused min to itself.
inline constexpr std::string_view kLabelQuotaAllowLentResource =
    "quota.scheduling.koordinator.sh/allow-lent-resource";
// Quota: "true": not part of the default tree.
inline constexpr std::string_view kLabelQuotaIgnoreDefaultTree =
    "quota.scheduling.koordinator.sh/ignore-default-tree";
// Quota: the ElasticQuotaProfile that owns it.
inline constexpr std::string_view kLabelQuotaProfile = "quota.scheduling.koordinator.sh/profile";
// Quota: "true": may be changed although pods use it.
inline constexpr std::string_view kLabelQuotaAllowForceUpdate =
    "quota.scheduling.koordinator.sh/allow-force-update";
// Quota: its share of what is left; spec.max if absent.
inline constexpr std::string_view kAnnotationQuotaSharedWeight =
    "quota.scheduling.koordinator.sh/shared-weight";
// Quota: namespaces whose pods it is charged for.
inline constexpr std::string_view kAnnotationQuotaNamespaces =
    "quota.scheduling.koordinator.sh/namespaces";
// Root quota of a tree: what the tree has, and what of it cannot be used.
inline constexpr std::string_view kAnnotationQuotaTotalResource =
    "quota.scheduling.koordinator.sh/total-resource";
inline constexpr std::string_view kAnnotationQuotaUnschedulableResource =
    "quota.scheduling.koordinator.sh/unschedulable-resource";
// Quota: the resources it is about.
inline constexpr std::string_view kAnnotationQuotaResourceKeys =
    "quota.scheduling.koordinator.sh/resource-keys";
// Quota: amounts that the scheduler reports.
inline constexpr std::string_view kAnnotationQuotaRuntime =
    "quota.scheduling.koordinator.sh/runtime";
inline constexpr std::string_view kAnnotationQuotaRequest =
    "quota.scheduling.koordinator.sh/request";
inline constexpr std::string_view kAnnotationQuotaChildRequest =
    "quota.scheduling.koordinator.sh/child-request";
inline constexpr std::string_view kAnnotationQuotaGuaranteed =
    "quota.scheduling.koordinator.sh/guaranteed";
inline constexpr std::string_view kAnnotationQuotaAllocated =
    "quota.scheduling.koordinator.sh/allocated";
inline constexpr std::string_view kAnnotationQuotaNonPreemptibleRequest =
    "quota.scheduling.koordinator.sh/non-preemptible-request";
inline constexpr std::string_view kAnnotationQuotaNonPreemptibleUsed =
    "quota.scheduling.koordinator.sh/non-preemptible-used";
// Quota: the limit that admission enforces.
inline constexpr std::string_view kAnnotationQuotaAdmission =
    "quota.scheduling.koordinator.sh/admission";
// Quota: resources of which the children's max may not exceed the parent's.
inline constexpr std::string_view kAnnotationQuotaMaxStrictCheckResourceKeys =
    "quota.scheduling.koordinator.sh/max-strict-check-resource-keys";

// --- Gangs (gang.h) ---

// Pod: the gang it belongs to; the labels go before the annotation.
inline constexpr std::string_view kLabelPodGroup = "pod-group.scheduling.sigs.k8s.io";
inline constexpr std::string_view kLabelPodGroupName = "pod-group.scheduling.sigs.k8s.io/name";
inline constexpr std::string_view kAnnotationGangName = "gang.scheduling.koordinator.sh/name";
// Pod: how many members must be placed together; the label is the deprecated form.
inline constexpr std::string_view kAnnotationGangMinAvailable =
    "gang.scheduling.koordinator.sh/min-available";
inline constexpr std::string_view kLabelPodGroupMinAvailable =
    "pod-group.scheduling.sigs.k8s.io/min-available";
// Pod or PodGroup: how long members wait for each other.
inline constexpr std::string_view kAnnotationGangWaitingTime =
    "gang.scheduling.koordinator.sh/waiting-time";
// Pod or PodGroup: how many members there will be.
inline constexpr std::string_view kAnnotationGangTotalNumber =
    "gang.scheduling.koordinator.sh/total-number";
// Strict or NonStrict.
inline constexpr std::string_view kAnnotationGangMode = "gang.scheduling.koordinator.sh/mode";
// Gangs that are placed together.
inline constexpr std::string_view kAnnotationGangGroups = "gang.scheduling.koordinator.sh/groups";
// Which pods count as members; the second is an alias.
inline constexpr std::string_view kAnnotationGangMatchPolicy =
    "gang.scheduling.koordinator.sh/match-policy";
inline constexpr std::string_view kAnnotationPodGroupMatchPolicy =
    "pod-group.scheduling.sigs.k8s.io/match-policy";
// Pod: its gang ran out of time.
inline constexpr std::string_view kAnnotationGangTimeout = "gang.scheduling.koordinator.sh/timeout";
// PodGroup or pod: how close together in the network.
inline constexpr std::string_view kAnnotationGangNetworkTopologySpec =
    "gang.scheduling.koordinator.sh/network-topology-spec";
// Pod: its rank in the gang.
inline constexpr std::string_view kAnnotationGangNetworkTopologyIndex =
    "gang.scheduling.koordinator.sh/network-topology-index";
inline constexpr std::string_view kAnnotationNetworkTopologySelector =
    "scheduling.koordinator.sh/network-topology-selector";
// Pod: the gang group it was bound with; each with its deprecated name.
inline constexpr std::string_view kAnnotationBindGangGroupId =
    "internal.scheduling.koordinator.sh/bind-gang-group-id";
inline constexpr std::string_view kAnnotationDeprecatedBindGangGroupId =
    "scheduling.koordinator.sh/bind-gang-group-id";
inline constexpr std::string_view kAnnotationBindGangMemberCount =
    "internal.scheduling.koordinator.sh/bind-gang-member-count";
inline constexpr std::string_view kAnnotationDeprecatedBindGangMemberCount =
    "scheduling.koordinator.sh/bind-gang-member-count";
// Pod: nodes to try first (pod_annotations.h); the second is the deprecated name.
inline constexpr std::string_view kAnnotationSchedulingHint =
    "internal.scheduling.koordinator.sh/scheduling-hint";
inline constexpr std::string_view kAnnotationDeprecatedSchedulingHint =
    "scheduling.koordinator.sh/scheduling-hint";
// Pod: what a ScheduleExplanation asks about.
inline constexpr std::string_view kLabelQuestionedObjectKey =
    "scheduling.koordinator.sh/questioned-object-key";
inline constexpr std::string_view kLabelTopologyKeyToExplain =
    "scheduling.koordinator.sh/topology-key-to-explain";

// --- Load-aware estimation on pods (pod_annotations.h) ---

// Percent of the request per resource.
inline constexpr std::string_view kAnnotationLoadEstimatedScalingFactors =
    "scheduling.koordinator.sh/load-estimated-scaling-factors";
// For how many seconds the estimate stands in for the measured usage.
inline constexpr std::string_view kAnnotationLoadEstimatedSecondsAfterPodScheduled =
    "scheduling.koordinator.sh/load-estimated-seconds-after-pod-scheduled";
inline constexpr std::string_view kAnnotationLoadEstimatedSecondsAfterInitialized =
    "scheduling.koordinator.sh/load-estimated-seconds-after-initialized";

// --- What koordlet does to a pod (koordlet_annotations.h) ---

inline constexpr std::string_view kAnnotationCpuBurst = "koordinator.sh/cpuBurst";
inline constexpr std::string_view kAnnotationCpuQos = "koordinator.sh/cpuQOS";
inline constexpr std::string_view kAnnotationMemoryQos = "koordinator.sh/memoryQOS";
inline constexpr std::string_view kAnnotationBlkioQos = "koordinator.sh/blkioQOS";
inline constexpr std::string_view kAnnotationNetworkQos = "koordinator.sh/networkQOS";
inline constexpr std::string_view kAnnotationResctrl = "node.koordinator.sh/resctrl";
// Which pods may share a core; none or exclusive.
inline constexpr std::string_view kLabelCoreSchedGroupId = "koordinator.sh/core-sched-group-id";
inline constexpr std::string_view kLabelCoreSchedPolicy = "koordinator.sh/core-sched-policy";
// "true": koordlet may evict the pod although it is not best effort.
inline constexpr std::string_view kLabelEvictionEnabled = "koordinator.sh/eviction-enabled";
// Which of koordlet's features may evict it.
inline constexpr std::string_view kAnnotationEvictionPolicy = "koordinator.sh/eviction-policy";
// Lower is evicted first; an int32.
inline constexpr std::string_view kAnnotationEvictionPriority = "koordinator.sh/eviction-priority";
// For all containers, and for single ones.
inline constexpr std::string_view kAnnotationOomScoreAdj = "koordinator.sh/oom-score-adj";
inline constexpr std::string_view kAnnotationOomScoreAdjSpec = "koordinator.sh/oom-score-adj-spec";
// "true", as label or annotation: the runtime proxy passes the pod's calls straight through.
inline constexpr std::string_view kKeySkipHookServer =
    "runtimeproxy.koordinator.sh/skip-hookserver";

// --- Descheduling (descheduler_annotations.h) ---

// Pod: what moving it costs; the largest int32 means never.
inline constexpr std::string_view kAnnotationEvictionCost =
    "scheduling.koordinator.sh/eviction-cost";
// Pod: asked to leave by itself.
inline constexpr std::string_view kAnnotationSoftEviction =
    "scheduling.koordinator.sh/soft-eviction";
// PodMigrationJob or pod: Eviction, Delete or SoftEviction.
inline constexpr std::string_view kLabelEvictPolicy = "koordinator.sh/evict-policy";
// PodMigrationJob: why, by which plugin, and by which controller instance.
inline constexpr std::string_view kAnnotationEvictReason = "koordinator.sh/evict-reason";
inline constexpr std::string_view kAnnotationEvictTrigger = "koordinator.sh/evict-trigger";
inline constexpr std::string_view kAnnotationJobCreatedBy = "koordinator.sh/job-created-by";
// PodMigrationJob: "true" once it may proceed.
inline constexpr std::string_view kAnnotationPassedArbitration =
    "descheduler.koordinator.sh/passed-arbitration";
// Pod, only in the descheduler's memory.
inline constexpr std::string_view kAnnotationPodArbitrating =
    "descheduler.koordinator.sh/pod-arbitrating";
// Reservation: koord-descheduler on those that a migration made.
inline constexpr std::string_view kLabelCreatedBy = "app.kubernetes.io/created-by";
// Pod: present: evictable whatever the filters say.
inline constexpr std::string_view kAnnotationEvictable = "descheduler.alpha.kubernetes.io/evict";
// Pod: written by ScaleDownBinPack.
inline constexpr std::string_view kAnnotationPodDeletionCost =
    "controller.kubernetes.io/pod-deletion-cost";

// --- Administration ---

// ConfigMap: slo-controller-config: checked by the validating webhook.
inline constexpr std::string_view kLabelConfigMapType = "koordinator.sh/configmap-type";
// Namespace: any value: exempt from the pod and quota webhooks.
inline constexpr std::string_view kLabelControlPlane = "control-plane";
// The component that an installed workload belongs to.
inline constexpr std::string_view kLabelKoordApp = "koord-app";
// ClusterColocationProfile: "true": existing pods are updated too.
inline constexpr std::string_view kLabelProfileControllerManaged =
    "config.koordinator.sh/controller-managed";
// ClusterColocationProfile: present: resources are not rewritten.
inline constexpr std::string_view kAnnotationProfileSkipUpdateResources =
    "config.koordinator.sh/skip-update-resources";

}  // namespace koord::api
