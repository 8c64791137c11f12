#include "koordlet/informers/pod_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/yaml.h"

namespace koord::koordlet::pod_book_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const CgroupLayout kLayout{CgroupVersion::kV1, CgroupDriver::kSystemd};

std::shared_ptr<const kube::Pod> PodOf(const std::string& yaml) {
  return std::make_shared<const kube::Pod>(*kube::Decode<kube::Pod>(*kube::ParseYaml(yaml)));
}

std::shared_ptr<const kube::Pod> Annotated(const std::string& qos, const std::string& key,
                                           const std::string& value) {
  auto pod = std::make_shared<kube::Pod>(
      *PodOf("metadata: {name: p, namespace: ns, uid: u1}\nstatus: {phase: Running, qosClass: "
             "Burstable}"));
  if (!qos.empty()) pod->metadata.labels.Mutable()["koordinator.sh/qosClass"] = qos;
  pod->metadata.annotations[key] = value;
  return pod;
}

NodePod Judge(const std::shared_ptr<const kube::Pod>& pod, const PodBounds& bounds = {},
              TrustPolicy trust = {}) {
  PodPolicy policy(std::move(trust));
  return MakeNodePod(pod, kLayout, &policy, bounds);
}

TEST(MakeNodePod, KnowsClassesDirectoriesAndContainers) {
  const NodePod pod = MakeNodePod(PodOf(R"(
metadata: {name: p, namespace: ns, uid: 12-ab, labels: {koordinator.sh/qosClass: LS}}
spec:
  priority: 9100
  containers:
  - {name: main, resources: {requests: {cpu: 500m, memory: 1Gi}, limits: {cpu: "1"}}}
  initContainers:
  - {name: setup, resources: {requests: {cpu: "2", kubernetes.io/batch-cpu: "700"}}}
  - {name: side, restartPolicy: Always, resources: {requests: {kubernetes.io/batch-cpu: "100"}}}
status:
  phase: Running
  qosClass: Burstable
  containerStatuses:
  - {name: main, containerID: "containerd://c1", state: {running: {}}}
  - {name: gone, containerID: "strange://c2", state: {running: {}}}
  initContainerStatuses:
  - {name: setup, state: {waiting: {}}}
)"),
                                  kLayout);
  EXPECT_EQ(pod.qos, api::QosClass::kLs);
  EXPECT_EQ(pod.band, api::PriorityBand::kProd);
  EXPECT_TRUE(pod.is_active);
  EXPECT_EQ(pod.dir, "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod12_ab.slice");
  ASSERT_EQ(pod.containers.size(), 3u);
  EXPECT_EQ(pod.containers[0].dir, pod.dir.Below("cri-containerd-c1.scope"));
  EXPECT_EQ(pod.containers[0].spec->name, "main");
  EXPECT_TRUE(pod.containers[0].is_running);
  EXPECT_TRUE(pod.containers[1].dir.is_root())
      << "a runtime that nobody knows has no known cgroups";
  EXPECT_EQ(pod.containers[1].spec, nullptr);
  EXPECT_TRUE(pod.containers[2].is_init);
  EXPECT_EQ(pod.containers[2].id, "");
  EXPECT_EQ(kube::AmountOf(pod.requests, "cpu").MilliValue(), 2000);
  EXPECT_EQ(kube::AmountOf(pod.requests, "kubernetes.io/batch-cpu").Value(), 100)
      << "batch resources count without the peak of init containers";
  EXPECT_FALSE(pod.limits.contains("memory"));
}

TEST(MakeNodePod, TakesTheClassOfKubernetesWithoutALabel) {
  const struct {
    const char* kube_class;
    api::QosClass qos;
  } cases[] = {{"Guaranteed", api::QosClass::kLsr},
               {"Burstable", api::QosClass::kLs},
               {"BestEffort", api::QosClass::kBe}};
  for (const auto& each : cases) {
    const NodePod pod =
        MakeNodePod(PodOf(std::string("metadata: {name: p, uid: u}\nstatus: {qosClass: ") +
                          each.kube_class + "}"),
                    kLayout);
    EXPECT_EQ(pod.raw_qos, api::QosClass::kNone);
    EXPECT_EQ(pod.qos, each.qos) << each.kube_class;
  }
}

