#include <gtest/gtest.h>

#include "api/annotation_codec.h"
#include "api/cpu_annotations.h"
#include "api/descheduler_annotations.h"
#include "api/device_annotations.h"
#include "api/gang.h"
#include "api/keys.h"
#include "api/koordlet_annotations.h"
#include "api/node_annotations.h"
#include "api/pod_annotations.h"
#include "api/reservation_annotations.h"

namespace koord::api::annotations_test {
namespace {

using kube::Annotations;
using kube::Labels;
using kube::Quantity;
using kube::ResourceList;

// One label or annotation.
Labels With(std::string_view key, std::string_view value) {
  return {{std::string(key), std::string(value)}};
}

ResourceList MakeList(std::string_view text) {
  return kube::Decode<ResourceList>(kube::ParseJson(text).value()).value();
}

std::string Text(const ResourceList& list) { return kube::Serialize(kube::Encode(list)); }

// What is read from a text and written again.
template <class T>
std::string Rewritten(std::string_view text) {
  const StatusOr<T> value = DecodeLoose<T>(text);
  return value.ok() ? EncodeAnnotation(*value) : std::string(Message(value.status()));
}

TEST(PodAnnotationsTest, ExtendedResourceSpec) {
  ExtendedResourceSpec spec;
  spec.containers["main"].requests =
      MakeList(R"({"kubernetes.io/batch-memory":"2Gi","kubernetes.io/batch-cpu":"1500"})");
  spec.containers["main"].limits = MakeList(R"({"kubernetes.io/batch-cpu":"2k"})");
  const std::string text = EncodeExtendedResourceSpec(spec);
  EXPECT_EQ(
      text,
      R"({"containers":{"main":{"limits":{"kubernetes.io/batch-cpu":"2k"},)"
      R"("requests":{"kubernetes.io/batch-cpu":"1500","kubernetes.io/batch-memory":"2Gi"}}}})");
  EXPECT_EQ(ExtendedResourceSpecOf(With(kAnnotationExtendedResourceSpec, text)).value(), spec);
  EXPECT_FALSE(ExtendedResourceSpecOf({}).value().has_value());
  EXPECT_FALSE(ExtendedResourceSpecOf(With(kAnnotationExtendedResourceSpec, "{}"))->has_value());
  EXPECT_FALSE(ExtendedResourceSpecOf(With(kAnnotationExtendedResourceSpec, "x")).ok());
}

TEST(PodAnnotationsTest, ReplaceResources) {
  const ResourceReplacements replacements = ParseReplaceResources(" a : b ,c:,d,e:f:g");
  EXPECT_EQ(replacements, (ResourceReplacements{.replace = {{"a", "b"}}, .erase = {"c"}}));
  ResourceList list = MakeList(R"({"a":"2","c":"1","cpu":"1"})");
  Apply(replacements, list);
  EXPECT_EQ(Text(list), R"({"b":"2","cpu":"1"})");
  ResourceList taken = MakeList(R"({"a":"2","b":"7"})");
  Apply(replacements, taken);
  EXPECT_EQ(Text(taken), R"({"a":"2","b":"7"})");
}

TEST(PodAnnotationsTest, ReplacedCpuIsCountedInMilliCores) {
  ResourceList list = MakeList(R"({"cpu":"1500m","x.io/cpu":"1"})");
  Apply(ParseReplaceResources("cpu:x.io/cpu,x.io/cpu:"), list);
  EXPECT_EQ(Text(list), R"({"x.io/cpu":"1500"})");
}

TEST(PodAnnotationsTest, SchedulingHint) {
  const auto of = [](std::string_view current, std::string_view deprecated) {
    return SchedulingHintOf(
        {{std::string(kAnnotationSchedulingHint), std::string(current)},
         {std::string(kAnnotationDeprecatedSchedulingHint), std::string(deprecated)}});
  };
  EXPECT_EQ(of(R"({"nodeNames":["a"]})", R"({"nodeNames":["b"]})").value()->node_names[0], "a");
  EXPECT_EQ(of("", R"({"preferredNodeNames":["b"]})").value()->preferred_node_names[0], "b");
  EXPECT_FALSE(of("{", R"({"nodeNames":["b"]})").ok());
  EXPECT_FALSE(of("", "").value().has_value());
  EXPECT_FALSE(SchedulingHintOf({}).value().has_value());
}

TEST(PodAnnotationsTest, LoadEstimation) {
  const LoadEstimation good = LoadEstimationOf(
      {{std::string(kAnnotationLoadEstimatedScalingFactors), R"({"cpu":80,"memory":70})"},
       {std::string(kAnnotationLoadEstimatedSecondsAfterPodScheduled), "60"},
       {std::string(kAnnotationLoadEstimatedSecondsAfterInitialized), "0"}});
  EXPECT_EQ(good.scaling_factors.at("cpu"), 80);
  EXPECT_EQ(good.seconds_after_pod_scheduled, 60);
  EXPECT_EQ(good.seconds_after_initialized, 0);
  const LoadEstimation bad =
      LoadEstimationOf({{std::string(kAnnotationLoadEstimatedScalingFactors), R"({"cpu":"80"})"},
                        {std::string(kAnnotationLoadEstimatedSecondsAfterPodScheduled), ""},
                        {std::string(kAnnotationLoadEstimatedSecondsAfterInitialized), "1s"}});
  EXPECT_EQ(bad, LoadEstimation());
  EXPECT_EQ(LoadEstimationOf({}), LoadEstimation());
}

TEST(CpuAnnotationsTest, Payloads) {
  const std::string resource_spec =
      R"({"requiredCPUBindPolicy":"FullPCPUs","preferredCPUBindPolicy":"SpreadByPCPUs",)"
      R"("preferredCPUExclusivePolicy":"PCPULevel"})";
  EXPECT_EQ(Rewritten<ResourceSpec>(resource_spec), resource_spec);
  const std::string numa =
      R"({"numaTopologyPolicy":"SingleNUMANode","singleNUMANodeExclusive":"Required"})";
  EXPECT_EQ(Rewritten<NumaTopologySpec>(numa), numa);
  const std::string status =
      R"({"cpuset":"0-3","numaNodeResources":[{"node":0,"resources":{"cpu":"4"}}]})";
  EXPECT_EQ(Rewritten<ResourceStatus>(status), status);
  EXPECT_EQ(ResourceSpecOf(With(kAnnotationResourceSpec, resource_spec))
                .value()
                ->required_cpu_bind_policy,
            kCpuBindFullPcpus);
  EXPECT_EQ(
      NumaTopologySpecOf(With(kAnnotationNumaTopologySpec, numa)).value()->numa_topology_policy,
      kNumaTopologySingleNumaNode);
  EXPECT_EQ(ResourceStatusOf(With(kAnnotationResourceStatus, status)).value()->cpuset, "0-3");
  EXPECT_EQ(EncodeResourceStatus({.cpuset = "1", .numa_node_resources = {{.node = 0}}}),
            R"({"cpuset":"1","numaNodeResources":[{"node":0}]})");
  EXPECT_FALSE(SystemQosResourceOf(With(kAnnotationSystemQosResource, R"({"cpuset":"0-1"})"))
                   .value()
                   ->cpuset_exclusive.has_value());
}

TEST(CpuAnnotationsTest, NodeReservation) {
  struct Case {
    std::string_view text;
    int64_t count;
    std::string_view cpus;
  };
  for (const Case& each :
       {Case{R"({"resources":{"cpu":"1.2"}})", 2, ""},
        Case{R"({"resources":{"cpu":"500m"},"reservedCPUs":"0-3"})", 0, "0-3"},
        Case{R"({"resources":{"cpu":"5"}})", 5, ""}, Case{R"({"reservedCPUs":"0-3"})", 0, "0-3"},
        Case{R"({"resources":{"memory":"1Gi"}})", 0, ""},
        Case{R"({"resources":{"cpu":"0"}})", 0, ""},
        Case{R"({"resources":{"cpu":"-1"}})", 0, ""}}) {
    const auto reservation = NodeReservationOf(With(kAnnotationNodeReservation, each.text));
    ASSERT_TRUE(reservation.ok() && *reservation) << each.text;
    EXPECT_EQ(ReservedCpuCount(**reservation), each.count) << each.text;
    EXPECT_EQ((*reservation)->reserved_cpus, each.cpus) << each.text;
  }
  EXPECT_FALSE(NodeReservationOf(With(kAnnotationNodeReservation, "")).value().has_value());
  EXPECT_FALSE(NodeReservationOf({}).value().has_value());
  EXPECT_FALSE(NodeReservationOf(With(kAnnotationNodeReservation, "{")).ok());
}

TEST(ReservationAnnotationsTest, Affinity) {
  const auto of = [](std::string_view text) {
    return ReservationAffinityOf(With(kAnnotationReservationAffinity, text));
  };
  const ReservationAffinity affinity =
      of(R"({"requiredDuringSchedulingIgnoredDuringExecution":{"reservationSelectorTerms":[
          {"matchExpressions":[{"key":"a","operator":"In","values":["b"]}]}]},
          "reservationSelector":{"c":"d"},"tolerations":[{"key":"e"}]})")
          .value()
          .value();
  EXPECT_EQ(affinity.required->reservation_selector_terms[0].match_expressions[0].values[0], "b");
  EXPECT_EQ(affinity.reservation_selector.at("c"), "d");
  EXPECT_EQ(affinity.tolerations[0].key, "e");
  EXPECT_EQ(of(R"({"name":"r"})").value()->name, "r");
  EXPECT_EQ(of("").value(), ReservationAffinity()) << "must still use a reservation";
  EXPECT_FALSE(ReservationAffinityOf({}).value().has_value());
  EXPECT_FALSE(of("[]").ok());
}

