#include <gtest/gtest.h>

#include "kube/objects/config.h"
#include "kube/objects/custom_resource_definition.h"
#include "kube/objects/event.h"
#include "kube/objects/job.h"
#include "kube/objects/lease.h"
#include "kube/objects/namespace.h"
#include "kube/objects/node.h"
#include "kube/objects/pod.h"
#include "kube/objects/policy.h"
#include "kube/objects/priority_class.h"
#include "kube/objects/service.h"
#include "kube/objects/storage.h"
#include "kube/objects/webhook_configuration.h"
#include "kube/objects/workloads.h"

// Each kind reads every member of an object that has them all, and writes the same object back.
namespace koord::kube::objects_test {
namespace {

template <class T>
T RoundTrip(std::string_view text) {
  const StatusOr<Json> json = ParseJson(text);
  EXPECT_TRUE(json.ok()) << json.status();
  const StatusOr<T> object = Decode<T>(*json);
  EXPECT_TRUE(object.ok()) << object.status();
  const Json written = Encode(*object);
  EXPECT_TRUE(Equal(written, *json)) << Serialize(written) << "\n" << Serialize(*json);
  EXPECT_EQ(*object, *Decode<T>(written));
  return *object;
}

TEST(ObjectsTest, Pod) {
  const Pod pod = RoundTrip<Pod>(R"({
    "metadata": {"name": "p", "namespace": "ns", "annotations": {"kubernetes.io/config.mirror": ""}},
    "spec": {
      "volumes": [
        {"name": "claim", "persistentVolumeClaim": {"claimName": "c", "readOnly": true}},
        {"name": "own", "ephemeral": {"volumeClaimTemplate": {"spec": {"x": 1}}}},
        {"name": "csi", "csi": {"driver": "d", "readOnly": false}},
        {"name": "empty", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}},
        {"name": "empty2", "emptyDir": {}},
        {"name": "host", "hostPath": {"path": "/p", "type": "Directory"}},
        {"name": "config", "configMap": {"name": "cm"}},
        {"name": "secret", "secret": {"secretName": "s"}},
        {"name": "gce", "gcePersistentDisk": {"pdName": "g", "readOnly": true}},
        {"name": "aws", "awsElasticBlockStore": {"volumeID": "v", "readOnly": true}},
        {"name": "iscsi", "iscsi": {"targetPortal": "t", "iqn": "q", "lun": 0, "readOnly": true}},
        {"name": "rbd", "rbd": {"monitors": ["m"], "image": "i", "pool": "p", "readOnly": true}}],
      "initContainers": [{"name": "side", "image": "i", "restartPolicy": "Always"}],
      "containers": [{"name": "a", "image": "i",
        "ports": [{"name": "http", "hostPort": 80, "containerPort": 8080, "protocol": "TCP",
                   "hostIP": "127.0.0.1"}],
        "resources": {"requests": {"cpu": "100m"}, "limits": {"cpu": "1"}}}],
      "restartPolicy": "Always", "terminationGracePeriodSeconds": 0, "activeDeadlineSeconds": 10,
      "nodeSelector": {"disk": "ssd"}, "serviceAccountName": "sa", "nodeName": "n",
      "hostNetwork": true,
      "affinity": {
        "nodeAffinity": {
          "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}],
             "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}]},
          "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 5, "preference":
            {"matchExpressions": [{"key": "zone", "operator": "Exists"}]}}]},
        "podAffinity": {
          "requiredDuringSchedulingIgnoredDuringExecution": [{
            "labelSelector": {"matchLabels": {"app": "x"}, "matchExpressions":
              [{"key": "tier", "operator": "NotIn", "values": ["b"]}]},
            "namespaces": ["other"], "namespaceSelector": {}, "topologyKey": "zone",
            "matchLabelKeys": ["k"], "mismatchLabelKeys": ["l"]}]},
        "podAntiAffinity": {
          "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 7, "podAffinityTerm":
            {"topologyKey": "zone"}}]}},
      "schedulerName": "koord-scheduler",
      "tolerations": [{"key": "k", "operator": "Equal", "value": "v", "effect": "NoExecute",
                       "tolerationSeconds": 0}],
      "priorityClassName": "koord-prod", "priority": 0, "preemptionPolicy": "Never",
      "runtimeClassName": "kata", "overhead": {"cpu": "250m"},
      "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}, "minDomains": 2,
        "nodeAffinityPolicy": "Honor", "nodeTaintsPolicy": "Ignore", "matchLabelKeys": ["k"]}],
      "readinessGates": [{"conditionType": "x"}],
      "schedulingGates": [{"name": "wait"}],
      "resourceClaims": [{"name": "c", "resourceClaimName": "d",
                          "resourceClaimTemplateName": "e"}],
      "resources": {"requests": {"memory": "1Gi"}}},
    "status": {
      "observedGeneration": 3, "phase": "Running",
      "conditions": [{"type": "Ready", "status": "True", "observedGeneration": 2,
        "lastTransitionTime": "2026-07-01T10:00:00Z", "lastProbeTime": "2026-07-01T10:00:01Z",
        "reason": "r", "message": "m"}],
      "message": "m", "reason": "r", "nominatedNodeName": "nn", "hostIP": "10.0.0.1",
      "podIP": "10.1.0.1", "podIPs": [{"ip": "10.1.0.1"}], "startTime": "2026-07-01T10:00:00Z",
      "initContainerStatuses": [{"name": "side", "state": {}, "lastState": {}, "ready": false,
        "restartCount": 0, "image": "", "imageID": ""}],
      "containerStatuses": [{"name": "a",
        "state": {"running": {"startedAt": "2026-07-01T10:00:00Z"}},
        "lastState": {"terminated": {"exitCode": 0, "signal": 9, "reason": "OOMKilled",
          "message": "m", "startedAt": "2026-07-01T10:00:00Z",
          "finishedAt": "2026-07-01T10:00:00Z", "containerID": "c"}},
        "ready": true, "restartCount": 1, "image": "i", "imageID": "ii",
        "containerID": "containerd://1", "started": true, "allocatedResources": {"cpu": "100m"},
        "resources": {"requests": {"cpu": "100m"}}}],
      "ephemeralContainerStatuses": [{"name": "e",
        "state": {"waiting": {"reason": "r", "message": "m"}}, "lastState": {}, "ready": false,
        "restartCount": 0, "image": "", "imageID": ""}],
      "qosClass": "Burstable"}})");
  EXPECT_TRUE(IsReady(pod));
  EXPECT_FALSE(IsTerminal(pod));
  EXPECT_TRUE(IsAssigned(pod));
  EXPECT_TRUE(IsMirrorPod(pod));
  EXPECT_TRUE(IsSidecar(pod.spec.init_containers[0]));
  EXPECT_EQ(pod.spec.priority, 0);
}

