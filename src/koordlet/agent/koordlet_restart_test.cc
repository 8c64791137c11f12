// A koordlet that is killed between any two writes, and another one that takes over: the machine
// ends up as if nothing had happened. And one that starts with a feature switched off puts back
// what the one before it has done.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/log.h"
#include "base/temp_dir.h"
#include "koordlet/agent/koordlet_rig_testing.h"
#include "koordlet/host/kernel_text.h"

namespace koord::koordlet::koordlet_restart_test {
namespace {

constexpr char kPinned[] = R"(
metadata:
  name: pinned
  labels: {koordinator.sh/qosClass: LSR}
  annotations: {scheduling.koordinator.sh/resource-status: '{"cpuset":"2-3"}'}
spec:
  containers:
  - {name: main, resources: {requests: {cpu: "2", memory: 1Gi}, limits: {cpu: "2", memory: 1Gi}}}
status: {qosClass: Guaranteed}
)";

// A machine with four trees of files of which all changes can be refused from some point on, as if
// the one who makes them had died.
class Machine {
 public:
  explicit Machine(CgroupVersion version)
      : host_({.version = version,
               .driver = CgroupDriver::kCgroupfs,
               .shape = kShape,
               .resctrl = ResctrlFlavour::kIntel,
               .anolis = true}) {
    host_.proc().Set("sys/vm/min_free_kbytes", "67584\n");
    host_.proc().Set("sys/vm/watermark_scale_factor", "10\n");
    for (const char* yaml : {kService, kPinned, kBatch}) {
      pods_.push_back(TestPod(yaml));
      host_.AddPod(*pods_.back());
      host_.SetProcesses(host_.ContainerDir(*pods_.back(), "main"),
                         std::vector<int32_t>{static_cast<int32_t>(100 * pods_.size())});
    }
    for (MemoryTree* tree : {&host_.cgroup(), &host_.proc(), &host_.sys(), &host_.resctrl()}) {
      tree->BeforeChange([this]() -> Status {
        if (changes_ >= allowed_) return Internal("dead");
        ++changes_;
        return absl::OkStatus();
      });
    }
  }

  // A life of koordlet, of which only so many changes come to anything.
  void Run(Duration time, size_t changes, const std::string& gates = "",
           std::string_view slo = kBusySlo) {
    changes_ = 0;
    allowed_ = changes;
    KoordletOptions options = PlainOptions();
    options.undo_file = directory_.File("undo.json");
    EXPECT_TRUE(options.gates.Set("CgroupReconcile=true,SystemConfig=true").ok());
    EXPECT_TRUE(options.gates.Set(gates).ok());
    Koordlet koordlet(loop_, host_.host(), client_, options, {});
    TellOfNode(koordlet, TestNode(kNode), slo);
    koordlet.OnPods({pods_.begin(), pods_.end()});
    koordlet.Start();
    for (Duration passed{}; passed < time; passed += 1s) {
      host_.UseCpu(host_.ContainerDir(*pods_[0], "main"), 1500ms);
      host_.UseCpu(host_.ContainerDir(*pods_[2], "main"), 1s);
      loop_.Advance(1s);
    }
  }

  size_t changes() const { return changes_; }
  // All but counters, which differ with time.
  std::string Seen() const {
    std::string seen;
    for (const char* tree : {"cgroup", "proc", "resctrl"}) {
      const std::string dump = host_.Dump(tree);
      std::string_view rest = dump;
      while (!rest.empty()) {
        const std::string_view line = TakeLine(rest);
        const bool counts = line.find("cpu.stat") != line.npos || line.starts_with("  ") ||
                            line.find("cpuacct.usage") != line.npos || line.starts_with("stat");
        // In version 2 a cgroup may state the CPUs that it would inherit anyway.
        const bool is_wish =
            host_.layout().version == CgroupVersion::kV2 && line.find("cpuset.cpus:") != line.npos;
        if (is_wish) continue;
        if (!counts || tree == std::string_view("resctrl")) seen.append(line) += '\n';
      }
    }
    return seen;
  }

 private:
  VirtualLoop loop_;
  SilentCluster cluster_;
  kube::Client client_{loop_, std::make_shared<kube::InProcessTransport>(loop_, cluster_), {}};
  TempDir directory_;
  TestHost host_;
  std::vector<std::shared_ptr<const kube::Pod>> pods_;
  size_t changes_ = 0;
  size_t allowed_ = SIZE_MAX;
};

class KoordletRestartTest : public testing::TestWithParam<CgroupVersion> {
 protected:
  KoordletRestartTest() {
    log::SetSink([](std::string_view) {});
  }
  ~KoordletRestartTest() override { log::SetSink(nullptr); }
};

TEST_P(KoordletRestartTest, KilledBetweenAnyTwoWritesTheNextOneFinishes) {
  constexpr Duration kLife = 90s;  // values are put right every minute
  Machine undisturbed(GetParam());
  undisturbed.Run(kLife, SIZE_MAX);
  const size_t changes = undisturbed.changes();
  undisturbed.Run(kLife, SIZE_MAX);
  const std::string expected = undisturbed.Seen();
  ASSERT_GT(changes, 40u);
  for (size_t killed_after = 0; killed_after < changes; ++killed_after) {
    Machine machine(GetParam());
    machine.Run(10s, killed_after);
    machine.Run(kLife, SIZE_MAX);
    ASSERT_EQ(machine.Seen(), expected) << "killed after " << killed_after << " changes";
  }
}

// One that starts with everything switched off.
TEST_P(KoordletRestartTest, WhatIsSwitchedOffAtTheNextStartIsPutBack) {
  constexpr char kAllOff[] =
      "BECPUSuppress=false,CPUBurst=false,CgroupReconcile=false,RdtResctrl=false,"
      "SystemConfig=false,GroupIdentity=false,CPUSetAllocator=false,BatchResource=false";
  Machine untouched(GetParam());
  untouched.Run(40s, 0);
  Machine machine(GetParam());
  machine.Run(40s, SIZE_MAX);
  ASSERT_NE(machine.Seen(), untouched.Seen());
  machine.Run(40s, SIZE_MAX, kAllOff);
  EXPECT_EQ(machine.Seen(), untouched.Seen());
  const size_t restored = machine.changes();
  EXPECT_GT(restored, 0u);
  machine.Run(40s, SIZE_MAX, kAllOff);
  EXPECT_EQ(machine.changes(), 0u) << "nothing is left to put back";
}

// The policy is switched off while nobody looks; the settings of the kernel come back as they were.
TEST_P(KoordletRestartTest, WhatWasBeforeIsRememberedAcrossRestarts) {
  Machine untouched(GetParam());
  Machine machine(GetParam());
  machine.Run(40s, SIZE_MAX);
  machine.Run(70s, SIZE_MAX, "", "resourceUsedThresholdWithBE: {enable: false}");
  EXPECT_THAT(machine.Seen(), testing::HasSubstr("watermark_scale_factor: 10\n"));
}

INSTANTIATE_TEST_SUITE_P(Versions, KoordletRestartTest,
                         testing::Values(CgroupVersion::kV1, CgroupVersion::kV2),
                         [](const auto& info) {
                           return std::string(info.param == CgroupVersion::kV1 ? "V1" : "V2");
                         });

}  // namespace
}  // namespace koord::koordlet::koordlet_restart_test