TEST(ReservationAnnotationsTest, ExactMatch) {
  struct Case {
    std::vector<std::string> names;
    std::string_view pod;
    std::string_view reservation;
    bool matches;
  };
  for (const Case& each : {
           Case{{"cpu", "memory"},
                R"({"cpu":"1","memory":"1Gi"})",
                R"({"cpu":"1000m","memory":"1024Mi"})",
                true},
           Case{{"gpu", "cpu"}, R"({"cpu":"1"})", R"({"cpu":"2"})", true},
           Case{{"cpu"}, R"({"cpu":"1"})", "{}", false},
           Case{{"cpu"}, "{}", R"({"cpu":"1"})", false},
           Case{{"cpu", "memory"},
                R"({"cpu":"1","memory":"1"})",
                R"({"cpu":"1","memory":"2"})",
                false},
           Case{{}, R"({"cpu":"1"})", R"({"cpu":"2"})", true},
       }) {
    EXPECT_EQ(MatchesExactly(each.names, MakeList(each.pod), MakeList(each.reservation)),
              each.matches)
        << each.pod << each.reservation;
  }
  EXPECT_EQ(
      ExactMatchResourcesOf(With(kAnnotationExactMatchReservation, R"({"resourceNames":["cpu"]})"))
          .value(),
      std::vector<std::string>{"cpu"});
  EXPECT_TRUE(ExactMatchResourcesOf({}).value().empty());
}