TEST(ObjectsTest, PodMatchesItsNodes) {
  const PodSpec spec = Decode<PodSpec>(ParseJson(R"({
    "nodeSelector": {"disk": "ssd"},
    "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
      "nodeSelectorTerms": [{"matchExpressions":
        [{"key": "zone", "operator": "In", "values": ["a", "b"]}]}]}}}})")
                                           .value())
                           .value();
  EXPECT_TRUE(MatchesNode(spec, "n", {{"disk", "ssd"}, {"zone", "b"}}));
  EXPECT_FALSE(MatchesNode(spec, "n", {{"disk", "hdd"}, {"zone", "b"}}));
  EXPECT_FALSE(MatchesNode(spec, "n", {{"disk", "ssd"}, {"zone", "c"}}));
  EXPECT_FALSE(MatchesNode(spec, "n", {{"zone", "a"}}));
  EXPECT_TRUE(MatchesNode(PodSpec{}, "n", {}));
}

TEST(ObjectsTest, TerminalPhases) {
  for (const auto& [phase, terminal] :
       {std::pair{"Pending", false}, {"Running", false}, {"Succeeded", true}, {"Failed", true}}) {
    Pod pod;
    pod.status.phase = phase;
    EXPECT_EQ(IsTerminal(pod), terminal) << phase;
  }
}

TEST(ObjectsTest, WrongTypesNameThePath) {
  const auto pod =
      Decode<Pod>(ParseJson(R"({"spec": {"containers": [{"name": "a"}, {"name": 1}]}})").value());
  EXPECT_EQ(Message(pod.status()), "spec.containers[1].name: expected a string, found a number");
}

