#include <gtest/gtest.h>

#include "localcluster/apiserver/tables/tables_testing.h"

namespace koord::apiserver::printers_test {
namespace {

struct KindColumns {
  const char* group;
  const char* kind;
  const char* columns;
};

TEST(Tables, ColumnsOfEveryKind) {
  const KindColumns kCases[] = {
      {"", "Node",
       "Name|Status|Roles|Age|Version|(Internal-IP)|(External-IP)|(OS-Image)|(Kernel-Version)|"
       "(Container-Runtime)"},
      {"", "Event",
       "Last Seen|Type|Reason|Object|(Subobject)|(Source)|Message|(First Seen)|(Count)|(Name)"},
      {"events.k8s.io", "Event",
       "Last Seen|Type|Reason|Object|(Subobject)|(Source)|Message|(First Seen)|(Count)|(Name)"},
      {"", "Namespace", "Name|Status|Age"},
      {"", "ConfigMap", "Name|Data|Age"},
      {"", "Secret", "Name|Type|Data|Age"},
      {"", "ServiceAccount", "Name|Age"},
      {"", "Service", "Name|Type|Cluster-IP|External-IP|Port(s)|Age|(Selector)"},
      {"", "Endpoints", "Name|Endpoints|Age"},
      {"", "ResourceQuota", "Name|Request|Limit|Age"},
      {"", "ReplicationController",
       "Name|Desired|Current|Ready|Age|(Containers)|(Images)|(Selector)"},
      {"", "PodTemplate", "Name|Containers|Images|Pod Labels"},
      {"", "PersistentVolume",
       "Name|Capacity|Access Modes|Reclaim Policy|Status|Claim|StorageClass|VolumeAttributesClass|"
       "Reason|Age|(VolumeMode)"},
      {"", "PersistentVolumeClaim",
       "Name|Status|Volume|Capacity|Access Modes|StorageClass|VolumeAttributesClass|Age|"
       "(VolumeMode)"},
      {"coordination.k8s.io", "Lease", "Name|Holder|Age"},
      {"policy", "PodDisruptionBudget",
       "Name|Min Available|Max Unavailable|Allowed Disruptions|Age"},
      {"scheduling.k8s.io", "PriorityClass", "Name|Value|Global-Default|Age|PreemptionPolicy"},
      {"apps", "Deployment",
       "Name|Ready|Up-to-date|Available|Age|(Containers)|(Images)|(Selector)"},
      {"apps", "ReplicaSet", "Name|Desired|Current|Ready|Age|(Containers)|(Images)|(Selector)"},
      {"apps", "DaemonSet",
       "Name|Desired|Current|Ready|Up-to-date|Available|Node Selector|Age|(Containers)|(Images)|"
       "(Selector)"},
      {"apps", "StatefulSet", "Name|Ready|Age|(Containers)|(Images)"},
      {"apps", "ControllerRevision", "Name|Controller|Revision|Age"},
      {"batch", "Job", "Name|Status|Completions|Duration|Age|(Containers)|(Images)|(Selector)"},
      {"batch", "CronJob",
       "Name|Schedule|Timezone|Suspend|Active|Last Schedule|Age|(Containers)|(Images)|(Selector)"},
      {"storage.k8s.io", "StorageClass",
       "Name|Provisioner|ReclaimPolicy|VolumeBindingMode|AllowVolumeExpansion|Age"},
      {"storage.k8s.io", "CSINode", "Name|Drivers|Age"},
      {"storage.k8s.io", "CSIDriver",
       "Name|AttachRequired|PodInfoOnMount|StorageCapacity|TokenRequests|RequiresRepublish|Modes|"
       "Age"},
      {"storage.k8s.io", "CSIStorageCapacity", "Name|StorageClassName|Capacity"},
      {"storage.k8s.io", "VolumeAttachment", "Name|Attacher|PV|Node|Attached|Age"},
      {"rbac.authorization.k8s.io", "RoleBinding",
       "Name|Role|Age|(Users)|(Groups)|(ServiceAccounts)"},
      {"rbac.authorization.k8s.io", "ClusterRoleBinding",
       "Name|Role|Age|(Users)|(Groups)|(ServiceAccounts)"},
      {"admissionregistration.k8s.io", "MutatingWebhookConfiguration", "Name|Webhooks|Age"},
      {"admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "Name|Webhooks|Age"},
      {"resource.k8s.io", "ResourceClaim", "Name|State|Age"},
      {"resource.k8s.io", "ResourceSlice", "Name|Node|Driver|Pool|Age"},
      {"resource.k8s.io", "DeviceClass", "Name|Age"},
      {"resource.k8s.io", "ResourceClaimTemplate", "Name|Age"},
      {"autoscaling", "Scale", "Name|Desired|Available|Age"},
      {"rbac.authorization.k8s.io", "Role", "Name|Created At"},
      {"rbac.authorization.k8s.io", "ClusterRole", "Name|Created At"},
      {"", "LimitRange", "Name|Created At"},
      {"apiextensions.k8s.io", "CustomResourceDefinition", "Name|Created At"},
      {"metrics.k8s.io", "Anything", "Name|Created At"},
  };
  for (const auto& c : kCases) {
    const auto table = TableOf(BuiltinInfo(c.group, c.kind), kube::json::object());
    EXPECT_EQ(ColumnsText(table), c.columns) << c.kind;
    EXPECT_EQ(table.at("rows").at(0).at("cells").as_array().size(),
              table.at("columnDefinitions").as_array().size())
        << c.kind << ": every column has a cell, also of an empty object";
  }
}

TEST(Tables, ColumnTypes) {
  const auto table =
      TableOf(BuiltinInfo("scheduling.k8s.io", "PriorityClass"), kube::json::object());
  const auto& columns = table.at("columnDefinitions").as_array();
  EXPECT_EQ(columns[0], (kube::json::object{{"name", "Name"},
                                            {"type", "string"},
                                            {"format", "name"},
                                            {"description", ""},
                                            {"priority", 0}}));
  EXPECT_EQ(kube::FindString(columns[1], {"type"}), "integer");
  EXPECT_EQ(kube::FindString(columns[2], {"type"}), "boolean");
  EXPECT_EQ(kube::FindString(columns[3], {"type"}), "string");
}

struct RowCase {
  const char* name;
  const char* group;
  const char* kind;
  const char* object;  // metadata.name a and creation an hour ago are added
  const char* cells;
};

TEST(Tables, Rows) {
  const RowCase kCases[] = {
      {"ready node", "", "Node",
       R"("metadata": {"name": "a", "creationTimestamp": "2026-07-01T09:00:00Z",
            "labels": {"node-role.kubernetes.io/worker": "", "node-role.kubernetes.io/control-plane": "",
                       "kubernetes.io/role": "edge", "node-role.kubernetes.io/": ""}},
          "status": {"conditions": [{"type": "Ready", "status": "True"}],
            "addresses": [{"type": "Hostname", "address": "a"},
                          {"type": "InternalIP", "address": "10.0.0.1"}],
            "nodeInfo": {"kubeletVersion": "v1.35.0", "osImage": "Debian", "kernelVersion": "6.1",
                         "containerRuntimeVersion": "containerd://1.7"}})",
       "a|Ready|control-plane,edge,worker|60m|v1.35.0|10.0.0.1|<none>|Debian|6.1|containerd://1.7"},
      {"cordoned node that does not answer", "", "Node",
       R"("spec": {"unschedulable": true},
          "status": {"conditions": [{"type": "Ready", "status": "Unknown"}]})",
       "a|NotReady,SchedulingDisabled|<none>|60m||<none>|<none>|<unknown>|<unknown>|<unknown>"},
      {"node without conditions", "", "Node", R"("status": {})",
       "a|Unknown|<none>|60m||<none>|<none>|<unknown>|<unknown>|<unknown>"},

