#include "koordlet/enforcement/enforcement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/log.h"
#include "base/temp_dir.h"
#include "koordlet/informers/node_slo_merge.h"
#include "koordlet/qos/qos_testing.h"

namespace koord::koordlet::enforcement_test {
namespace {

using testing::Contains;
using testing::Not;

constexpr char kGate[] = "BECPUSuppress";

class EnforcementTest : public testing::Test {
 protected:
  EnforcementTest() {
    log::SetSink([](std::string_view) {});
    rig_.SetSlo(MergeNodeSlo(api::NodeSloSpec()));
    rig_.PublishPods();
    (void)rig_.gates.Set("AllAlpha=false");
  }
  ~EnforcementTest() override { log::SetSink(nullptr); }

  std::unique_ptr<Enforcement> Make(bool suppresses, bool dry_run = false) {
    (void)rig_.gates.Set(fmt::format("{}={}", kGate, suppresses));
    return std::make_unique<Enforcement>(
        rig_.loop, rig_.Context(),
        hooks::RuntimeHooks::Surroundings{.host = rig_.machine.host(),
                                          .executor = rig_.executor,
                                          .state = rig_.state,
                                          .loop = rig_.loop,
                                          .gates = rig_.gates,
                                          .registry = rig_.registry},
        Enforcement::Options{.hooks = {.node_name = "n"},
                             .undo_file = directory_.File("undo.json"),
                             .dry_run = dry_run});
  }
  // As an earlier run has left it.
  void LeaveBatchOnTwoCpus() {
    UndoFile(directory_.File("undo.json")).SetFeatures({kGate});
    rig_.machine.Set(CgroupFile::kCpuset, BestEffort(), "0-1");
  }
  CgroupDir BestEffort() { return rig_.QosDir(kube::PodQos::kBestEffort); }
  std::string BatchCpus() { return rig_.Get(CgroupFile::kCpuset, BestEffort()); }
  UndoFile::Features Remembered() { return UndoFile(directory_.File("undo.json")).features(); }

  TempDir directory_;
  QosRig rig_{{.version = CgroupVersion::kV1,
               .shape = {.sockets = 1, .nodes = 1, .cores = 4, .threads = 2}}};
};

TEST_F(EnforcementTest, PutsBackWhatAFeatureDidThatIsOffNow) {
  LeaveBatchOnTwoCpus();
  const auto enforcement = Make(/*suppresses=*/false);
  enforcement->Start();
  EXPECT_THAT(Remembered(), Contains(kGate)) << "until it is done";
  rig_.loop.Advance(30s);
  EXPECT_EQ(BatchCpus(), "0-7");
  EXPECT_THAT(Remembered(), Not(Contains(kGate)));
}

TEST_F(EnforcementTest, RemembersWhatIsOn) {
  const auto enforcement = Make(/*suppresses=*/true);
  EXPECT_THAT(Remembered(), Not(Contains(kGate)));
  enforcement->Start();
  EXPECT_THAT(Remembered(), Contains(kGate));
}

TEST_F(EnforcementTest, ADryRunNeitherPutsBackNorRemembers) {
  LeaveBatchOnTwoCpus();
  const auto enforcement = Make(/*suppresses=*/false, /*dry_run=*/true);
  enforcement->Start();
  rig_.loop.Advance(30s);
  EXPECT_EQ(BatchCpus(), "0-1");
  EXPECT_THAT(Remembered(), Contains(kGate));
}

TEST_F(EnforcementTest, LeavesTheMachineAloneOnceStopped) {
  LeaveBatchOnTwoCpus();
  const auto enforcement = Make(/*suppresses=*/true);
  enforcement->Start();
  enforcement->Stop();
  rig_.writes.clear();
  rig_.machine.Set(CgroupFile::kCpuset, BestEffort(), "0-2");
  rig_.loop.Advance(2min);
  EXPECT_TRUE(rig_.writes.empty());
  EXPECT_EQ(BatchCpus(), "0-2");
}

}  // namespace
}  // namespace koord::koordlet::enforcement_test