TEST(ReservationAnnotationsTest, Others) {
  const ReservationAllocated allocated{.name = "r", .uid = "u"};
  EXPECT_EQ(EncodeReservationAllocated(allocated), R"({"name":"r","uid":"u"})");
  EXPECT_EQ(ReservationAllocatedOf(
                With(kAnnotationReservationAllocated, EncodeReservationAllocated(allocated)))
                .value(),
            allocated);
  EXPECT_EQ(RestrictedResourcesOf(
                With(kAnnotationReservationRestrictedOptions, R"({"resources":["cpu"]})"))
                .value(),
            std::vector<std::string>{"cpu"});
  EXPECT_EQ(ReservationOrderOf(With(kLabelReservationOrder, "-7")), -7);
  EXPECT_EQ(ReservationOrderOf(With(kLabelReservationOrder, "x")), 0);
  EXPECT_EQ(ReservationOrderOf({}), 0);
  EXPECT_EQ(ReservationOwnersOf(With(kAnnotationReservationOwners,
                                     R"([{"labelSelector":{"matchLabels":{"a":"b"}}}])"))
                ->at(0)
                .label_selector->match_labels.at("a"),
            "b");
  EXPECT_EQ(EncodeReservationCurrentOwner({.ns = "ns", .name = "p"}),
            R"({"namespace":"ns","name":"p"})");
  EXPECT_EQ(EncodeResizeAllocatable(MakeList(R"({"cpu":"1"})")), R"({"resources":{"cpu":"1"}})");
  EXPECT_EQ(ResizeAllocatableOf(
                With(kAnnotationReservationResizeAllocatable, R"({"resources":{"cpu":"1"}})"))
                .value(),
            MakeList(R"({"cpu":"1"})"));
  EXPECT_TRUE(IsInReservationMode(With(kLabelOperatingMode, "Reservation")));
  EXPECT_FALSE(IsInReservationMode(With(kLabelOperatingMode, "Runnable")));
}