TEST(ObjectsTest, Node) {
  const Node node = RoundTrip<Node>(R"({
    "metadata": {"name": "n"},
    "spec": {"podCIDR": "10.0.0.0/24", "podCIDRs": ["10.0.0.0/24"], "providerID": "x://y",
      "unschedulable": true,
      "taints": [{"key": "k", "value": "v", "effect": "NoSchedule",
                  "timeAdded": "2026-07-01T10:00:00Z"}]},
    "status": {"capacity": {"cpu": "4"}, "allocatable": {"cpu": "3900m"},
      "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "m",
        "lastHeartbeatTime": "2026-07-01T10:00:00Z",
        "lastTransitionTime": "2026-07-01T10:00:00Z"}],
      "addresses": [{"type": "Hostname", "address": "h"},
                    {"type": "InternalIP", "address": "10.0.0.1"}],
      "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
      "nodeInfo": {"machineID": "m", "systemUUID": "u", "bootID": "b", "kernelVersion": "6.1",
        "osImage": "Debian", "containerRuntimeVersion": "containerd://1.7",
        "kubeletVersion": "v1.35.0", "kubeProxyVersion": "", "operatingSystem": "linux",
        "architecture": "amd64"},
      "images": [{"names": ["i"], "sizeBytes": 5}]}})");
  EXPECT_TRUE(IsReady(node));
  EXPECT_EQ(AddressOf(node, "InternalIP"), "10.0.0.1");
  EXPECT_EQ(AddressOf(node, "ExternalIP"), "");
}

TEST(ObjectsTest, Deployment) {
  RoundTrip<Deployment>(R"({
    "metadata": {"name": "d"},
    "spec": {"replicas": 0, "selector": {"matchLabels": {"a": "b"}},
      "template": {"spec": {"containers": [{"name": "c", "unknown": [1, null]}]}},
      "strategy": {"type": "RollingUpdate",
                   "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": 1}},
      "minReadySeconds": 1, "revisionHistoryLimit": 0, "paused": true,
      "progressDeadlineSeconds": 600},
    "status": {"observedGeneration": 1, "replicas": 3, "updatedReplicas": 2, "readyReplicas": 1,
      "availableReplicas": 1, "unavailableReplicas": 2, "terminatingReplicas": 0,
      "conditions": [{"type": "Available", "status": "True",
        "lastUpdateTime": "2026-07-01T10:00:00Z", "lastTransitionTime": "2026-07-01T10:00:00Z"}],
      "collisionCount": 0}})");
}

TEST(ObjectsTest, ReplicaSetAndReplicationController) {
  RoundTrip<ReplicaSet>(R"({
    "metadata": {"name": "r"},
    "spec": {"replicas": 1, "selector": {}, "template": {"spec": {}}, "minReadySeconds": 1},
    "status": {"replicas": 0, "fullyLabeledReplicas": 1, "readyReplicas": 1,
      "availableReplicas": 1, "terminatingReplicas": 0, "observedGeneration": 1,
      "conditions": [{"type": "ReplicaFailure", "status": "True"}]}})");
  RoundTrip<ReplicationController>(
      R"({"metadata": {"name": "r"}, "spec": {"replicas": 2, "selector": {"a": "b"}}})");
}

TEST(ObjectsTest, StatefulSet) {
  RoundTrip<StatefulSet>(R"({
    "metadata": {"name": "s"},
    "spec": {"replicas": 3, "selector": {}, "template": {},
      "volumeClaimTemplates": [{"metadata": {"name": "data"}}], "serviceName": "s",
      "podManagementPolicy": "Parallel",
      "updateStrategy": {"type": "RollingUpdate",
                         "rollingUpdate": {"partition": 0, "maxUnavailable": 1}},
      "revisionHistoryLimit": 10, "minReadySeconds": 1,
      "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Delete"},
      "ordinals": {"start": 0}},
    "status": {"observedGeneration": 1, "replicas": 0, "readyReplicas": 1, "currentReplicas": 1,
      "updatedReplicas": 1, "availableReplicas": 0, "currentRevision": "a",
      "updateRevision": "b", "collisionCount": 0,
      "conditions": [{"type": "x", "status": "True"}]}})");
}

TEST(ObjectsTest, DaemonSetAndControllerRevision) {
  RoundTrip<DaemonSet>(R"({
    "metadata": {"name": "d"},
    "spec": {"selector": {}, "template": {}, "minReadySeconds": 1, "revisionHistoryLimit": 1,
      "updateStrategy": {"type": "OnDelete"}},
    "status": {"currentNumberScheduled": 0, "numberMisscheduled": 0, "desiredNumberScheduled": 0,
      "numberReady": 0, "observedGeneration": 1, "updatedNumberScheduled": 1,
      "numberAvailable": 1, "numberUnavailable": 1, "collisionCount": 1,
      "conditions": [{"type": "x", "status": "True"}]}})");
  RoundTrip<ControllerRevision>(R"({"metadata": {"name": "r"}, "data": {"a": 1}, "revision": 0})");
}