      {"event", "", "Event",
       R"("involvedObject": {"kind": "Pod", "name": "p", "fieldPath": "spec.containers{c}"},
          "reason": "Pulled", "message": " done\n", "type": "Normal", "count": 3,
          "source": {"component": "kubelet", "host": "n1"},
          "firstTimestamp": "2026-07-01T09:50:00Z", "lastTimestamp": "2026-07-01T09:59:00Z")",
       "60s|Normal|Pulled|pod/p|spec.containers{c}|kubelet, n1|done|10m|3|a"},
      {"event of a new recorder", "", "Event",
       R"("involvedObject": {"kind": "Pod", "name": "p"}, "type": "Warning", "reason": "R",
          "eventTime": "2026-07-01T09:59:30.000000Z", "firstTimestamp": null,
          "reportingComponent": "koord-scheduler", "reportingInstance": "koord-scheduler-x")",
       "30s|Warning|R|pod/p||koord-scheduler, koord-scheduler-x||30s|1|a"},
      {"event in a series", "", "Event",
       R"("involvedObject": {"kind": "Node"}, "count": 1, "lastTimestamp": "2026-07-01T09:00:00Z",
          "eventTime": "2026-07-01T09:00:00.000000Z",
          "series": {"count": 7, "lastObservedTime": "2026-07-01T09:59:50.000000Z"})",
       "10s|||node||||60m|7|a"},
      {"event of events.k8s.io", "events.k8s.io", "Event",
       R"("regarding": {"kind": "Pod", "name": "p"}, "note": "hello", "type": "Normal",
          "reason": "R", "reportingController": "c", "deprecatedCount": 4,
          "deprecatedFirstTimestamp": "2026-07-01T09:50:00Z",
          "deprecatedLastTimestamp": "2026-07-01T09:59:00Z")",
       "60s|Normal|R|pod/p||c|hello|10m|4|a"},
      {"event without any time", "", "Event", R"("involvedObject": {"kind": "Pod", "name": "p"})",
       "<unknown>|||pod/p||||<unknown>|1|a"},

      {"namespace", "", "Namespace", R"("status": {"phase": "Active"})", "a|Active|60m"},
      {"config map", "", "ConfigMap",
       R"("data": {"x": "1", "y": "2"}, "binaryData": {"z": "AA=="})", "a|3|60m"},
      {"secret", "", "Secret", R"("type": "Opaque", "data": {"x": "AA=="})", "a|Opaque|1|60m"},
      {"service account", "", "ServiceAccount", R"("secrets": [])", "a|60m"},

      {"cluster-internal service", "", "Service",
       R"("spec": {"type": "ClusterIP", "clusterIP": "10.96.0.1", "clusterIPs": ["10.96.0.1"],
          "ports": [{"port": 443, "protocol": "TCP"}, {"port": 53, "protocol": "UDP"}],
          "selector": {"b": "2", "a": "1"}})",
       "a|ClusterIP|10.96.0.1|<none>|443/TCP,53/UDP|60m|a=1,b=2"},
      {"node port service with external addresses", "", "Service",
       R"("spec": {"type": "NodePort", "clusterIP": "10.96.0.1", "externalIPs": ["1.1.1.1", "2.2.2.2"],
          "ports": [{"port": 80, "nodePort": 30080, "protocol": "TCP"}]})",
       "a|NodePort|10.96.0.1|1.1.1.1,2.2.2.2|80:30080/TCP|60m|<none>"},
      {"load balancer that waits", "", "Service", R"("spec": {"type": "LoadBalancer"})",
       "a|LoadBalancer|<none>|<pending>|<none>|60m|<none>"},
      {"load balancer", "", "Service",
       R"("spec": {"type": "LoadBalancer", "externalIPs": ["3.3.3.3"]},
          "status": {"loadBalancer": {"ingress": [{"ip": "1.1.1.1"}, {"hostname": "lb.x"}]}})",
       "a|LoadBalancer|<none>|1.1.1.1,lb.x,3.3.3.3|<none>|60m|<none>"},
      {"external name", "", "Service",
       R"("spec": {"type": "ExternalName", "externalName": "x.org"})",
       "a|ExternalName|<none>|x.org|<none>|60m|<none>"},

      {"endpoints", "", "Endpoints",
       R"("subsets": [{"addresses": [{"ip": "10.0.0.1"}, {"ip": "fd00::1"}],
                       "ports": [{"port": 80}]}])",
       "a|10.0.0.1:80,[fd00::1]:80|60m"},
      {"many endpoints", "", "Endpoints",
       R"("subsets": [{"addresses": [{"ip": "1"}, {"ip": "2"}], "ports": [{"port": 8}, {"port": 9}]},
                      {"addresses": [{"ip": "3"}]}])",
       "a|1:8,2:8,1:9 + 2 more...|60m"},
      {"no endpoints", "", "Endpoints", R"("subsets": [])", "a|<none>|60m"},

      {"resource quota", "", "ResourceQuota",
       R"("status": {"hard": {"pods": "10", "limits.cpu": "8", "requests.cpu": "4"},
                     "used": {"pods": "2", "limits.cpu": "1"}})",
       "a|pods: 2/10, requests.cpu: 0/4|limits.cpu: 1/8|60m"},

      {"lease", "coordination.k8s.io", "Lease", R"("spec": {"holderIdentity": "me"})", "a|me|60m"},
      {"disruption budget", "policy", "PodDisruptionBudget",
       R"("spec": {"minAvailable": "50%"}, "status": {"disruptionsAllowed": 2})",
       "a|50%|N/A|2|60m"},
      {"disruption budget by count", "policy", "PodDisruptionBudget",
       R"("spec": {"maxUnavailable": 0})", "a|N/A|0|0|60m"},
      {"priority class", "scheduling.k8s.io", "PriorityClass",
       R"("value": -10, "globalDefault": true, "preemptionPolicy": "Never")",
       "a|-10|true|60m|Never"},

      {"deployment", "apps", "Deployment",
       R"("spec": {"replicas": 3, "selector": {"matchLabels": {"app": "web"}, "matchExpressions": [
            {"key": "tier", "operator": "In", "values": ["b", "a"]},
            {"key": "old", "operator": "DoesNotExist"}, {"key": "any", "operator": "Exists"},
            {"key": "zone", "operator": "NotIn", "values": ["z"]}]},
          "template": {"spec": {"containers": [{"name": "x", "image": "i:1"}, {"name": "y", "image": "j"}]}}},
          "status": {"readyReplicas": 1, "updatedReplicas": 2, "availableReplicas": 1})",
       "a|1/3|2|1|60m|x,y|i:1,j|any,app=web,!old,tier in (a,b),zone notin (z)"},
      {"replica set", "apps", "ReplicaSet",
       R"("spec": {"replicas": 0}, "status": {"replicas": 1, "readyReplicas": 1})",
       "a|0|1|1|60m|||<none>"},
      {"replication controller", "", "ReplicationController",
       R"("spec": {"replicas": 2, "selector": {"app": "x"}}, "status": {"replicas": 2})",
       "a|2|2|0|60m|||app=x"},
      {"daemon set", "apps", "DaemonSet",
       R"("spec": {"selector": {"matchLabels": {"d": "1"}},
                   "template": {"spec": {"nodeSelector": {"gpu": "yes"},
                                "containers": [{"name": "x", "image": "i"}]}}},
          "status": {"desiredNumberScheduled": 5, "currentNumberScheduled": 4, "numberReady": 3,
                     "updatedNumberScheduled": 2, "numberAvailable": 1})",
       "a|5|4|3|2|1|gpu=yes|60m|x|i|d=1"},
      {"stateful set", "apps", "StatefulSet",
       R"("spec": {"replicas": 3, "template": {"spec": {"containers": [{"name": "x", "image": "i"}]}}},
          "status": {"readyReplicas": 2})",
       "a|2/3|60m|x|i"},
      {"controller revision", "apps", "ControllerRevision",
       R"("metadata": {"name": "a", "creationTimestamp": "2026-07-01T09:00:00Z", "ownerReferences": [
            {"apiVersion": "v1", "kind": "X", "name": "no"},
            {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "controller": true}]},
          "revision": 12)",
       "a|daemonset.apps/d|12|60m"},
      {"controller revision without owner", "apps", "ControllerRevision", R"("revision": 1)",
       "a|<none>|1|60m"},

      {"running job", "batch", "Job",
       R"("spec": {"completions": 5}, "status": {"succeeded": 2, "startTime": "2026-07-01T09:30:00Z"})",
       "a|Running|2/5|30m|60m|||<none>"},
      {"complete job", "batch", "Job",
       R"("spec": {"completions": 1, "selector": {"matchLabels": {"j": "1"}}},
          "status": {"succeeded": 1, "startTime": "2026-07-01T09:30:00Z",
                     "completionTime": "2026-07-01T09:31:00Z",
                     "conditions": [{"type": "SuccessCriteriaMet", "status": "True"},
                                    {"type": "Complete", "status": "True"}]})",
       "a|Complete|1/1|60s|60m|||j=1"},
      {"work queue job", "batch", "Job", R"("spec": {"parallelism": 4}, "status": {})",
       "a|Running|0/1 of 4||60m|||<none>"},
      {"job without completions", "batch", "Job", R"("spec": {"parallelism": 1})",
       "a|Running|0/1||60m|||<none>"},
      {"suspended job", "batch", "Job",
       R"("spec": {"completions": 1}, "status": {"conditions": [
            {"type": "Complete", "status": "False"}, {"type": "Suspended", "status": "True"}]})",
       "a|Suspended|0/1||60m|||<none>"},
      {"failing job", "batch", "Job",
       R"("spec": {"completions": 1}, "status": {"conditions": [
            {"type": "FailureTarget", "status": "True"}]})",
       "a|FailureTarget|0/1||60m|||<none>"},
      {"deleted job", "batch", "Job",
       R"("metadata": {"name": "a", "creationTimestamp": "2026-07-01T09:00:00Z",
                       "deletionTimestamp": "2026-07-01T10:00:00Z"},
          "spec": {"completions": 1},
          "status": {"conditions": [{"type": "Suspended", "status": "True"}]})",
       "a|Terminating|0/1||60m|||<none>"},
      {"cron job", "batch", "CronJob",
       R"("spec": {"schedule": "*/5 * * * *", "suspend": false, "timeZone": "Etc/UTC",
                   "jobTemplate": {"spec": {"template": {"spec": {"containers": [
                     {"name": "x", "image": "i"}]}}}}},
          "status": {"active": [{}, {}], "lastScheduleTime": "2026-07-01T09:55:00Z"})",
       "a|*/5 * * * *|Etc/UTC|False|2|5m|60m|x|i|<none>"},
      {"new cron job", "batch", "CronJob", R"("spec": {"schedule": "@daily"})",
       "a|@daily|<none>|<unset>|0|<none>|60m|||<none>"},

      {"volume", "", "PersistentVolume",
       R"("spec": {"capacity": {"storage": "5Gi"}, "accessModes": ["ReadWriteMany", "ReadWriteOnce"],
            "persistentVolumeReclaimPolicy": "Retain", "storageClassName": "fast",
            "volumeMode": "Filesystem", "claimRef": {"namespace": "ns", "name": "c"}},
          "status": {"phase": "Bound"})",
       "a|5Gi|RWO,RWX|Retain|Bound|ns/c|fast|<unset>||60m|Filesystem"},
      {"volume being deleted", "", "PersistentVolume",
       R"("metadata": {"name": "a", "creationTimestamp": "2026-07-01T09:00:00Z",
                       "deletionTimestamp": "2026-07-01T10:00:00Z"},
          "spec": {"accessModes": ["ReadOnlyMany", "ReadWriteOncePod"],
                   "volumeAttributesClassName": "gold"},
          "status": {"phase": "Released", "reason": "because"})",
       "a||ROX,RWOP||Terminating|||gold|because|60m|<unset>"},
      {"bound claim", "", "PersistentVolumeClaim",
       R"("spec": {"volumeName": "pv", "storageClassName": "fast", "volumeMode": "Block"},
          "status": {"phase": "Bound", "capacity": {"storage": "5Gi"},
                     "accessModes": ["ReadWriteOnce"]})",
       "a|Bound|pv|5Gi|RWO|fast|<unset>|60m|Block"},
      {"claim that waits", "", "PersistentVolumeClaim",
       R"("spec": {"accessModes": ["ReadWriteOnce"]},
          "status": {"phase": "Pending", "accessModes": ["ReadWriteOnce"]})",
       "a|Pending|||||<unset>|60m|<unset>"},
      {"default storage class", "storage.k8s.io", "StorageClass",
       R"("metadata": {"name": "a", "creationTimestamp": "2026-07-01T09:00:00Z", "annotations":
            {"storageclass.kubernetes.io/is-default-class": "true"}},
          "provisioner": "x.io/p", "allowVolumeExpansion": true)",
       "a (default)|x.io/p|Delete|Immediate|true|60m"},
      {"storage class", "storage.k8s.io", "StorageClass",
       R"("provisioner": "p", "reclaimPolicy": "Retain", "volumeBindingMode": "WaitForFirstConsumer")",
       "a|p|Retain|WaitForFirstConsumer|false|60m"},
      {"CSI node", "storage.k8s.io", "CSINode", R"("spec": {"drivers": [{}, {}]})", "a|2|60m"},
      {"CSI driver with defaults", "storage.k8s.io", "CSIDriver", R"("spec": {})",
       "a|true|false|false|<unset>|false|<none>|60m"},
      {"CSI driver", "storage.k8s.io", "CSIDriver",
       R"("spec": {"attachRequired": false, "podInfoOnMount": true, "storageCapacity": true,
            "tokenRequests": [{"audience": "x"}, {"audience": "y"}], "requiresRepublish": true,
            "volumeLifecycleModes": ["Persistent", "Ephemeral"]})",
       "a|false|true|true|x,y|true|Persistent,Ephemeral|60m"},
      {"CSI capacity", "storage.k8s.io", "CSIStorageCapacity",
       R"("storageClassName": "fast", "capacity": "1Ti")", "a|fast|1Ti"},
      {"volume attachment", "storage.k8s.io", "VolumeAttachment",
       R"("spec": {"attacher": "x", "source": {"persistentVolumeName": "pv"}, "nodeName": "n"},
          "status": {"attached": true})",
       "a|x|pv|n|true|60m"},

      {"role binding", "rbac.authorization.k8s.io", "RoleBinding",
       R"("roleRef": {"kind": "ClusterRole", "name": "admin"}, "subjects": [
            {"kind": "User", "name": "u"}, {"kind": "Group", "name": "g1"},
            {"kind": "Group", "name": "g2"},
            {"kind": "ServiceAccount", "name": "s", "namespace": "ns"}])",
       "a|ClusterRole/admin|60m|u|g1, g2|ns/s"},
      {"webhooks", "admissionregistration.k8s.io", "MutatingWebhookConfiguration",
       R"("webhooks": [{}, {}])", "a|2|60m"},

      {"claim pending", "resource.k8s.io", "ResourceClaim", R"("spec": {})", "a|pending|60m"},
      {"claim reserved", "resource.k8s.io", "ResourceClaim",
       R"("status": {"allocation": {}, "reservedFor": [{}]})", "a|allocated,reserved|60m"},
      {"claim deleted", "resource.k8s.io", "ResourceClaim",
       R"("metadata": {"name": "a", "creationTimestamp": "2026-07-01T09:00:00Z",
                       "deletionTimestamp": "2026-07-01T10:00:00Z"}, "status": {"allocation": {}})",
       "a|deleted,allocated|60m"},
      {"slice", "resource.k8s.io", "ResourceSlice",
       R"("spec": {"nodeName": "n", "driver": "d", "pool": {"name": "p"}})", "a|n|d|p|60m"},

      {"scale", "autoscaling", "Scale", R"("spec": {"replicas": 3}, "status": {"replicas": 2})",
       "a|3|2|60m"},
      {"anything else", "apiextensions.k8s.io", "CustomResourceDefinition", R"("spec": {})",
       "a|2026-07-01T09:00:00Z"},
  };
  for (const auto& c : kCases) {
    std::string object = c.object;
    if (object.find("\"metadata\": {\"name\"") != 0) {
      object =
          R"("metadata": {"name": "a", "creationTimestamp": "2026-07-01T09:00:00Z"}, )" + object;
    }
    EXPECT_EQ(RowText(c.group, c.kind, "{" + object + "}"), c.cells) << c.name;
  }
}

TEST(Tables, SurviveFieldsOfTheWrongType) {
  const char* kStrange = R"({"metadata": 1, "spec": [], "status": {"conditions": "x",
      "containerStatuses": [1, null, "x"]}, "subsets": [null], "webhooks": {}, "subjects": [3]})";
  for (const auto& [group, kind] : std::initializer_list<std::pair<const char*, const char*>>{
           {"", "Pod"},
           {"", "Node"},
           {"", "Event"},
           {"", "Service"},
           {"", "Endpoints"},
           {"batch", "Job"},
           {"apps", "Deployment"},
           {"", "PersistentVolume"},
           {"rbac.authorization.k8s.io", "RoleBinding"}}) {
    EXPECT_NE(RowText(group, kind, kStrange), "") << kind;
    EXPECT_NE(RowText(group, kind, "[]"), "") << kind;
  }
}

}  // namespace
}  // namespace koord::apiserver::printers_test