TEST(DeviceAnnotationsTest, Allocations) {
  const std::string text =
      R"({"gpu":[{"minor":0,"resources":{"koordinator.sh/gpu-core":"100"},"id":"GPU-1"}],)"
      R"("rdma":[{"minor":1,"resources":{},"extension":{"vfs":[{"minor":3,"busID":"x"},{"busID":"y"}],)"
      R"("gpuSharedResourceTemplate":"t"}}]})";
  const auto allocations = DeviceAllocationsOf(With(kAnnotationDeviceAllocated, text));
  ASSERT_TRUE(allocations.ok()) << allocations.status();
  EXPECT_EQ(EncodeDeviceAllocations(**allocations), text);
}

TEST(DeviceAnnotationsTest, AllocationsWithDeprecatedNames) {
  const auto allocations = DeviceAllocationsOf(
      With(kAnnotationDeviceAllocated,
           R"({"gpu":[{"minor":2,"resources":{"kubernetes.io/gpu-core":"50"}}]})"));
  EXPECT_EQ(EncodeDeviceAllocations(allocations->value()),
            R"({"gpu":[{"minor":2,"resources":{"koordinator.sh/gpu-core":"50"}}]})");
}

TEST(DeviceAnnotationsTest, Wishes) {
  const std::string hint = R"({"rdma":{"selector":{"matchLabels":{"a":"b"}},"vfSelector":{},)"
                           R"("allocateStrategy":"ApplyForAll","requiredTopologyScope":"PCIe",)"
                           R"("exclusivePolicy":"DeviceLevel"}})";
  EXPECT_EQ(Rewritten<DeviceAllocateHint>(hint), hint);
  const std::string joint = R"({"deviceTypes":["gpu","rdma"],"requiredScope":"SamePCIe"})";
  EXPECT_EQ(Rewritten<DeviceJointAllocate>(joint), joint);
  EXPECT_GT(TopologyScopeLevel("Device"), TopologyScopeLevel("PCIe"));
  EXPECT_GT(TopologyScopeLevel("PCIe"), TopologyScopeLevel("NUMANode"));
  EXPECT_GT(TopologyScopeLevel("NUMANode"), TopologyScopeLevel("Node"));
  EXPECT_GT(TopologyScopeLevel("Node"), TopologyScopeLevel(""));
}

TEST(DeviceAnnotationsTest, GpuPartitionSpec) {
  const auto of = [](std::string_view text) {
    return GpuPartitionSpecOf(With(kAnnotationGpuPartitionSpec, text)).value();
  };
  EXPECT_EQ(of("{}")->allocate_policy, "BestEffort");
  EXPECT_EQ(of(R"({"allocatePolicy":"Restricted","ringBusBandwidth":"200Gi"})")->allocate_policy,
            "Restricted");
  EXPECT_FALSE(GpuPartitionSpecOf({}).value().has_value());
}

