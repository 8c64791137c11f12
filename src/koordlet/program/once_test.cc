// `koordlet --once` on the image of a machine in a directory.
#include "koordlet/program/once.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"
#include "base/temp_dir.h"
#include "koordlet/testing/test_host.h"
#include "koordlet/testing/test_pod.h"

namespace koord::koordlet::once_test {
namespace {

using testing::HasSubstr;

constexpr char kPods[] = R"(
kind: List
items:
- metadata: {name: service, namespace: default, uid: service, labels: {koordinator.sh/qosClass: LS}}
  spec: {containers: [{name: main}]}
  status:
    {phase: Running, qosClass: Burstable, containerStatuses: [
      {name: main, containerID: "containerd://service-main", state: {running: {}}}]}
- metadata: {name: batch, namespace: default, uid: batch, labels: {koordinator.sh/qosClass: BE}}
  spec: {containers: [{name: main}]}
  status:
    {phase: Running, qosClass: BestEffort, containerStatuses: [
      {name: main, containerID: "containerd://batch-main", state: {running: {}}}]}
)";
constexpr char kSlo[] = R"(
metadata: {name: node}
spec: {resourceUsedThresholdWithBE: {enable: true, cpuSuppressPolicy: cfsQuota}}
)";
constexpr char kUsage[] = R"(
metadata: {name: node}
status:
  nodeMetric: {nodeUsage: {resources: {cpu: "4", memory: 8Gi}}, systemUsage: {}}
  podsMetric:
  - {name: service, namespace: default, podUsage: {resources: {cpu: "3", memory: 4Gi}}}
  - {name: batch, namespace: default, podUsage: {resources: {cpu: "1", memory: 2Gi}}}
)";

class OnceTest : public testing::Test {
 protected:
  OnceTest() {
    TestHost::Options options;
    options.version = CgroupVersion::kV2;
    options.driver = CgroupDriver::kCgroupfs;
    options.shape = {.sockets = 1, .nodes = 1, .cores = 4, .threads = 2};
    TestHost machine(options);
    for (const char* name : {"service", "batch"}) {
      const bool is_batch = std::string_view(name) == "batch";
      machine.AddPod(*TestPod(std::string("metadata: {name: ") + name +
                              "}\nspec: {containers: [{name: main}]}\nstatus: {qosClass: " +
                              (is_batch ? "BestEffort" : "Burstable") + "}"));
    }
    EXPECT_TRUE(machine.WriteTo(dir_.File("machine")).ok());
    once_.enabled = true;
    once_.host_root = dir_.File("machine");
    once_.pods_file = Write("pods.yaml", kPods);
    once_.node_slo_file = Write("slo.yaml", kSlo);
    once_.node_metric_file = Write("usage.yaml", kUsage);
  }
  std::string Write(const std::string& name, const std::string& text) {
    std::ofstream(dir_.File(name)) << text;
    return dir_.File(name);
  }
  std::string Quota() {
    return *ReadFile(dir_.File("machine/sys/fs/cgroup/kubepods/besteffort/cpu.max"));
  }

  TempDir dir_;
  OnceOptions once_;
};

// 8 cores * 65 % - 3 of the service = 2.2 cores.
constexpr char kQuotaLine[] =
    "/sys/fs/cgroup/kubepods/besteffort/cpu.max: max 100000 -> 220000 100000\n";

TEST_F(OnceTest, PrintsWhatItWrote) {
  const auto report = RunOnce(once_, KoordletOptions());
  ASSERT_TRUE(report.ok()) << Message(report.status());
  EXPECT_THAT(PrintReport(*report, "text"), HasSubstr(kQuotaLine));
  EXPECT_THAT(Quota(), HasSubstr("220000"));
  EXPECT_THAT(PrintReport(*report, "json"),
              HasSubstr(R"("file":"/sys/fs/cgroup/kubepods/besteffort/cpu.max")"));
}

TEST_F(OnceTest, TakesPodsAsAClusterListsThem) {
  std::string pods = kPods;
  for (size_t at = pods.find("spec: {"); at != pods.npos; at = pods.find("spec: {", at + 1)) {
    pods.insert(at + 7, "nodeName: worker-1, ");
  }
  once_.pods_file = Write("bound.yaml", pods);
  const auto report = RunOnce(once_, KoordletOptions());
  ASSERT_TRUE(report.ok()) << Message(report.status());
  EXPECT_THAT(PrintReport(*report, "text"), HasSubstr(kQuotaLine));
}

TEST_F(OnceTest, ChangesNothingInADryRun) {
  const std::string before = Quota();
  KoordletOptions options;
  options.dry_run = true;
  const auto report = RunOnce(once_, options);
  ASSERT_TRUE(report.ok()) << Message(report.status());
  EXPECT_THAT(PrintReport(*report, "text"), HasSubstr(kQuotaLine));
  EXPECT_EQ(Quota(), before);
}

TEST_F(OnceTest, SaysWhatItDecidedAndWhomItWouldEvict) {
  once_.node_metric_file = Write("full.yaml", R"(
metadata: {name: node}
status:
  nodeMetric: {nodeUsage: {resources: {cpu: "4", memory: 30Gi}}, systemUsage: {}}
  podsMetric:
  - {name: service, namespace: default, podUsage: {resources: {cpu: "3", memory: 4Gi}}}
  - {name: batch, namespace: default, podUsage: {resources: {cpu: "1", memory: 2Gi}}}
)");
  KoordletOptions options;
  ASSERT_TRUE(options.gates.Set("BEMemoryEvict=true").ok());
  const auto report = RunOnce(once_, options);
  ASSERT_TRUE(report.ok()) << Message(report.status());
  const std::string text = PrintReport(*report, "text");
  EXPECT_THAT(text, HasSubstr("decision of CPUSuppresss on kubepods/besteffort: 2200 milli-CPUs "
                              "are left for best-effort pods: a quota of 220000 us, before none"));
  EXPECT_THAT(text, HasSubstr("would evict default/batch: trigger by koordlet feature "
                              "BEMemoryEvict"));
  const std::string json = PrintReport(*report, "json");
  EXPECT_THAT(json, HasSubstr(R"("evictions":[{"pod":"default/batch","message":"trigger by)"));
  EXPECT_THAT(json, HasSubstr(R"("strategy":"CPUSuppresss")"));
}

TEST_F(OnceTest, SaysWhichFileIsWrong) {
  once_.node_slo_file = Write("bad.yaml", "spec: {resourceUsedThresholdWithBE: 7}");
  EXPECT_THAT(Message(RunOnce(once_, KoordletOptions()).status()), HasSubstr("bad.yaml"));
  once_.pods_file = dir_.File("nowhere.yaml");
  EXPECT_THAT(Message(RunOnce(once_, KoordletOptions()).status()), HasSubstr("nowhere.yaml"));
}

}  // namespace
}  // namespace koord::koordlet::once_test
