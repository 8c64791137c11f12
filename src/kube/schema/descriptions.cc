#include "kube/schema/builtin_types.h"

namespace koord::kube::schema {

const std::string_view kDescriptions = R"(
meta/v1 ObjectMeta: What every object has: its name, its labels and its history.
meta/v1 ObjectMeta.name: Unique among the objects of this kind in the namespace; cannot change.
meta/v1 ObjectMeta.generateName: A prefix from which the server makes a unique name.
meta/v1 ObjectMeta.namespace: The namespace that the object lives in; empty for cluster-wide kinds.
meta/v1 ObjectMeta.uid: Tells this object from others that had the same name before or after it.
meta/v1 ObjectMeta.resourceVersion: Changes with every write; send it back to detect a lost race.
meta/v1 ObjectMeta.generation: Counts the changes of the desired state.
meta/v1 ObjectMeta.creationTimestamp: When the server stored the object first.
meta/v1 ObjectMeta.deletionTimestamp: When the object is to be gone; set by the server on deletion.
meta/v1 ObjectMeta.deletionGracePeriodSeconds: How long the object may take to stop.
meta/v1 ObjectMeta.labels: Short names and values by which objects are selected.
meta/v1 ObjectMeta.annotations: Notes of any size for people and programs; not selectable.
meta/v1 ObjectMeta.ownerReferences: The objects that this one belongs to; it is removed with them.
meta/v1 ObjectMeta.finalizers: Who must agree before the object is removed.
meta/v1 ObjectMeta.managedFields: Which writer set which fields.
meta/v1 LabelSelector: Chooses objects by their labels; both parts must match.
meta/v1 LabelSelector.matchLabels: Labels that must be present with exactly these values.
meta/v1 LabelSelector.matchExpressions: Further requirements, all of which must hold.
meta/v1 LabelSelectorRequirement.operator: In, NotIn, Exists or DoesNotExist.
meta/v1 OwnerReference: Names an object that another one belongs to.
meta/v1 OwnerReference.controller: Whether this owner manages the object; at most one does.
meta/v1 OwnerReference.blockOwnerDeletion: Whether the owner must outlive this object.
meta/v1 Condition: One aspect of an object's state.
meta/v1 Condition.status: True, False or Unknown.
meta/v1 DeleteOptions: How an object is to be deleted.
meta/v1 DeleteOptions.gracePeriodSeconds: Time to stop in; 0 deletes at once.
meta/v1 DeleteOptions.propagationPolicy: Orphan, Background or Foreground treatment of dependents.
meta/v1 Status: The outcome of a request that does not answer with an object.
v1 Pod: One or more containers that run together on a node.
v1 Pod.spec: What is to run, and where it may.
v1 Pod.status: What was last seen of the pod.
v1 PodSpec: What a pod runs and what it asks of its node.
v1 PodSpec.containers: The containers; at least one, their names unique.
v1 PodSpec.initContainers: Containers that run to completion, in order, before the others start.
v1 PodSpec.ephemeralContainers: Containers added to a running pod for debugging.
v1 PodSpec.volumes: Storage that the containers can mount.
v1 PodSpec.restartPolicy: Always, OnFailure or Never.
v1 PodSpec.terminationGracePeriodSeconds: Time between the request to stop and the kill.
v1 PodSpec.activeDeadlineSeconds: How long the pod may run before it is failed.
v1 PodSpec.nodeSelector: Labels that the node must have.
v1 PodSpec.nodeName: The node that the pod is bound to; normally set by the scheduler.
v1 PodSpec.schedulerName: The scheduler that is to place the pod.
v1 PodSpec.serviceAccountName: The account that the pod acts as.
v1 PodSpec.affinity: Which nodes and which neighbours the pod needs, wants or avoids.
v1 PodSpec.tolerations: Taints of nodes that do not keep the pod away.
v1 PodSpec.priorityClassName: The PriorityClass that sets the pod's priority.
v1 PodSpec.priority: Higher is more important; set from the priority class.
v1 PodSpec.preemptionPolicy: Whether the pod may displace less important ones.
v1 PodSpec.topologySpreadConstraints: How evenly pods like this one spread over the cluster.
v1 PodSpec.schedulingGates: While any is left, the pod is not scheduled.
v1 PodSpec.overhead: What the pod costs beyond its containers.
v1 PodSpec.hostNetwork: Use the node's own network.
v1 PodSpec.resources: Requests and limits of the pod as a whole.
v1 PodStatus: What was last seen of a pod.
v1 PodStatus.phase: Pending, Running, Succeeded, Failed or Unknown.
v1 PodStatus.conditions: PodScheduled, Initialized, ContainersReady, Ready and others.
v1 PodStatus.podIP: The address of the pod inside the cluster.
v1 PodStatus.qosClass: Guaranteed, Burstable or BestEffort, from requests and limits.
v1 PodStatus.containerStatuses: The state of each container.
v1 PodStatus.nominatedNodeName: The node on which room is being made for the pod.
v1 Container: One program of a pod.
v1 Container.name: Unique in the pod.
v1 Container.image: What to run.
v1 Container.command: Replaces the image's entry point.
v1 Container.args: Arguments to the entry point.
v1 Container.env: Environment variables.
v1 Container.ports: Ports that the container listens on; informative.
v1 Container.resources: What the container asks for and may use at most.
v1 Container.volumeMounts: Where the pod's volumes appear in the container.
v1 Container.livenessProbe: The container is restarted when this fails.
v1 Container.readinessProbe: The pod takes no traffic while this fails.
v1 Container.startupProbe: The other probes wait until this succeeds.
v1 Container.imagePullPolicy: Always, IfNotPresent or Never.
v1 ResourceRequirements: Requests and limits by resource name.
v1 ResourceRequirements.requests: What is set aside; scheduling counts with it.
v1 ResourceRequirements.limits: What may be used at most.
v1 Affinity: Rules about where a pod may or should run.
v1 Toleration: Lets a pod onto nodes with a matching taint.
v1 Toleration.tolerationSeconds: How long the pod stays once a NoExecute taint appears.
v1 Taint: Keeps pods that do not tolerate it off a node.
v1 Taint.effect: NoSchedule, PreferNoSchedule or NoExecute.
v1 TopologySpreadConstraint: How evenly matching pods spread over the values of a node label.
v1 TopologySpreadConstraint.maxSkew: The largest allowed difference between two domains.
v1 Node: A machine that runs pods.
v1 NodeSpec.unschedulable: Whether new pods are kept away, as after `kubectl cordon`.
v1 NodeSpec.taints: What keeps pods off this node.
v1 NodeStatus.capacity: All that the machine has.
v1 NodeStatus.allocatable: What pods may ask for.
v1 NodeStatus.conditions: Ready, MemoryPressure, DiskPressure, PIDPressure and others.
v1 NodeStatus.addresses: Under which names and addresses the node is reached.
v1 Namespace: A room for names; most objects live in one.
v1 ConfigMap: Configuration as names and texts.
v1 ConfigMap.data: Texts by name.
v1 ConfigMap.binaryData: Bytes by name.
v1 ConfigMap.immutable: Whether the data may never change again.
v1 Secret: Confidential data by name.
v1 Secret.data: Bytes by name.
v1 Secret.stringData: Texts by name, merged into data on write.
v1 Secret.type: What the data means to programs.
v1 Service: A stable address for a changing set of pods.
v1 ServiceSpec.selector: The labels of the pods that stand behind the service.
v1 ServiceSpec.type: ClusterIP, NodePort, LoadBalancer or ExternalName.
v1 ServiceAccount: An identity for programs in pods.
v1 Event: Something worth noting that happened to an object.
v1 Event.involvedObject: What the event is about.
v1 Event.reason: A short word for machines.
v1 Event.message: A sentence for people.
v1 Event.count: How often it happened.
v1 PersistentVolume: A piece of storage in the cluster.
v1 PersistentVolumeClaim: A request for storage.
v1 ResourceQuota: Bounds what a namespace may use in total.
v1 LimitRange: Bounds and defaults for single objects of a namespace.
v1 ReplicationController: Keeps a number of equal pods running; ReplicaSet is its successor.
v1 Endpoints: The addresses behind a service.
v1 PodTemplate: A stored description of pods to make.
v1 PodTemplateSpec: What pods made from this template look like.
v1 Binding: Assigns a pod to a node.
apps/v1 Deployment: Keeps equal pods running and rolls out their changes step by step.
apps/v1 DeploymentSpec.replicas: How many pods to keep.
apps/v1 DeploymentSpec.selector: Which pods belong to the deployment; cannot change.
apps/v1 DeploymentSpec.template: What the pods look like.
apps/v1 DeploymentSpec.strategy: How old pods give way to new ones.
apps/v1 DeploymentSpec.paused: Whether changes wait.
apps/v1 ReplicaSet: Keeps a number of equal pods running.
apps/v1 ReplicaSetSpec.replicas: How many pods to keep.
apps/v1 ReplicaSetSpec.selector: Which pods belong to the set; cannot change.
apps/v1 ReplicaSetSpec.template: What the pods look like.
apps/v1 StatefulSet: Keeps pods with lasting names and storage of their own.
apps/v1 StatefulSetSpec.replicas: How many pods to keep.
apps/v1 StatefulSetSpec.serviceName: The service that gives the pods their network names.
apps/v1 StatefulSetSpec.volumeClaimTemplates: Storage that each pod gets for itself.
apps/v1 DaemonSet: Keeps one pod on every matching node.
apps/v1 ControllerRevision: A past state of a StatefulSet or DaemonSet.
batch/v1 Job: Runs pods until enough of them have succeeded.
batch/v1 JobSpec.completions: How many pods must succeed.
batch/v1 JobSpec.parallelism: How many pods may run at once.
batch/v1 JobSpec.backoffLimit: How many failures are borne.
batch/v1 CronJob: Makes jobs on a schedule.
batch/v1 CronJobSpec.schedule: When, in cron's five fields.
policy/v1 PodDisruptionBudget: Bounds how many pods may be evicted at the same time.
policy/v1 PodDisruptionBudgetSpec.minAvailable: How many pods must stay available.
policy/v1 PodDisruptionBudgetSpec.maxUnavailable: How many pods may be unavailable.
policy/v1 PodDisruptionBudgetSpec.selector: The pods that the budget protects.
policy/v1 Eviction: Asks for the graceful removal of a pod, within disruption budgets.
autoscaling/v1 Scale: The number of replicas of something that can be scaled.
scheduling.k8s.io/v1 PriorityClass: A named priority for pods.
scheduling.k8s.io/v1 PriorityClass.value: Higher is more important.
scheduling.k8s.io/v1 PriorityClass.globalDefault: Whether pods that name no class get this one.
scheduling.k8s.io/v1 PriorityClass.preemptionPolicy: Whether such pods may displace others.
coordination.k8s.io/v1 Lease: Who holds a role, and until when.
coordination.k8s.io/v1 LeaseSpec.holderIdentity: Who holds the lease.
coordination.k8s.io/v1 LeaseSpec.leaseDurationSeconds: How long it lasts without renewal.
coordination.k8s.io/v1 LeaseSpec.renewTime: When the holder was last heard of.
events.k8s.io/v1 Event: Something worth noting that happened to an object.
rbac.authorization.k8s.io/v1 Role: Permissions within a namespace.
rbac.authorization.k8s.io/v1 RoleBinding: Gives a role to users, groups or service accounts.
rbac.authorization.k8s.io/v1 ClusterRole: Permissions in the whole cluster.
rbac.authorization.k8s.io/v1 ClusterRoleBinding: Gives a cluster role to someone everywhere.
authentication.k8s.io/v1 TokenReview: Asks whose token this is.
authentication.k8s.io/v1 TokenRequest: Asks for a token of a service account.
authentication.k8s.io/v1 SelfSubjectReview: Asks who the caller is.
authorization.k8s.io/v1 SubjectAccessReview: Asks whether someone may do something.
authorization.k8s.io/v1 SelfSubjectAccessReview: Asks whether the caller may do something.
authorization.k8s.io/v1 SelfSubjectRulesReview: Asks what the caller may do in a namespace.
authorization.k8s.io/v1 LocalSubjectAccessReview: Asks whether someone may act in a namespace.
storage.k8s.io/v1 StorageClass: A way to make volumes.
storage.k8s.io/v1 StorageClass.provisioner: Who makes the volumes.
storage.k8s.io/v1 StorageClass.volumeBindingMode: Immediate or WaitForFirstConsumer.
storage.k8s.io/v1 CSINode: The storage drivers of a node.
storage.k8s.io/v1 CSIDriver: A storage driver in the cluster.
storage.k8s.io/v1 CSIStorageCapacity: How much storage a driver can offer in a part of the cluster.
storage.k8s.io/v1 VolumeAttachment: The wish to have a volume attached to a node.
admissionregistration.k8s.io/v1 MutatingWebhookConfiguration: Services that may change objects.
admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration: Services that may refuse objects.
apiextensions.k8s.io/v1 CustomResourceDefinition: Adds a kind of object to the API.
apiextensions.k8s.io/v1 CustomResourceDefinitionSpec.versions: The versions that the kind has.
metrics.k8s.io/v1beta1 NodeMetrics: What a node uses.
metrics.k8s.io/v1beta1 PodMetrics: What a pod uses.
)";

}  // namespace koord::kube::schema