TEST(DeviceAnnotationsTest, GpuPartitions) {
  const auto of = [](std::string_view text) {
    return GpuPartitionsOf(With(kAnnotationGpuPartitions, text));
  };
  const GpuPartitions partitions =
      of(R"({"2":[{"minors":[0,1],"gpuLinkType":"NVLink","ringBusBandwidth":"400Gi",
                   "allocationScore":3}],"1":[{"minors":[0]}]})")
          .value()
          .value();
  EXPECT_EQ(partitions.at(2)[0].minors, (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(partitions.at(2)[0].allocation_score, 3);
  EXPECT_EQ(partitions.at(1)[0].minors, std::vector<int32_t>{0});
  EXPECT_FALSE(of("").value().has_value());
  EXPECT_EQ(Message(of("null").status()), "invalid gpu partitions in device cr: null");
  EXPECT_FALSE(of(R"({"x":[]})").ok());
  EXPECT_FALSE(of("[]").ok());
}

TEST(DeviceAnnotationsTest, Labels) {
  EXPECT_TRUE(HonorsGpuPartitions(With(kLabelGpuPartitionPolicy, "Honor")));
  EXPECT_FALSE(HonorsGpuPartitions(With(kLabelGpuPartitionPolicy, "Prefer")));
  EXPECT_FALSE(HonorsGpuPartitions({}));
  EXPECT_EQ(IsSecondaryDeviceWellPlanned(With(kLabelSecondaryDeviceWellPlanned, "true")), true);
  EXPECT_EQ(IsSecondaryDeviceWellPlanned(With(kLabelSecondaryDeviceWellPlanned, "false")), false);
  EXPECT_EQ(IsSecondaryDeviceWellPlanned({}), std::nullopt);
}

TEST(NodeAnnotationsTest, Payloads) {
  const std::string topology = R"({"detail":[{"id":0,"core":0,"socket":0,"node":0}]})";
  EXPECT_EQ(EncodeCpuTopology(CpuTopologyOf(With(kAnnotationCpuTopology, topology))->value()),
            topology);
  const std::string allocs =
      R"([{"namespace":"ns","name":"p","uid":"u","cpuset":"0-1","managedByKubelet":true}])";
  EXPECT_EQ(EncodePodCpuAllocs(PodCpuAllocsOf(With(kAnnotationPodCpuAllocs, allocs)).value()),
            allocs);
  const std::string pools = R"([{"socket":0,"node":0,"cpuset":"0-7"}])";
  EXPECT_EQ(EncodeCpuSharedPools(CpuSharedPoolsOf(With(kAnnotationBeCpuSharedPools, pools),
                                                  kAnnotationBeCpuSharedPools)
                                     .value()),
            pools);
  const std::string policy =
      R"({"policy":"static","options":{"full-pcpus-only":"true"},"reservedCPUs":"0"})";
  EXPECT_EQ(
      EncodeKubeletCpuManagerPolicy(
          KubeletCpuManagerPolicyOf(With(kAnnotationKubeletCpuManagerPolicy, policy))->value()),
      policy);
  const std::string thresholds =
      R"({"usageThresholds":{"cpu":60},"prodUsageThresholds":{"memory":70},)"
      R"("aggregatedUsage":{"usageThresholds":{"cpu":50},"usageAggregationType":"p95",)"
      R"("usageAggregatedDuration":"5m0s"}})";
  EXPECT_EQ(Rewritten<UsageThresholds>(thresholds), thresholds);
  EXPECT_EQ(UsageThresholdsOf(With(kAnnotationUsageThresholds,
                                   R"({"aggregatedUsage":{"usageAggregatedDuration":"5m"}})"))
                .value()
                ->aggregated_usage->usage_aggregated_duration,
            5min);
  EXPECT_EQ(EncodeOriginExtendedAllocatable(
                OriginExtendedAllocatableOf(
                    With(kAnnotationOriginExtendedAllocatable, R"({"resources":{"cpu":"1"}})"))
                    ->value()),
            R"({"resources":{"cpu":"1"}})");
  EXPECT_EQ(RawAllocatableOf(With(kAnnotationRawAllocatable, R"({"cpu":"8"})"))->value(),
            MakeList(R"({"cpu":"8"})"));
}

TEST(NodeAnnotationsTest, CpuBasicInfo) {
  const std::string text =
      R"({"cpuModel":"XX","hyperThreadEnabled":true,"catL3CbmMask":"fff","vendorID":"GenuineIntel"})";
  const CpuBasicInfo info = CpuBasicInfoOf(With(kAnnotationCpuBasicInfo, text))->value();
  EXPECT_EQ(KeyOf(info), "XX_true_false");
  EXPECT_EQ(EncodeCpuBasicInfo(info), text);
}

TEST(NodeAnnotationsTest, CpuBindPolicy) {
  const KubeletCpuManagerPolicy insists{.policy = "static",
                                        .options = {{"full-pcpus-only", "true"}}};
  const KubeletCpuManagerPolicy lax{.policy = "none", .options = {{"full-pcpus-only", "true"}}};
  const auto label = [](std::string_view value) { return With(kLabelNodeCpuBindPolicy, value); };
  EXPECT_EQ(NodeCpuBindPolicyOf({}, {}), "None");
  EXPECT_EQ(NodeCpuBindPolicyOf({}, insists), "FullPCPUsOnly");
  EXPECT_EQ(NodeCpuBindPolicyOf({}, lax), "None");
  EXPECT_EQ(NodeCpuBindPolicyOf(label("FullPCPUsOnly"), lax), "FullPCPUsOnly");
  EXPECT_EQ(NodeCpuBindPolicyOf(label("SpreadByPCPUs"), lax), "SpreadByPCPUs");
  EXPECT_EQ(NodeCpuBindPolicyOf(label("SpreadByPCPUs"), insists), "FullPCPUsOnly");
  EXPECT_EQ(NodeCpuBindPolicyOf(label("unknown"), {}), "None");
}

TEST(NodeAnnotationsTest, CpuNormalization) {
  const auto ratio = [](std::string_view text) {
    return CpuNormalizationRatioOf(With(kAnnotationCpuNormalizationRatio, text));
  };
  EXPECT_EQ(ratio("1.20").value(), 1.2);
  EXPECT_EQ(CpuNormalizationRatioOf({}).value(), std::nullopt);
  for (const std::string_view bad : {"0", "-1", "x", ""}) {
    EXPECT_EQ(Message(ratio(bad).status()),
              fmt::format("illegal cpu normalization ratio: {}", bad));
  }
  EXPECT_EQ(FormatRatio(1.2), "1.20");
  EXPECT_TRUE(IsRatioDifferent(1.0, 1.02));
  EXPECT_FALSE(IsRatioDifferent(1.0, 1.005));
  EXPECT_EQ(CpuNormalizationEnabledOf(With(kLabelCpuNormalizationEnabled, "T")).value(), true);
  EXPECT_EQ(CpuNormalizationEnabledOf(With(kLabelCpuNormalizationEnabled, "0")).value(), false);
  EXPECT_EQ(CpuNormalizationEnabledOf({}).value(), std::nullopt);
  EXPECT_FALSE(CpuNormalizationEnabledOf(With(kLabelCpuNormalizationEnabled, "yes")).ok());
}

TEST(NodeAnnotationsTest, Amplification) {
  EXPECT_EQ(Amplify("cpu", Quantity::FromMilli(100), 1.1), Quantity::FromMilli(111));
  EXPECT_EQ(Amplify("cpu", Quantity::FromMilli(3333), 1.3), Quantity::FromMilli(4333));
  EXPECT_EQ(Amplify("cpu", Quantity(3), 0.9), Quantity(3));
  EXPECT_EQ(Amplify("memory", Quantity::Parse("1Gi").value(), 1.5).ToString(), "1536Mi");
  EXPECT_EQ(Amplify("x.io/y", Quantity(3), 1.5).ToString(), "5");
  EXPECT_EQ(Amplify("cpu", Quantity(), 2).ToString(), "0");
  EXPECT_EQ(Amplify("x.io/y", Quantity(INT64_MAX), 2).Value(), INT64_MAX);
  EXPECT_EQ(EncodeAmplificationRatios({{"cpu", 1.5}, {"memory", 1.256}}),
            R"({"cpu":1.50,"memory":1.26})");
  EXPECT_EQ(AmplificationRatiosOf(
                With(kAnnotationResourceAmplificationRatio, R"({"cpu":1.22,"memory":2})"))
                ->value()
                .at("memory"),
            2);
}

TEST(NodeAnnotationsTest, RatioLabels) {
  for (const auto& [text, percent] : {std::pair<const char*, std::optional<int64_t>>{"0.29", 28},
                                      {"0.57", 56},
                                      {"0.7", 70},
                                      {"1.5", 150},
                                      {"0", 0},
                                      {"-0.1", std::nullopt},
                                      {"x", std::nullopt},
                                      {"", std::nullopt},
                                      {"1e400", std::nullopt},
                                      {"nan", std::nullopt}}) {
    EXPECT_EQ(RatioPercentOf(With(kLabelCpuReclaimRatio, text), kLabelCpuReclaimRatio), percent)
        << text;
  }
  EXPECT_EQ(RatioPercentOf({}, kLabelCpuReclaimRatio), std::nullopt);
}

TEST(NodeAnnotationsTest, ThirdParties) {
  const auto allocations = ThirdPartyAllocationsOf(
      With(kAnnotationThirdPartyAllocations,
           R"({"allocations":[{"name":"yarn","priority":"koord-batch","resources":{"cpu":"1"}},
               {"name":"b","priority":"koord-batch","resources":{"cpu":"2"}},
               {"name":"c","priority":"koord-mid","resources":{"cpu":"4"}}]})"));
  EXPECT_EQ(SumOf(*allocations, "koord-batch"), MakeList(R"({"cpu":"3"})"));
  EXPECT_TRUE(ThirdPartyAllocationsOf({})->empty());
}

