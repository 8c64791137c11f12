#include <gtest/gtest.h>

#include "api/cluster_colocation_profile.h"
#include "api/cluster_network_topology.h"
#include "api/device.h"
#include "api/elastic_quota.h"
#include "api/elastic_quota_profile.h"
#include "api/keys.h"
#include "api/node_metric.h"
#include "api/node_resource_topology.h"
#include "api/node_slo.h"
#include "api/pod_group.h"
#include "api/pod_migration_job.h"
#include "api/recommendation.h"
#include "api/reservation.h"
#include "api/schedule_explanation.h"

// Each kind reads every member of an object that has them all, and writes the same object back.
namespace koord::api::crds_test {
namespace {

template <class T>
T RoundTrip(std::string_view text) {
  const StatusOr<kube::Json> json = kube::ParseJson(text);
  EXPECT_TRUE(json.ok()) << json.status();
  const StatusOr<T> object = kube::Decode<T>(*json);
  EXPECT_TRUE(object.ok()) << object.status();
  const kube::Json written = kube::Encode(*object);
  EXPECT_TRUE(kube::Equal(written, *json)) << kube::Serialize(written) << "\n"
                                           << kube::Serialize(*json);
  EXPECT_EQ(*object, *kube::Decode<T>(written));
  return *object;
}

TEST(CrdsTest, Reservation) {
  const auto reservation = RoundTrip<Reservation>(R"({
    "metadata": {"name": "r"},
    "spec": {
      "template": {"metadata": {"namespace": "ns"}, "spec": {"nodeName": "n", "containers":
        [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}},
      "resources": {"requests": {"cpu": "4"}},
      "owners": [{"object": {"namespace": "ns", "name": "p"},
        "controller": {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "x", "uid": "u",
                       "controller": true, "blockOwnerDeletion": true, "namespace": "ns"},
        "labelSelector": {"matchLabels": {"a": "b"}}}],
      "ttl": "24h0m0s", "expires": "2026-07-01T10:00:00Z", "preAllocation": true,
      "allocateOnce": false, "allocatePolicy": "Restricted", "unschedulable": true,
      "taints": [{"key": "k", "effect": "NoSchedule"}],
      "preAllocationPolicy": {"mode": "Cluster", "enableMultiple": true}},
    "status": {"phase": "Available",
      "conditions": [{"type": "Ready", "status": "True", "reason": "Available", "message": "m",
        "lastProbeTime": "2026-07-01T10:00:00Z", "lastTransitionTime": "2026-07-01T10:00:00Z"}],
      "currentOwners": [{"name": "p"}], "nodeName": "n", "allocatable": {"cpu": "1"},
      "allocated": {"cpu": "1"}}})");
  EXPECT_EQ(reservation.spec.ttl, 24h);
  EXPECT_FALSE(AllocatesOnce(reservation.spec));
  EXPECT_TRUE(AllocatesOnce(ReservationSpec{}));
  EXPECT_EQ(TemplateOf(reservation.spec)->spec.node_name, "n");
}

TEST(CrdsTest, ReservationShortForm) {
  const auto reservation = RoundTrip<Reservation>(R"({
    "metadata": {"name": "r"},
    "spec": {"resources": {"requests": {"cpu": "4", "memory": "8Gi"}}}})");
  const auto made = TemplateOf(reservation.spec);
  ASSERT_TRUE(made.has_value());
  ASSERT_EQ(made->spec.containers.size(), 1);
  EXPECT_EQ(made->spec.containers[0].resources.requests.at("cpu"), kube::Quantity(4));
  EXPECT_FALSE(TemplateOf(ReservationSpec{}).has_value());
}

TEST(CrdsTest, ReservationValidity) {
  ReservationSpec spec;
  EXPECT_EQ(Message(Validate(spec)), "the reservation misses the template spec");
  spec.pod_template.emplace();
  EXPECT_EQ(Message(Validate(spec)), "the reservation misses the owner spec");
  spec.owners.emplace_back();
  EXPECT_EQ(Message(Validate(spec)), "the reservation misses the expiration spec");
  spec.ttl = 0s;
  EXPECT_TRUE(Validate(spec).ok());
  ReservationSpec short_form;
  short_form.resources.emplace();
  short_form.expires = WallTime();
  EXPECT_TRUE(Validate(short_form).ok());
}

TEST(CrdsTest, PodMigrationJob) {
  RoundTrip<PodMigrationJob>(R"({
    "metadata": {"name": "j"},
    "spec": {"paused": true, "ttl": "5m0s", "mode": "ReservationFirst",
      "podRef": {"namespace": "ns", "name": "p", "uid": "u"},
      "reservationOptions": {"reservationRef": {"name": "r"},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"anything": 1}},
        "preemptionOptions": {}},
      "deleteOptions": {"gracePeriodSeconds": 5}},
    "status": {"phase": "Running", "status": "Evicting", "reason": "r", "message": "m",
      "conditions": [{"type": "Eviction", "status": "False", "reason": "Evicting",
        "lastProbeTime": "2026-07-01T10:00:00Z", "lastTransitionTime": "2026-07-01T10:00:00Z"}],
      "nodeName": "n", "podRef": {"name": "q"}, "preemptedPodsRef": [{"name": "v"}],
      "preemptedPodsReservation": [{"namespace": "ns", "name": "r", "nodeName": "n",
        "phase": "Available", "preemptedPodRef": {"name": "v"}, "podsRef": [{"name": "w"}]}]}})");
}

