#include "kube/schema/builtin_types.h"

namespace koord::kube::schema {

const GroupSource kCoreTypes = {
    .api_version = "v1",
    .openapi_prefix = "io.k8s.api.core.v1.",
    .messages = R"(
Affinity: nodeAffinity NodeAffinity?, podAffinity PodAffinity?, podAntiAffinity PodAntiAffinity?
AppArmorProfile: type !, localhostProfile ?
AttachedVolume: name !, devicePath !
kind Binding: metadata ObjectMeta, target ObjectReference!
Capabilities: add [s], drop [s]
ClientIPConfig: timeoutSeconds i?
kind ConfigMap: metadata ObjectMeta, data map:s, binaryData map:y, immutable b?
ConfigMapEnvSource: localObjectReference^ LocalObjectReference, optional b?
atomic ConfigMapKeySelector: localObjectReference^ LocalObjectReference, key !, optional b?
ConfigMapNodeConfigSource: namespace !, name !, uid, resourceVersion, kubeletConfigKey !
Container: name !, image, command [s], args [s], workingDir,
  ports [ContainerPort] merge=containerPort keys=containerPort+protocol, env [EnvVar] merge=name,
  resources ResourceRequirements, volumeMounts [VolumeMount] merge=mountPath,
  livenessProbe Probe?, readinessProbe Probe?, lifecycle Lifecycle?, terminationMessagePath,
  imagePullPolicy, securityContext SecurityContext?, stdin b, stdinOnce b, tty b,
  envFrom [EnvFromSource], terminationMessagePolicy,
  volumeDevices [VolumeDevice] merge=devicePath, startupProbe Probe?,
  resizePolicy [ContainerResizePolicy], restartPolicy ?, restartPolicyRules [ContainerRestartRule]
ContainerExtendedResourceRequest: containerName !, resourceName !, requestName !
ContainerImage: names [s], sizeBytes i
ContainerPort: name, hostPort i, containerPort i!, protocol, hostIP
ContainerResizePolicy: resourceName !, restartPolicy !
ContainerRestartRule: action !, exitCodes ContainerRestartRuleOnExitCodes?
ContainerRestartRuleOnExitCodes: operator !, values [i]
ContainerState: waiting ContainerStateWaiting?, running ContainerStateRunning?,
  terminated ContainerStateTerminated?
ContainerStateRunning: startedAt Time
ContainerStateTerminated: exitCode i!, signal i, reason, message, startedAt Time, finishedAt Time,
  containerID
ContainerStateWaiting: reason, message
ContainerStatus: name !, state ContainerState, lastState ContainerState, ready b!,
  restartCount i!, image !, imageID !, containerID, started b?, allocatedResources map:Quantity,
  resources ResourceRequirements?, volumeMounts [VolumeMountStatus] merge=mountPath,
  user ContainerUser?, allocatedResourcesStatus [ResourceStatus] merge=name, stopSignal ?
ContainerUser: linux LinuxContainerUser?
DaemonEndpoint: Port i!
EnvFromSource: prefix, configMapRef ConfigMapEnvSource?, secretRef SecretEnvSource?
EnvVar: name !, value, valueFrom EnvVarSource?
EnvVarSource: fieldRef ObjectFieldSelector?, resourceFieldRef ResourceFieldSelector?,
  configMapKeyRef ConfigMapKeySelector?, secretKeyRef SecretKeySelector?,
  fileKeyRef FileKeySelector?
EphemeralContainer: ephemeralContainerCommon^ EphemeralContainerCommon, targetContainerName
EphemeralContainerCommon: name !, image, command [s], args [s], workingDir,
  ports [ContainerPort] merge=containerPort keys=containerPort+protocol, env [EnvVar] merge=name,
  resources ResourceRequirements, volumeMounts [VolumeMount] merge=mountPath,
  livenessProbe Probe?, readinessProbe Probe?, lifecycle Lifecycle?, terminationMessagePath,
  imagePullPolicy, securityContext SecurityContext?, stdin b, stdinOnce b, tty b,
  envFrom [EnvFromSource], terminationMessagePolicy,
  volumeDevices [VolumeDevice] merge=devicePath, startupProbe Probe?,
  resizePolicy [ContainerResizePolicy], restartPolicy ?, restartPolicyRules [ContainerRestartRule]
kind Event: metadata ObjectMeta!, involvedObject ObjectReference!, reason, message,
  source EventSource, firstTimestamp Time, lastTimestamp Time, count i, type, eventTime MicroTime,
  series EventSeries?, action, related ObjectReference?, reportingComponent, reportingInstance
EventSeries: count i, lastObservedTime MicroTime
EventSource: component, host
ExecAction: command [s]
atomic FileKeySelector: volumeName !, path !, key !, optional b?
GRPCAction: port i!, service ?
HTTPGetAction: path, port IntOrString!, host, scheme, httpHeaders [HTTPHeader]
HTTPHeader: name !, value !
HostAlias: ip !, hostnames [s]
HostIP: ip !
Lifecycle: postStart LifecycleHandler?, preStop LifecycleHandler?, stopSignal ?
LifecycleHandler: exec ExecAction?, httpGet HTTPGetAction?, tcpSocket TCPSocketAction?,
  sleep SleepAction?
kind LimitRange: metadata ObjectMeta, spec LimitRangeSpec
LimitRangeItem: type !, max map:Quantity, min map:Quantity, default map:Quantity,
  defaultRequest map:Quantity, maxLimitRequestRatio map:Quantity
LimitRangeSpec: limits [LimitRangeItem]!
LinuxContainerUser: uid i!, gid i!, supplementalGroups [i]
LoadBalancerIngress: ip, hostname, ipMode ?, ports [PortStatus]
LoadBalancerStatus: ingress [LoadBalancerIngress]
atomic LocalObjectReference: name
ModifyVolumeStatus: targetVolumeAttributesClassName, status !
kind Namespace: metadata ObjectMeta, spec NamespaceSpec, status NamespaceStatus
NamespaceCondition: type !, status !, 4.lastTransitionTime Time, reason, message
NamespaceSpec: finalizers [s]
NamespaceStatus: phase, conditions [NamespaceCondition] merge=type
kind Node: metadata ObjectMeta, spec NodeSpec, status NodeStatus
NodeAddress: type !, address !
NodeAffinity: requiredDuringSchedulingIgnoredDuringExecution NodeSelector?,
  preferredDuringSchedulingIgnoredDuringExecution [PreferredSchedulingTerm]
NodeCondition: type !, status !, lastHeartbeatTime Time, lastTransitionTime Time, reason, message
NodeConfigSource: 2.configMap ConfigMapNodeConfigSource?
NodeConfigStatus: assigned NodeConfigSource?, active NodeConfigSource?,
  lastKnownGood NodeConfigSource?, error
NodeDaemonEndpoints: kubeletEndpoint DaemonEndpoint
NodeFeatures: supplementalGroupsPolicy b?
NodeRuntimeHandler: name, features NodeRuntimeHandlerFeatures?
NodeRuntimeHandlerFeatures: recursiveReadOnlyMounts b?, userNamespaces b?
atomic NodeSelector: nodeSelectorTerms [NodeSelectorTerm]!
NodeSelectorRequirement: key !, operator !, values [s]
atomic NodeSelectorTerm: matchExpressions [NodeSelectorRequirement],
  matchFields [NodeSelectorRequirement]
NodeSpec: podCIDR, externalID, providerID, unschedulable b, taints [Taint],
  configSource NodeConfigSource?, podCIDRs [s] merge
NodeStatus: capacity map:Quantity, allocatable map:Quantity, phase,
  conditions [NodeCondition] merge=type, addresses [NodeAddress] merge=type atomic,
  daemonEndpoints NodeDaemonEndpoints, nodeInfo NodeSystemInfo, images [ContainerImage],
  volumesInUse [s], volumesAttached [AttachedVolume], config NodeConfigStatus?,
  runtimeHandlers [NodeRuntimeHandler], features NodeFeatures?, declaredFeatures [s]
NodeSwapStatus: capacity i?
NodeSystemInfo: machineID !, systemUUID !, bootID !, kernelVersion !, osImage !,
  containerRuntimeVersion !, kubeletVersion !, kubeProxyVersion !, operatingSystem !,
  architecture !, swap NodeSwapStatus?
atomic ObjectFieldSelector: apiVersion, fieldPath !
atomic ObjectReference: kind, namespace, name, uid, apiVersion, resourceVersion, fieldPath
kind PersistentVolumeClaim: metadata ObjectMeta, spec PersistentVolumeClaimSpec,
  status PersistentVolumeClaimStatus
PersistentVolumeClaimCondition: type !, status !, lastProbeTime Time, lastTransitionTime Time,
  reason, message
PersistentVolumeClaimSpec: accessModes [s], resources VolumeResourceRequirements, volumeName,
  selector LabelSelector?, storageClassName ?, volumeMode ?,
  dataSource TypedLocalObjectReference?, dataSourceRef TypedObjectReference?,
  volumeAttributesClassName ?
PersistentVolumeClaimStatus: phase, accessModes [s], capacity map:Quantity,
  conditions [PersistentVolumeClaimCondition] merge=type, allocatedResources map:Quantity,
  7.allocatedResourceStatuses map:s, currentVolumeAttributesClassName ?,
  modifyVolumeStatus ModifyVolumeStatus?
PersistentVolumeClaimTemplate: metadata ObjectMeta, spec PersistentVolumeClaimSpec!
kind Pod: metadata ObjectMeta, spec PodSpec, status PodStatus
PodAffinity: requiredDuringSchedulingIgnoredDuringExecution [PodAffinityTerm],
  preferredDuringSchedulingIgnoredDuringExecution [WeightedPodAffinityTerm]
PodAffinityTerm: labelSelector LabelSelector?, namespaces [s], topologyKey !,
  namespaceSelector LabelSelector?, matchLabelKeys [s], mismatchLabelKeys [s]
PodAntiAffinity: requiredDuringSchedulingIgnoredDuringExecution [PodAffinityTerm],
  preferredDuringSchedulingIgnoredDuringExecution [WeightedPodAffinityTerm]
PodCondition: type !, status !, lastProbeTime Time, lastTransitionTime Time, reason, message,
  observedGeneration i
PodDNSConfig: nameservers [s], searches [s], options [PodDNSConfigOption]
PodDNSConfigOption: name, value ?
PodExtendedResourceClaimStatus: requestMappings [ContainerExtendedResourceRequest]!,
  resourceClaimName !
PodIP: ip !
PodOS: name !
PodReadinessGate: conditionType !
PodResourceClaim: name !, 3.resourceClaimName ?, resourceClaimTemplateName ?
PodResourceClaimStatus: name !, resourceClaimName ?
PodSchedulingGate: name !
PodSecurityContext: seLinuxOptions SELinuxOptions?, runAsUser i?, runAsNonRoot b?,
  supplementalGroups [i], fsGroup i?, runAsGroup i?, sysctls [Sysctl],
  windowsOptions WindowsSecurityContextOptions?, fsGroupChangePolicy ?,
  seccompProfile SeccompProfile?, appArmorProfile AppArmorProfile?, supplementalGroupsPolicy ?,
  seLinuxChangePolicy ?
PodSpec: volumes [Volume] merge=name retain, containers [Container]! merge=name, restartPolicy,
  terminationGracePeriodSeconds i?, activeDeadlineSeconds i?, dnsPolicy,
  nodeSelector map:s atomic, serviceAccountName, serviceAccount, nodeName, hostNetwork b,
  hostPID b, hostIPC b, securityContext PodSecurityContext?,
  imagePullSecrets [LocalObjectReference] merge=name, hostname, subdomain, affinity Affinity?,
  schedulerName, initContainers [Container] merge=name, automountServiceAccountToken b?,
  tolerations [Toleration], hostAliases [HostAlias] merge=ip, priorityClassName, priority i?,
  dnsConfig PodDNSConfig?, shareProcessNamespace b?, readinessGates [PodReadinessGate],
  runtimeClassName ?, enableServiceLinks b?, preemptionPolicy ?, overhead map:Quantity,
  topologySpreadConstraints [TopologySpreadConstraint] merge=topologyKey
    keys=topologyKey+whenUnsatisfiable,
  ephemeralContainers [EphemeralContainer] merge=name, setHostnameAsFQDN b?, os PodOS?,
  hostUsers b?, schedulingGates [PodSchedulingGate] merge=name,
  resourceClaims [PodResourceClaim] merge=name retain, resources ResourceRequirements?,
  hostnameOverride ?, workloadRef WorkloadReference?
PodStatus: phase, conditions [PodCondition] merge=type, message, reason, hostIP, podIP,
  startTime Time?, containerStatuses [ContainerStatus], qosClass,
  initContainerStatuses [ContainerStatus], nominatedNodeName, podIPs [PodIP] merge=ip,
  ephemeralContainerStatuses [ContainerStatus], resize,
  resourceClaimStatuses [PodResourceClaimStatus] merge=name retain,
  hostIPs [HostIP] merge=ip atomic, observedGeneration i,
  extendedResourceClaimStatus PodExtendedResourceClaimStatus?, allocatedResources map:Quantity,
  resources ResourceRequirements?
PodTemplateSpec: metadata ObjectMeta, spec PodSpec
PortStatus: port i!, protocol !, error ?
PreferredSchedulingTerm: weight i!, preference NodeSelectorTerm!
Probe: handler^ ProbeHandler, initialDelaySeconds i, timeoutSeconds i, periodSeconds i,
  successThreshold i, failureThreshold i, terminationGracePeriodSeconds i?
ProbeHandler: exec ExecAction?, httpGet HTTPGetAction?, tcpSocket TCPSocketAction?,
  grpc GRPCAction?
ResourceClaim: name !, request
atomic ResourceFieldSelector: containerName, resource !, divisor Quantity
ResourceHealth: resourceID !, health
kind ResourceQuota: metadata ObjectMeta, spec ResourceQuotaSpec, status ResourceQuotaStatus
ResourceQuotaSpec: hard map:Quantity, scopes [s], scopeSelector ScopeSelector?
ResourceQuotaStatus: hard map:Quantity, used map:Quantity
ResourceRequirements: limits map:Quantity, requests map:Quantity, claims [ResourceClaim] keys=name
ResourceStatus: name !, resources [ResourceHealth]
SELinuxOptions: user, role, type, level
atomic ScopeSelector: matchExpressions [ScopedResourceSelectorRequirement]
ScopedResourceSelectorRequirement: scopeName !, operator !, values [s]
SeccompProfile: type !, localhostProfile ?
kind Secret: metadata ObjectMeta, data map:y, type, stringData map:s, immutable b?
SecretEnvSource: localObjectReference^ LocalObjectReference, optional b?
atomic SecretKeySelector: localObjectReference^ LocalObjectReference, key !, optional b?
SecurityContext: capabilities Capabilities?, privileged b?, seLinuxOptions SELinuxOptions?,
  runAsUser i?, runAsNonRoot b?, readOnlyRootFilesystem b?, allowPrivilegeEscalation b?,
  runAsGroup i?, procMount ?, windowsOptions WindowsSecurityContextOptions?,
  seccompProfile SeccompProfile?, appArmorProfile AppArmorProfile?
kind Service: metadata ObjectMeta, spec ServiceSpec, status ServiceStatus
kind ServiceAccount: metadata ObjectMeta, secrets [ObjectReference] merge=name,
  imagePullSecrets [LocalObjectReference], automountServiceAccountToken b?
ServicePort: name, protocol, port i!, targetPort IntOrString, nodePort i, appProtocol ?
ServiceSpec: ports [ServicePort] merge=port keys=port+protocol, selector map:s atomic, clusterIP,
  type, externalIPs [s], 7.sessionAffinity, loadBalancerIP, loadBalancerSourceRanges [s],
  externalName, externalTrafficPolicy, healthCheckNodePort i, publishNotReadyAddresses b,
  sessionAffinityConfig SessionAffinityConfig?, 17.ipFamilyPolicy ?, clusterIPs [s],
  ipFamilies [s], allocateLoadBalancerNodePorts b?, loadBalancerClass ?, internalTrafficPolicy ?,
  trafficDistribution ?
ServiceStatus: loadBalancer LoadBalancerStatus, conditions [Condition] merge=type
SessionAffinityConfig: clientIP ClientIPConfig?
SleepAction: seconds i!
Sysctl: name !, value !
TCPSocketAction: port IntOrString!, host
Taint: key !, value, effect !, timeAdded Time?
Toleration: key, operator, value, effect, tolerationSeconds i?
TopologySpreadConstraint: maxSkew i!, topologyKey !, whenUnsatisfiable !,
  labelSelector LabelSelector?, minDomains i?, nodeAffinityPolicy ?, nodeTaintsPolicy ?,
  matchLabelKeys [s]
atomic TypedLocalObjectReference: apiGroup ?, kind !, name !
TypedObjectReference: apiGroup ?, kind !, name !, namespace ?
VolumeDevice: name !, devicePath !
VolumeMount: name !, readOnly b, mountPath !, subPath, mountPropagation ?, subPathExpr,
  recursiveReadOnly ?
VolumeMountStatus: name !, mountPath !, readOnly b, recursiveReadOnly ?
VolumeResourceRequirements: limits map:Quantity, requests map:Quantity
WeightedPodAffinityTerm: weight i!, podAffinityTerm PodAffinityTerm!
WindowsSecurityContextOptions: gmsaCredentialSpecName ?, gmsaCredentialSpec ?, runAsUserName ?,
  hostProcess b?
WorkloadReference: name !, podGroup !, podGroupReplicaKey
)",
    .json_messages = R"(
atomic EndpointAddress: ip !, hostname, nodeName ?, targetRef ObjectReference?
atomic EndpointPort: name, port i!, protocol, appProtocol ?
EndpointSubset: addresses [EndpointAddress], notReadyAddresses [EndpointAddress],
  ports [EndpointPort]
kind Endpoints: metadata ObjectMeta, subsets [EndpointSubset]
kind PodTemplate: metadata ObjectMeta, template PodTemplateSpec
kind ReplicationController: metadata ObjectMeta, spec ReplicationControllerSpec,
  status ReplicationControllerStatus
ReplicationControllerCondition: type !, status !, lastTransitionTime Time, reason, message
ReplicationControllerSpec: replicas i?, minReadySeconds i, selector map:s atomic,
  template PodTemplateSpec?
ReplicationControllerStatus: replicas i!, fullyLabeledReplicas i, readyReplicas i,
  availableReplicas i, observedGeneration i,
  conditions [ReplicationControllerCondition] merge=type
)",
};

}  // namespace koord::kube::schema