TEST(NodeAnnotationsTest, NetworkBandwidth) {
  const auto of = [](std::string_view text) {
    return NetworkBandwidthOf(With(kAnnotationNetworkBandwidth, text));
  };
  EXPECT_EQ(of("10G").value()->Value(), 10'000'000'000);
  EXPECT_TRUE(Message(of("fast").status()).starts_with("failed to parse node bandwidth "));
  EXPECT_FALSE(NetworkBandwidthOf({}).value().has_value());
}

TEST(GangTest, Name) {
  const auto name = [](Labels labels, Annotations annotations) {
    kube::ObjectMeta pod;
    pod.labels = std::move(labels);
    pod.annotations = std::move(annotations);
    return std::string(GangNameOf(pod));
  };
  const Annotations g2 = With(kAnnotationGangName, "g2");
  EXPECT_EQ(name(With(kLabelPodGroup, "g1"), g2), "g1");
  EXPECT_EQ(name({{std::string(kLabelPodGroup), ""}, {std::string(kLabelPodGroupName), "g3"}}, g2),
            "g3");
  EXPECT_EQ(name({}, g2), "g2");
  EXPECT_EQ(name({}, {}), "");
}

TEST(GangTest, Annotations) {
  EXPECT_EQ(GangGroupsOf(With(kAnnotationGangGroups, R"(["ns/a","ns/b"])")).value(),
            (std::vector<std::string>{"ns/a", "ns/b"}));
  EXPECT_TRUE(GangGroupsOf({}).value().empty());
  EXPECT_EQ(GangMatchPolicyOf({{std::string(kAnnotationGangMatchPolicy), ""},
                               {std::string(kAnnotationPodGroupMatchPolicy), "only-waiting"}}),
            "only-waiting");
  EXPECT_EQ(GangMatchPolicyOf({{std::string(kAnnotationGangMatchPolicy), "once-satisfied"},
                               {std::string(kAnnotationPodGroupMatchPolicy), "only-waiting"}}),
            "once-satisfied");
  const std::string spec =
      R"({"gatherStrategy":[{"layer":"l","strategy":"MustGather","podCountMultiple":2}]})";
  EXPECT_EQ(Rewritten<NetworkTopologySpec>(spec), spec);
  EXPECT_FALSE(
      NetworkTopologySpecOf(With(kAnnotationGangNetworkTopologySpec, "")).value().has_value());
}

TEST(GangTest, RanksInOrderThenNames) {
  const auto pod = [](std::string name, std::string rank) {
    kube::ObjectMeta meta;
    meta.name = std::move(name);
    meta.annotations = With(kAnnotationGangNetworkTopologyIndex, rank);
    return meta;
  };
  std::vector<kube::ObjectMeta> pods{pod("d", "x"), pod("b", "-1"), pod("c", "10"), pod("a", "2"),
                                     pod("e", "2")};
  std::ranges::sort(pods, ComesBeforeInTopology);
  std::string order;
  for (const kube::ObjectMeta& each : pods) order += each.name;
  EXPECT_EQ(order, "aecbd");
}

TEST(KoordletAnnotationsTest, Qos) {
  EXPECT_EQ(CpuBurstConfigOf(With(kAnnotationCpuBurst, R"({"policy":"auto","cpuBurstPercent":0})"))
                .value()
                ->cpu_burst_percent,
            0);
  EXPECT_EQ(CpuQosOf(With(kAnnotationCpuQos, R"({"groupIdentity":2})")).value()->group_identity, 2);
  EXPECT_EQ(Message(CpuQosOf(With(kAnnotationCpuQos, R"({"groupIdentity":3})")).status()),
            "bad group identity value: 3");
  EXPECT_EQ(Message(CpuQosOf(With(kAnnotationCpuQos, R"({"groupIdentity":-2})")).status()),
            "bad group identity value: -2");
  const auto memory =
      MemoryQosOf(With(kAnnotationMemoryQos, R"({"policy":"auto","wmarkRatio":0})"));
  EXPECT_EQ(memory.value()->policy, "auto");
  EXPECT_EQ(memory.value()->wmark_ratio, 0);
  EXPECT_EQ(BlkioBlocksOf(With(kAnnotationBlkioQos,
                               R"({"blocks":[{"name":"v","type":"podvolume",
                                   "ioCfg":{"readIOPS":100}}]})"))
                ->at(0)
                .io_config.read_iops,
            100);
  EXPECT_EQ(ResctrlOf(With(kAnnotationResctrl,
                           R"({"llc":{"schemata":{"range":[0,50]}},
                               "mb":{"schemataPerCache":[{"cacheID":1,"percent":20}]}})"))
                .value()
                ->mb.schemata_per_cache[0]
                .percent,
            20);
}