TEST(CrdsTest, Device) {
  const auto device = RoundTrip<Device>(R"({
    "metadata": {"name": "n"},
    "spec": {"devices": [{"type": "gpu", "labels": {"a": "b"}, "id": "GPU-1", "minor": 0,
      "moduleID": 0, "health": false, "resources": {"koordinator.sh/gpu-core": "100"},
      "topology": {"socketID": 0, "nodeID": 0, "pcieID": "0", "busID": "0000:00:07.0"},
      "vfGroups": [{"labels": {"c": "d"}, "vfs": [{"minor": 0, "busID": "0000:00:07.1"}]}],
      "conditions": [{"type": "Healthy", "status": "True", "reason": "r", "message": "m",
        "lastTransitionTime": "2026-07-01T10:00:00Z", "observedGeneration": 1}]}]},
    "status": {"allocations": [{"type": "gpu", "entries": [{"name": "p", "namespace": "ns",
      "uuid": "u", "minors": [0, 1]}]}]}})");
  EXPECT_EQ(device.spec.devices[0].minor, 0);
}

TEST(CrdsTest, ScheduleExplanation) {
  RoundTrip<ScheduleExplanation>(R"({
    "metadata": {"name": "e"},
    "spec": {"questionObjectKey": "ns/p", "questionObjectTemplate": {"spec": {}},
      "ttl": "0s"},
    "status": {"schedulable": true, "schedulableAfterPreemption": true, "failedMessage": "f",
      "lastUpdateTime": "2026-07-01T10:00:00Z",
      "detailedExplanation": [{"topologyDomain": "t", "schedulable": true,
        "schedulableAfterPreemption": true, "failedMessage": "f",
        "scheduleExplanation": {"schedulable": true, "failedMessage": "f",
          "feasibleSchedulingResult": [{"namespace": "ns", "name": "p", "uid": "u",
                                        "nodeName": "n"}],
          "nodeFailedDetails": [{"failedPlugin": "x", "reason": "r", "preemptMightHelp": true,
                                 "failedNodes": ["n"]}]},
        "nodePossibleVictims": [{"nodeName": "n", "possibleVictims": [{"namespace": "ns",
          "name": "v", "uid": "u", "isNominatedPod": true}]}],
        "preemptExplanation": {"failedMessage": "f"}}]}})");
}

TEST(CrdsTest, ClusterNetworkTopology) {
  RoundTrip<ClusterNetworkTopology>(R"({
    "metadata": {"name": "default"},
    "spec": {"networkTopologySpec": [{"topologyLayer": "BlockLayer",
      "parentTopologyLayer": "SpineLayer", "labelKey": ["block"]}]},
    "status": {"detailStatus": [{"topologyInfo": {"topologyLayer": "BlockLayer",
      "topologyName": "b0"}, "parentTopologyInfo": {"topologyLayer": "SpineLayer",
      "topologyName": "s0"}, "childTopologyLayer": "NodeTopologyLayer",
      "childTopologyNames": ["n"], "nodeNum": 0}]}})");
}