TEST(MakeNodePod, StaticPodsHaveTheCgroupOfTheirFile) {
  const char* yaml = R"(
metadata:
  name: p
  uid: api-uid
  annotations: {kubernetes.io/config.mirror: abc123}
  ownerReferences: [{apiVersion: v1, kind: %s, name: n, uid: x}]
status: {qosClass: BestEffort}
)";
  const auto dir_with_owner = [&](const std::string& kind) {
    std::string text(yaml);
    text.replace(text.find("%s"), 2, kind);
    return MakeNodePod(PodOf(text), kLayout).dir.path();
  };
  EXPECT_THAT(dir_with_owner("Node"), HasSubstr("podabc123.slice"));
  EXPECT_THAT(dir_with_owner("ReplicaSet"), HasSubstr("podapi_uid.slice"));
}

TEST(PodPolicy, CpusAreForReservedClassesAndOfTheNode) {
  const struct {
    const char* name;
    const char* qos;
    const char* cpuset;
    CpuSet expected;
  } cases[] = {
      {"LSR within the node", "LSR", "1-2", {1, 2}},
      {"LSE within the node", "LSE", "0", {0}},
      {"LS has no CPUs of its own", "LS", "1-2", {}},
      {"BE has no CPUs of its own", "BE", "1-2", {}},
      {"no label, Burstable", "", "1-2", {}},
      {"CPUs that the node does not have", "LSR", "3-9", {}},
      {"no list of CPUs", "LSR", "x-y", {}},
  };
  for (const auto& each : cases) {
    const NodePod pod = Judge(Annotated(each.qos, "scheduling.koordinator.sh/resource-status",
                                        std::string(R"({"cpuset":")") + each.cpuset + R"("})"),
                              {.cpus = {0, 1, 2, 3}, .cpu_burst = {}});
    EXPECT_EQ(pod.cpuset, each.expected) << each.name;
    ASSERT_TRUE(pod.resource_status.has_value()) << each.name;
    EXPECT_EQ(pod.resource_status->cpuset.empty(), each.expected.empty()) << each.name;
  }
}

TEST(PodPolicy, KeepsBurstWithinTheNodesStrategy) {
  PodBounds bounds;
  bounds.cpu_burst.cpu_burst_percent = 1000;
  bounds.cpu_burst.cfs_quota_burst_percent = 300;
  bounds.cpu_burst.cfs_quota_burst_period_seconds = 60;
  const NodePod pod =
      Judge(Annotated("LS", "koordinator.sh/cpuBurst",
                      R"({"policy":"auto","cpuBurstPercent":99999,"cfsQuotaBurstPercent":250,)"
                      R"("cfsQuotaBurstPeriodSeconds":-1})"),
            bounds);
  EXPECT_EQ(pod.cpu_burst->policy, "auto");
  EXPECT_EQ(pod.cpu_burst->cpu_burst_percent, 1000);
  EXPECT_EQ(pod.cpu_burst->cfs_quota_burst_percent, 250);
  EXPECT_EQ(pod.cpu_burst->cfs_quota_burst_period_seconds, 60)
      << "no end is longer than any period";
}

TEST(PodPolicy, KeepsMemoryQosInRange) {
  const NodePod pod = Judge(Annotated("LS", "koordinator.sh/memoryQOS",
                                      R"({"policy":"auto","minLimitPercent":100000,)"
                                      R"("throttlingPercent":-5,"wmarkMinAdj":-80,"priority":7})"));
  EXPECT_EQ(pod.memory_qos->min_limit_percent, 100);
  EXPECT_EQ(pod.memory_qos->throttling_percent, 0);
  EXPECT_EQ(pod.memory_qos->wmark_min_adj, -25);
  EXPECT_EQ(pod.memory_qos->priority, 7);
}

TEST(PodPolicy, ForgetsHugeAnnotations) {
  metrics::Registry registry;
  PodPolicy policy({}, &registry);
  auto source = Annotated("LS", "koordinator.sh/cpuBurst",
                          R"({"policy":"auto"})" + std::string(20 << 10, ' '));
  const NodePod pod = MakeNodePod(source, kLayout, &policy);
  EXPECT_FALSE(pod.cpu_burst.has_value());
  EXPECT_THAT(pod.pod->metadata.annotations, IsEmpty()) << "it is not kept in memory either";
  EXPECT_THAT(registry.Text(), HasSubstr("koordlet_pod_annotation_refused_total{key=\"koordinator"
                                         ".sh/cpuBurst\"} 1"));
  MakeNodePod(source, kLayout, &policy);
  EXPECT_THAT(registry.Text(), HasSubstr("cpuBurst\"} 1")) << "said once for each pod";
}

TEST(PodPolicy, ClassesMayBeForSomeNamespacesOnly) {
  TrustPolicy trust;
  trust.class_namespaces["SYSTEM"] = {"kube-system"};
  EXPECT_EQ(Judge(Annotated("SYSTEM", "a", "b"), {}, trust).qos, api::QosClass::kLs);
  EXPECT_EQ(Judge(Annotated("LSR", "a", "b"), {}, trust).qos, api::QosClass::kLsr);
  auto system = std::make_shared<kube::Pod>(*Annotated("SYSTEM", "a", "b"));
  system->metadata.ns = "kube-system";
  EXPECT_EQ(Judge(system, {}, trust).qos, api::QosClass::kSystem);
}

TEST(PodPolicy, TrustsAuthorsWhereTheAdministratorDoes) {
  const NodePod pod =
      Judge(Annotated("LS", "scheduling.koordinator.sh/resource-status", R"({"cpuset":"7"})"),
            {.cpus = {0}, .cpu_burst = {}}, {.trust_pod_authors = true, .class_namespaces = {}});
  EXPECT_THAT(pod.cpuset, ElementsAre(7));
}

TEST(PodBook, SortsPodsAndRefusesUidsThatAreNoNames) {
  PodBook book(kLayout, {});
  const auto pods = book.Update({PodOf("metadata: {name: b, namespace: x, uid: u1}"),
                                 PodOf("metadata: {name: a, namespace: x, uid: u2}"),
                                 PodOf("metadata: {name: evil, namespace: a, uid: ../../etc}"),
                                 PodOf("metadata: {name: a2, namespace: x, uid: u2}")});
  std::vector<std::string> names;
  for (const NodePod& pod : *pods) names.push_back(pod.pod->metadata.name);
  EXPECT_THAT(names, ElementsAre("a", "b"));
}

std::shared_ptr<const kube::Pod> PinnedPod(const std::string& name, int created,
                                           const std::string& cpus) {
  auto pod =
      std::make_shared<kube::Pod>(*Annotated("LSR", "scheduling.koordinator.sh/resource-status",
                                             std::string(R"({"cpuset":")") + cpus + R"("})"));
  pod->metadata.name = pod->metadata.uid = name;
  pod->metadata.creation_timestamp = WallTime(std::chrono::seconds(created));
  pod->status.phase = "Running";
  return pod;
}

TEST(PodBook, EachCpuHasOneOwnerAndTheNodeKeepsItsOwn) {
  PodBook book(kLayout, {});
  book.SetBounds({.cpus = {0, 1, 2, 3, 4, 5, 6, 7}, .kept_cpus = {0, 7}, .cpu_burst = {}});
  const auto pods = book.Update({PinnedPod("thief", 30, "2-3"), PinnedPod("owner", 10, "1-2"),
                                 PinnedPod("greedy", 20, "0-7"), PinnedPod("modest", 40, "4")});
  std::map<std::string, CpuSet> cpus;
  for (const NodePod& pod : *pods) cpus[pod.uid()] = pod.cpuset;
  EXPECT_THAT(cpus["owner"], ElementsAre(1, 2));
  EXPECT_THAT(cpus["thief"], IsEmpty()) << "2 belongs to an older pod";
  EXPECT_THAT(cpus["greedy"], IsEmpty()) << "0 and 7 are reserved or the kubelet's";
  EXPECT_THAT(cpus["modest"], ElementsAre(4)) << "what was refused to others is free";

  PodBook trusting(kLayout, {.trust_pod_authors = true, .class_namespaces = {}});
  trusting.SetBounds({.cpus = {0, 1}, .kept_cpus = {0}, .cpu_burst = {}});
  EXPECT_THAT(trusting.Update({PinnedPod("any", 1, "0")})->front().cpuset, ElementsAre(0));
}

// Decision 6: where the Node's policy binds every pod, also services have CPUs of their own.
TEST(PodPolicy, WhereTheNodeBindsAllPodsServicesHaveCpusToo) {
  const struct {
    const char* label;
    bool always, where_bound;
  } kCases[] = {{"LSE", true, true},
                {"LSR", true, true},
                {"LS", false, true},
                {"BE", false, false},
                {"SYSTEM", false, false}};
  for (const auto& test : kCases) {
    const auto pod =
        Annotated(test.label, "scheduling.koordinator.sh/resource-status", R"({"cpuset":"1"})");
    for (const bool binds : {false, true}) {
      const NodePod judged = Judge(pod, {.cpus = {0, 1}, .binds_all_pods = binds, .cpu_burst = {}});
      EXPECT_EQ(!judged.cpuset.empty(), binds ? test.where_bound : test.always)
          << test.label << ' ' << binds;
    }
  }
}

// Decision 9.
TEST(PodBook, ActsOnPodsOfItsOwnNodeOnly) {
  PodBook book(kLayout, {});
  book.SetBounds({.node_name = "here", .cpus = {}, .cpu_burst = {}});
  const auto pods = book.Update({PodOf("{metadata: {name: a, uid: u1}, spec: {nodeName: here}}"),
                                 PodOf("{metadata: {name: b, uid: u2}, spec: {nodeName: there}}")});
  ASSERT_EQ(pods->size(), 1u);
  EXPECT_EQ(pods->front().pod->metadata.name, "a");
}

TEST(PodBook, TheSameVersionsOfAllPodsAreTheSameList) {
  PodBook book(kLayout, {});
  const auto a = PodOf("metadata: {name: a, namespace: x, uid: u1}");
  const auto b = PodOf("metadata: {name: b, namespace: x, uid: u2}");
  const auto first = book.Update({a, b});
  EXPECT_EQ(book.Update({a, b}), first);
  EXPECT_NE(book.Update({a, PodOf("metadata: {name: b, namespace: x, uid: u2}")}), first);
  EXPECT_THAT(*book.Update({a}), testing::SizeIs(1));
}

TEST(PodBook, LooksAtPodsAgainWhenTheNodeGrantsLess) {
  PodBook book(kLayout, {});
  book.SetBounds({.cpus = {0, 1}, .cpu_burst = {}});
  const auto source =
      Annotated("LSR", "scheduling.koordinator.sh/resource-status", R"({"cpuset":"1"})");
  EXPECT_THAT(book.Update({source})->front().cpuset, ElementsAre(1));
  EXPECT_THAT(book.Update({source})->front().cpuset, ElementsAre(1));
  book.SetBounds({.cpus = {0}, .cpu_burst = {}});
  EXPECT_THAT(book.Refresh()->front().cpuset, IsEmpty());
  EXPECT_THAT(*book.Update({}), IsEmpty());
}

}  // namespace
}  // namespace koord::koordlet::pod_book_test