TEST(KoordletAnnotationsTest, NetworkLimits) {
  const auto of = [](std::string_view text) {
    return NetworkLimitsOf(With(kAnnotationNetworkQos, text));
  };
  EXPECT_EQ(of(R"({"ingressLimit":"10M","egressLimit":"8Ki"})").value(),
            (PodNetworkLimits{1'250'000, 1024}));
  EXPECT_EQ(of(R"({"IngressLimit":"1000"})").value(), (PodNetworkLimits{125, 0}));
  EXPECT_FALSE(of(R"({"ingressLimit":"fast"})").ok());
  EXPECT_FALSE(NetworkLimitsOf({}).value().has_value());
}

TEST(KoordletAnnotationsTest, Eviction) {
  EXPECT_TRUE(MayBeEvictedBy({}, "CPUEvict"));
  EXPECT_TRUE(MayBeEvictedBy(With(kAnnotationEvictionPolicy, R"(["CPUEvict"])"), "CPUEvict"));
  EXPECT_FALSE(MayBeEvictedBy(With(kAnnotationEvictionPolicy, R"(["CPUEvict"])"), "MemoryEvict"));
  EXPECT_FALSE(MayBeEvictedBy(With(kAnnotationEvictionPolicy, "CPUEvict"), "CPUEvict"));
  EXPECT_EQ(EvictionPriorityOf(With(kAnnotationEvictionPriority, "-5")), -5);
  EXPECT_EQ(EvictionPriorityOf(With(kAnnotationEvictionPriority, "3000000000")), 0);
  EXPECT_EQ(EvictionPriorityOf({}), 0);
}