TEST(ObjectsTest, Job) {
  RoundTrip<Job>(R"({
    "metadata": {"name": "j"},
    "spec": {"parallelism": 0, "completions": 1, "activeDeadlineSeconds": 5, "selector": {},
      "manualSelector": false, "template": {}, "backoffLimit": 0, "ttlSecondsAfterFinished": 0,
      "completionMode": "Indexed", "suspend": false, "podReplacementPolicy": "Failed"},
    "status": {"conditions": [{"type": "Complete", "status": "True",
        "lastProbeTime": "2026-07-01T10:00:00Z"}],
      "startTime": "2026-07-01T10:00:00Z", "completionTime": "2026-07-01T10:00:00Z",
      "active": 1, "succeeded": 1, "failed": 1, "terminating": 0, "ready": 0,
      "completedIndexes": "0-1", "uncountedTerminatedPods": {"succeeded": ["u"], "failed": ["v"]}}})");
}

TEST(ObjectsTest, PodDisruptionBudget) {
  RoundTrip<PodDisruptionBudget>(R"({
    "metadata": {"name": "b"},
    "spec": {"minAvailable": "50%", "maxUnavailable": 1, "selector": {},
      "unhealthyPodEvictionPolicy": "AlwaysAllow"},
    "status": {"observedGeneration": 1, "disruptedPods": {"p": "2026-07-01T10:00:00Z"},
      "disruptionsAllowed": 0, "currentHealthy": 0, "desiredHealthy": 0, "expectedPods": 0,
      "conditions": [{"type": "DisruptionAllowed", "status": "False", "reason": "", "message": ""}]}})");
}

TEST(ObjectsTest, Storage) {
  RoundTrip<PersistentVolume>(R"({
    "metadata": {"name": "v"},
    "spec": {"capacity": {"storage": "1Gi"},
      "csi": {"driver": "d", "volumeHandle": "h", "readOnly": true},
      "accessModes": ["ReadWriteOnce"], "claimRef": {"namespace": "ns", "name": "c", "uid": "u"},
      "persistentVolumeReclaimPolicy": "Delete", "storageClassName": "fast",
      "volumeMode": "Block", "nodeAffinity": {"required": {"nodeSelectorTerms": []}}},
    "status": {"phase": "Bound"}})");
  const auto claim = RoundTrip<PersistentVolumeClaim>(R"({
    "metadata": {"name": "c"},
    "spec": {"accessModes": ["ReadWriteOncePod"], "selector": {},
      "resources": {"requests": {"storage": "1Gi"}}, "volumeName": "v", "storageClassName": "",
      "volumeMode": "Filesystem"},
    "status": {"phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}}})");
  EXPECT_EQ(claim.spec.storage_class_name, "");
  RoundTrip<StorageClass>(R"({
    "metadata": {"name": "s"}, "provisioner": "p", "parameters": {"a": "b"},
    "reclaimPolicy": "Retain", "volumeBindingMode": "WaitForFirstConsumer",
    "allowedTopologies": [{"matchLabelExpressions": [{"key": "zone", "values": ["a"]}]}]})");
  RoundTrip<CsiNode>(R"({
    "metadata": {"name": "n"},
    "spec": {"drivers": [{"name": "d", "nodeID": "n", "topologyKeys": ["zone"],
                          "allocatable": {"count": 0}}]}})");
  RoundTrip<CsiDriver>(R"({"metadata": {"name": "d"}, "spec": {"storageCapacity": false}})");
  RoundTrip<CsiStorageCapacity>(R"({
    "metadata": {"name": "c"}, "nodeTopology": {}, "storageClassName": "s", "capacity": "1Gi",
    "maximumVolumeSize": "1Gi"})");
  RoundTrip<VolumeAttachment>(R"({
    "metadata": {"name": "a"},
    "spec": {"attacher": "d", "nodeName": "n", "source": {"persistentVolumeName": "v"}}})");
}

TEST(ObjectsTest, SmallKinds) {
  RoundTrip<Namespace>(R"({
    "metadata": {"name": "n"}, "spec": {"finalizers": ["kubernetes"]},
    "status": {"phase": "Active", "conditions": [{"type": "x", "status": "True"}]}})");
  RoundTrip<PriorityClass>(R"({
    "metadata": {"name": "p"}, "value": 0, "globalDefault": true, "description": "d",
    "preemptionPolicy": "Never"})");
  RoundTrip<ConfigMap>(R"({
    "metadata": {"name": "c"}, "data": {"a": ""}, "binaryData": {"b": "AAEC"},
    "immutable": false})");
  const Secret secret = RoundTrip<Secret>(
      R"({"metadata": {"name": "s"}, "type": "Opaque", "data": {"k": "dmFsdWU="}})");
  EXPECT_EQ(secret.data.at("k").data, "value");
  RoundTrip<Lease>(R"({
    "metadata": {"name": "l"},
    "spec": {"holderIdentity": "", "leaseDurationSeconds": 15,
      "acquireTime": "2026-07-01T10:00:00.000000Z", "renewTime": "2026-07-01T10:00:00.123456Z",
      "leaseTransitions": 0}})");
  RoundTrip<Service>(R"({
    "metadata": {"name": "s"},
    "spec": {"selector": {"a": "b"}, "ports": [{"name": "p", "protocol": "TCP", "port": 80}],
      "clusterIP": "None", "type": "ClusterIP"}})");
}