TEST(CrdsTest, NodeMetric) {
  const auto metric = RoundTrip<NodeMetric>(R"({
    "metadata": {"name": "n"},
    "spec": {"metricCollectPolicy": {"aggregateDurationSeconds": 300, "reportIntervalSeconds": 60,
      "nodeAggregatePolicy": {"durations": ["5m0s", "10m0s"]},
      "nodeMemoryCollectPolicy": "usageWithoutPageCache"}},
    "status": {"updateTime": "2026-07-01T10:00:00Z",
      "nodeMetric": {"nodeUsage": {"resources": {"cpu": "1"},
          "devices": [{"type": "gpu", "minor": 0, "health": true}]},
        "aggregatedNodeUsages": [{"usage": {"avg": {"resources": {"cpu": "1"}},
                                            "p99": {"resources": {"cpu": "2"}}},
                                  "duration": "5m0s"}],
        "systemUsage": {},
        "aggregatedSystemUsages": [{"usage": {"p50": {}}, "duration": "10m0s"}],
        "numaUsages": [{"numaNodeID": 0, "nodeUsage": {}, "systemUsage": {}}]},
      "podsMetric": [{"name": "p", "namespace": "ns", "podUsage": {}, "priority": "koord-prod",
                      "qos": "LS", "extensions": {"Object": {"a": 1}}}],
      "hostApplicationMetric": [{"name": "h", "usage": {}, "priority": "koord-prod",
                                 "qos": "LS"}],
      "prodReclaimableMetric": {"resource": {}}, "prodPeakMetric": {"resource": {}}}})");
  EXPECT_EQ(metric.status.node_metric->aggregated_node_usages[0].duration, 5min);
}

TEST(CrdsTest, NodeSlo) {
  RoundTrip<NodeSlo>(R"({
    "metadata": {"name": "n"},
    "spec": {
      "resourceUsedThresholdWithBE": {"enable": false, "cpuSuppressThresholdPercent": 65,
        "cpuSuppressMinPercent": 0, "cpuSuppressPolicy": "cpuset",
        "memoryEvictThresholdPercent": 70, "memoryEvictLowerPercent": 0,
        "memoryAllocatableEvictThresholdPercent": 1, "memoryAllocatableEvictLowerPercent": 2,
        "cpuEvictBESatisfactionUpperPercent": 3, "cpuEvictBESatisfactionLowerPercent": 4,
        "cpuEvictBEUsageThresholdPercent": 5, "cpuEvictTimeWindowSeconds": 6,
        "cpuEvictThresholdPercent": 7, "cpuEvictLowerPercent": 8,
        "cpuAllocatableEvictThresholdPercent": 9, "cpuAllocatableEvictLowerPercent": 10,
        "cpuEvictPolicy": "evictByRealLimit", "evictEnabledPriorityThreshold": 11,
        "allocatableEvictPriorityThreshold": 12},
      "resourceQOSStrategy": {"policies": {"cpuPolicy": "groupIdentity", "netQOSPolicy": "tc"},
        "lsrClass": {"cpuQOS": {"enable": true, "groupIdentity": -1, "schedIdle": 0,
            "coreExpeller": false},
          "memoryQOS": {"enable": true, "minLimitPercent": 0, "lowLimitPercent": 0,
            "throttlingPercent": 0, "wmarkRatio": 95, "wmarkScalePermill": 20,
            "wmarkMinAdj": -25, "priorityEnable": 0, "priority": 0, "oomKillGroup": 0,
            "pageCacheEnable": true, "pageCacheReclaimSync": true, "pageCacheLimitPercent": 1,
            "pageCacheLimitSize": "1Gi"},
          "blkioQOS": {"enable": true, "blocks": [{"name": "/dev/sda", "type": "device", "ioCfg":
            {"readIOPS": 1, "writeIOPS": 2, "readBPS": 3, "writeBPS": 4, "ioWeightPercent": 5,
             "readLatency": 6, "writeLatency": 7, "readLatencyPercent": 8,
             "writeLatencyPercent": 9, "enableUserModel": true, "modelReadBPS": 10,
             "modelWriteBPS": 11, "modelReadSeqIOPS": 12, "modelWriteSeqIOPS": 13,
             "modelReadRandIOPS": 14, "modelWriteRandIOPS": 15}}]},
          "resctrlQOS": {"enable": true, "catRangeStartPercent": 0, "catRangeEndPercent": 100,
            "mbaPercent": 100},
          "networkQOS": {"enable": true, "ingressRequest": 0, "ingressLimit": "50M",
            "egressRequest": "1M", "egressLimit": 100}},
        "lsClass": {}, "beClass": {}, "systemClass": {}, "cgroupRoot": {}},
      "cpuBurstStrategy": {"policy": "auto", "cpuBurstPercent": 1000, "cfsQuotaBurstPercent": 300,
        "cfsQuotaBurstPeriodSeconds": -1, "sharePoolThresholdPercent": 50},
      "systemStrategy": {"minFreeKbytesFactor": 1, "watermarkScaleFactor": 2,
        "memcgReapBackGround": 0, "schedGroupIdentityEnabled": 0, "schedIdleSaverWmark": 0,
        "schedFeatures": {"ID_ABSOLUTE_EXPEL": false}, "pageCacheLimitEnabled": 0,
        "totalNetworkBandwidth": "0"},
      "hostApplications": [{"name": "h", "priority": "koord-prod", "qos": "LS",
        "cgroupPath": {"base": "CgroupRoot", "parentDir": "host/", "relativePath": "h/"},
        "strategy": {}}],
      "extensions": {"Object": {"x": {}}}}})");
}