TEST(KoordletAnnotationsTest, OomScoreAdj) {
  const auto of = [](std::string_view spec, std::string_view all) {
    return OomScoreAdjOf({{std::string(kAnnotationOomScoreAdjSpec), std::string(spec)},
                          {std::string(kAnnotationOomScoreAdj), std::string(all)}},
                         "c");
  };
  EXPECT_EQ(of(R"({"c":100})", "200"), 100);
  EXPECT_EQ(of(R"({"d":100})", "200"), 200);
  EXPECT_EQ(of("{", "200"), std::nullopt) << "a bad spec does not fall back";
  EXPECT_EQ(of(R"({"c":1001})", "200"), std::nullopt);
  EXPECT_EQ(of("{}", "-1001"), std::nullopt);
  EXPECT_EQ(of("{}", "x"), std::nullopt);
  EXPECT_EQ(OomScoreAdjOf({}, "c"), std::nullopt);
}

TEST(KoordletAnnotationsTest, SkipHookServer) {
  kube::ObjectMeta pod;
  EXPECT_FALSE(SkipsHookServer(pod));
  pod.labels = With(kKeySkipHookServer, "true");
  EXPECT_TRUE(SkipsHookServer(pod));
  pod.labels = With(kKeySkipHookServer, "false");
  EXPECT_FALSE(SkipsHookServer(pod));
  pod.annotations = With(kKeySkipHookServer, "true");
  EXPECT_TRUE(SkipsHookServer(pod));
}

TEST(DeschedulerAnnotationsTest, EvictionCost) {
  EXPECT_EQ(EvictionCostOf({}).value(), 0);
  for (const auto& [text, cost] :
       {std::pair{"-5", -5}, {"0", 0}, {"100", 100}, {"2147483647", kNeverEvict}}) {
    EXPECT_EQ(EvictionCostOf(With(kAnnotationEvictionCost, text)).value(), cost) << text;
  }
  for (const std::string_view text : {"00", "+1", "", "007", "2147483648", "1.5", "x", "-"}) {
    EXPECT_EQ(Message(EvictionCostOf(With(kAnnotationEvictionCost, text)).status()),
              fmt::format("invalid value \"{}\"", text));
  }
}

TEST(DeschedulerAnnotationsTest, SoftEviction) {
  const std::string text =
      R"({"timestamp":"2026-07-01T10:00:00Z","deleteOptions":{"gracePeriodSeconds":5},)"
      R"("initiator":"LowNodeLoad","reason":"node \u003e 80%"})";
  EXPECT_EQ(EncodeSoftEviction(SoftEvictionOf(With(kAnnotationSoftEviction, text))->value()), text);
}

TEST(DeschedulerAnnotationsTest, EvictReason) {
  EXPECT_EQ(EvictReasonOf({}), "NotSet");
  Annotations annotations = With(kAnnotationEvictTrigger, "LowNodeLoad");
  EXPECT_EQ(EvictReasonOf(annotations), "LowNodeLoad");
  annotations.emplace(kAnnotationEvictReason, "overloaded");
  EXPECT_EQ(EvictReasonOf(annotations), "overloaded");
}

}  // namespace
}  // namespace koord::api::annotations_test