TEST(ObjectsTest, BadBase64NamesTheKey) {
  const auto secret = Decode<Secret>(ParseJson(R"({"data": {"k": "***"}})").value());
  EXPECT_EQ(Message(secret.status()), R"(data.k: expected a base64 string, found "***")");
}

TEST(ObjectsTest, Events) {
  RoundTrip<CoreEvent>(R"({
    "metadata": {"name": "e"},
    "involvedObject": {"kind": "Pod", "namespace": "ns", "name": "p", "uid": "u",
      "apiVersion": "v1", "resourceVersion": "1", "fieldPath": "spec.containers{a}"},
    "reason": "r", "message": "m", "source": {"component": "c", "host": "h"},
    "firstTimestamp": "2026-07-01T10:00:00Z", "lastTimestamp": "2026-07-01T10:00:00Z",
    "count": 2, "type": "Normal", "eventTime": "2026-07-01T10:00:00.000001Z",
    "series": {"count": 0, "lastObservedTime": "2026-07-01T10:00:00.000000Z"}, "action": "a",
    "related": {"name": "x"}, "reportingComponent": "rc", "reportingInstance": "ri"})");
  RoundTrip<Event>(R"({
    "metadata": {"name": "e"}, "eventTime": "2026-07-01T10:00:00.000001Z",
    "series": {"count": 2, "lastObservedTime": "2026-07-01T10:00:00.000000Z"},
    "reportingController": "rc", "reportingInstance": "ri", "action": "a", "reason": "r",
    "regarding": {"kind": "Pod"}, "related": {"name": "x"}, "note": "n", "type": "Warning",
    "deprecatedSource": {"component": "c"}, "deprecatedFirstTimestamp": "2026-07-01T10:00:00Z",
    "deprecatedLastTimestamp": "2026-07-01T10:00:00Z", "deprecatedCount": 1})");
}

TEST(ObjectsTest, CustomResourceDefinition) {
  const auto crd = RoundTrip<CustomResourceDefinition>(R"({
    "metadata": {"name": "ts.g"},
    "spec": {"group": "g", "scope": "Cluster",
      "names": {"plural": "ts", "singular": "t", "shortNames": ["s"], "kind": "T",
                "listKind": "TList", "categories": ["all"]},
      "versions": [{"name": "v1", "served": false, "storage": true, "deprecated": true,
        "deprecationWarning": "w", "schema": {"openAPIV3Schema": {"type": "object"}},
        "subresources": {"status": {}, "scale": {"specReplicasPath": ".spec.r",
          "statusReplicasPath": ".status.r", "labelSelectorPath": ".s"}},
        "additionalPrinterColumns": [{"name": "A", "type": "string", "format": "f",
          "description": "d", "priority": 1, "jsonPath": ".a"}],
        "selectableFields": [{"jsonPath": ".b"}]}],
      "conversion": {"strategy": "None"}, "preserveUnknownFields": true},
    "status": {"conditions": [{"type": "Established", "status": "True"}],
      "acceptedNames": {"plural": "ts", "kind": "T"}, "storedVersions": ["v1"]}})");
  EXPECT_TRUE(crd.spec.versions[0].subresources->status.has_value());
}

TEST(ObjectsTest, WebhookConfiguration) {
  RoundTrip<WebhookConfiguration>(R"({
    "metadata": {"name": "w"},
    "webhooks": [{"name": "a.b.c",
      "clientConfig": {"url": "https://x", "caBundle": "Q0E=",
        "service": {"namespace": "ns", "name": "s", "path": "/p", "port": 443}},
      "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"],
                 "resources": ["pods"], "scope": "*"}],
      "failurePolicy": "Ignore", "matchPolicy": "Exact", "namespaceSelector": {},
      "objectSelector": {}, "sideEffects": "None", "timeoutSeconds": 30,
      "admissionReviewVersions": ["v1"], "reinvocationPolicy": "IfNeeded",
      "matchConditions": [{"name": "m", "expression": "true"}]}]})");
}

}  // namespace
}  // namespace koord::kube::objects_test