TEST(CrdsTest, SystemStrategyAlwaysSaysTheBandwidth) {
  EXPECT_EQ(kube::Serialize(kube::Encode(SystemStrategy{})), R"({"totalNetworkBandwidth":"0"})");
}

TEST(CrdsTest, Profiles) {
  RoundTrip<ClusterColocationProfile>(R"({
    "metadata": {"name": "c"},
    "spec": {"namespaceSelector": {}, "selector": {"matchLabels": {"a": "b"}},
      "probability": "30%", "qosClass": "BE", "priorityClassName": "koord-batch",
      "koordinatorPriority": 0, "labels": {"a": "b"}, "annotations": {"c": "d"},
      "labelKeysMapping": {"e": "f"}, "annotationKeysMapping": {"g": "h"},
      "labelSuffixes": {"i": "j"}, "schedulerName": "koord-scheduler",
      "patch": {"spec": {"terminationGracePeriodSeconds": 30}}}})");
  RoundTrip<ElasticQuotaProfile>(R"({
    "metadata": {"name": "q"},
    "spec": {"quotaName": "root", "quotaLabels": {"a": "b"}, "resourceRatio": "0.9",
      "nodeSelector": {"matchLabels": {"pool": "a"}}}})");
}

TEST(CrdsTest, Recommendation) {
  RoundTrip<Recommendation>(R"({
    "metadata": {"name": "r"},
    "spec": {"target": {"type": "workload", "workload": {"kind": "Deployment", "name": "d",
      "apiVersion": "apps/v1"}, "podSelector": {}}},
    "status": {"podStatus": {"containerStatuses": [{"containerName": "c",
        "resources": {"cpu": "1"}}]},
      "updateTime": "2026-07-01T10:00:00Z",
      "conditions": [{"type": "LowConfidence", "status": "True", "reason": "r", "message": "m",
        "lastTransitionTime": "2026-07-01T10:00:00Z"}]}})");
}

TEST(CrdsTest, PodGroup) {
  RoundTrip<PodGroup>(R"({
    "metadata": {"name": "g"},
    "spec": {"minMember": 3, "minResources": {"cpu": "1"}, "scheduleTimeoutSeconds": 0},
    "status": {"phase": "Running", "occupiedBy": "o", "scheduled": 1, "running": 2,
      "succeeded": 3, "failed": 4, "scheduleStartTime": "2026-07-01T10:00:00Z"}})");
}

TEST(CrdsTest, NodeResourceTopology) {
  RoundTrip<NodeResourceTopology>(R"({
    "metadata": {"name": "n"}, "topologyPolicies": ["None"],
    "zones": [{"name": "node-0", "type": "Node", "parent": "socket-0",
      "costs": [{"name": "node-0", "value": 0}], "attributes": [{"name": "a", "value": ""}],
      "resources": [{"name": "cpu", "capacity": "8", "allocatable": "8", "available": "0"}]}]})");
}

TEST(ElasticQuotaTest, DefaultsOfLabelsAndAnnotations) {
  auto quota = RoundTrip<ElasticQuota>(R"({
    "metadata": {"name": "q"}, "spec": {"min": {"cpu": "1"}, "max": {"cpu": "4"}},
    "status": {"used": {"cpu": "1"}}})");
  EXPECT_FALSE(IsParentQuota(quota));
  EXPECT_FALSE(IsTreeRootQuota(quota));
  EXPECT_TRUE(AllowsLending(quota));
  EXPECT_EQ(ParentQuotaOf(quota), kRootQuota);
  EXPECT_EQ(SharedWeightOf(quota), quota.spec.max);
  EXPECT_TRUE(NamespacesOf(quota).empty());
  EXPECT_TRUE(QuotaAmounts(quota, kAnnotationQuotaRuntime)->empty());
  quota.metadata.name = std::string(kRootQuota);
  EXPECT_EQ(ParentQuotaOf(quota), "");
}

TEST(ElasticQuotaTest, ReadsLabelsAndAnnotations) {
  const auto quota = RoundTrip<ElasticQuota>(R"({
    "metadata": {"name": "q", "labels": {
        "quota.scheduling.koordinator.sh/is-parent": "true",
        "quota.scheduling.koordinator.sh/parent": "p",
        "quota.scheduling.koordinator.sh/is-root": "true",
        "quota.scheduling.koordinator.sh/allow-lent-resource": "false"},
      "annotations": {
        "quota.scheduling.koordinator.sh/shared-weight": "{\"cpu\":\"2\"}",
        "quota.scheduling.koordinator.sh/namespaces": "[\"a\",\"b\"]",
        "quota.scheduling.koordinator.sh/runtime": "{\"cpu\":\"3\"}",
        "quota.scheduling.koordinator.sh/request": ""}},
    "spec": {"max": {"cpu": "4"}}})");
  EXPECT_TRUE(IsParentQuota(quota));
  EXPECT_TRUE(IsTreeRootQuota(quota));
  EXPECT_FALSE(AllowsLending(quota));
  EXPECT_EQ(ParentQuotaOf(quota), "p");
  EXPECT_EQ(SharedWeightOf(quota).at("cpu"), kube::Quantity(2));
  EXPECT_EQ(NamespacesOf(quota), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(QuotaAmounts(quota, kAnnotationQuotaRuntime)->at("cpu"), kube::Quantity(3));
  EXPECT_TRUE(QuotaAmounts(quota, kAnnotationQuotaRequest)->empty());
}

TEST(ElasticQuotaTest, BadOrZeroWeightsCountAsMax) {
  ElasticQuota quota;
  quota.spec.max["cpu"] = kube::Quantity(4);
  for (const char* weight : {"", "{", "[]", R"({"cpu":"x"})", R"({"cpu":"0"})"}) {
    quota.metadata.annotations[std::string(kAnnotationQuotaSharedWeight)] = weight;
    EXPECT_EQ(SharedWeightOf(quota), quota.spec.max) << weight;
  }
  quota.metadata.annotations[std::string(kAnnotationQuotaNamespaces)] = "not json";
  EXPECT_TRUE(NamespacesOf(quota).empty());
}

TEST(ElasticQuotaTest, PodsArePreemptibleUnlessTheySayNot) {
  EXPECT_TRUE(IsPreemptibleInQuota({}));
  EXPECT_TRUE(IsPreemptibleInQuota({{std::string(kLabelQuotaPreemptible), "true"}}));
  EXPECT_FALSE(IsPreemptibleInQuota({{std::string(kLabelQuotaPreemptible), "false"}}));
}

}  // namespace
}  // namespace koord::api::crds_test
