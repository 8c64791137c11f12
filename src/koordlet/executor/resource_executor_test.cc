#include "koordlet/executor/resource_executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/log.h"
#include "base/virtual_loop.h"
#include "koordlet/testing/test_host.h"
#include "koordlet/testing/test_pod.h"

namespace koord::koordlet::resource_executor_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class AuditList final : public Auditor {
 public:
  void Log(AuditEvent event) override { events.push_back(std::move(event)); }
  std::vector<AuditEvent> events;
};

// A machine with one BE pod and what is needed to write to it.
struct Bed {
  explicit Bed(TestHost::Options machine_options = {}, bool dry_run = false)
      : machine(std::move(machine_options)),
        executor(machine.host(), loop.clock(), &audit, &metrics, {.dry_run = dry_run}) {
    machine.AddPod(*pod);
    executor.set_observer([this](const WriteRecord& record) {
      writes.push_back(fmt::format("{}: {} -> {}", record.path.substr(record.path.rfind('/') + 1),
                                   record.old_value, record.new_value));
      paths.push_back(record.path);
    });
  }

  Update Of(CgroupFile file, const CgroupDir& dir, std::string_view value) {
    return {CgroupTarget{file, dir}, std::string(value), {}};
  }
  bool Apply(CgroupFile file, const CgroupDir& dir, std::string_view value) {
    return executor.Apply(Of(file, dir, value)).value();
  }

  const std::shared_ptr<const kube::Pod> pod = TestPod(R"(
metadata: {name: batch, labels: {koordinator.sh/qosClass: BE}}
spec: {containers: [{name: main}]}
)");
  TestHost machine;
  VirtualLoop loop;
  AuditList audit;
  metrics::Registry metrics;
  ResourceExecutor executor;
  std::vector<std::string> writes;
  std::vector<std::string> paths;
  const CgroupDir pod_dir = machine.PodDir(*pod);
  const CgroupDir container_dir = machine.ContainerDir(*pod, "main");
};

constexpr TestHost::Options V1() {
  TestHost::Options options;
  options.version = CgroupVersion::kV1;
  options.driver = CgroupDriver::kCgroupfs;
  return options;
}

TEST(ResourceExecutor, WritesWhatDiffersAndOnlyOnce) {
  Bed bed;
  EXPECT_TRUE(bed.Apply(CgroupFile::kCpuShares, bed.pod_dir, "1024"));
  EXPECT_EQ(bed.machine.Get(CgroupFile::kCpuShares, bed.pod_dir), "39");
  EXPECT_FALSE(bed.Apply(CgroupFile::kCpuShares, bed.pod_dir, "1024"));
  EXPECT_TRUE(bed.Apply(CgroupFile::kCpuQuota, bed.pod_dir, "20000"));
  EXPECT_EQ(bed.machine.Get(CgroupFile::kCpuQuota, bed.pod_dir), "20000 100000");
  EXPECT_FALSE(bed.executor.ApplyNow(bed.Of(CgroupFile::kCpuQuota, bed.pod_dir, "20000")).value())
      << "two fields in the file, the same quota";
  EXPECT_THAT(bed.writes,
              ElementsAre("cpu.weight: 1 -> 39", "cpu.max: max 100000 -> 20000 100000"));
  EXPECT_EQ(bed.paths.front(), "cgroup/" + bed.pod_dir.path() + "/cpu.weight");
}

TEST(ResourceExecutor, LooksAgainAfterAMinute) {
  Bed bed(V1());
  bed.Apply(CgroupFile::kCpuShares, bed.pod_dir, "1024");
  bed.machine.Set(CgroupFile::kCpuShares, bed.pod_dir, "7");  // somebody else
  bed.loop.Advance(59s);
  EXPECT_FALSE(bed.Apply(CgroupFile::kCpuShares, bed.pod_dir, "1024"));
  EXPECT_EQ(bed.machine.Get(CgroupFile::kCpuShares, bed.pod_dir), "7");
  bed.loop.Advance(1s);
  EXPECT_TRUE(bed.Apply(CgroupFile::kCpuShares, bed.pod_dir, "1024"));
  EXPECT_EQ(bed.machine.Get(CgroupFile::kCpuShares, bed.pod_dir), "1024");
}

TEST(ResourceExecutor, TrustsWhatItWroteForAsLongAsItIsTold) {
  Bed bed(V1());
  ResourceExecutor trusting(bed.machine.host(), bed.loop.clock(), nullptr, nullptr,
                            {.force_update_after = 1h});
  const Update shares = bed.Of(CgroupFile::kCpuShares, bed.pod_dir, "1024");
  ASSERT_TRUE(trusting.Apply(shares).value());
  bed.machine.Set(CgroupFile::kCpuShares, bed.pod_dir, "7");  // somebody else
  for (int minute = 1; minute < 60; ++minute) {
    bed.loop.Advance(1min);
    EXPECT_FALSE(trusting.Apply(shares).value()) << minute;
  }
  bed.loop.Advance(1min);
  EXPECT_TRUE(trusting.Apply(shares).value());
}

TEST(ResourceExecutor, WritesAsSoonAsThereIsADirectory) {
  TestHost::Options anolis;
  anolis.anolis = true;
  Bed bed(anolis);
  bed.machine.RemovePod(*bed.pod);
  EXPECT_FALSE(bed.Apply(CgroupFile::kCpuBvt, bed.pod_dir, "2"));
  bed.machine.AddPod(*bed.pod);
  EXPECT_TRUE(bed.Apply(CgroupFile::kCpuBvt, bed.pod_dir, "2"));
}

TEST(ResourceExecutor, LooksAgainForWhatTheKernelLacks) {
  Bed bed;
  EXPECT_FALSE(bed.Apply(CgroupFile::kCpuBvt, bed.pod_dir, "2"));
  bed.machine.cgroup().Set(bed.pod_dir.path() + "/cpu.bvt_warp_ns", "0\n");  // after an update
  bed.loop.Advance(1min);
  EXPECT_TRUE(bed.Apply(CgroupFile::kCpuBvt, bed.pod_dir, "2"));
}

TEST(ResourceExecutor, ApplyNowAlwaysLooks) {
  Bed bed(V1());
  bed.Apply(CgroupFile::kCpuQuota, bed.pod_dir, "20000");
  bed.machine.Set(CgroupFile::kCpuQuota, bed.pod_dir, "-1");
  EXPECT_TRUE(bed.executor.ApplyNow(bed.Of(CgroupFile::kCpuQuota, bed.pod_dir, "20000")).value());
  EXPECT_EQ(bed.machine.Get(CgroupFile::kCpuQuota, bed.pod_dir), "20000");
}

TEST(ResourceExecutor, DoesNotRereadAConvertedValueInPlace) {
  Bed bed;
  const Update shares = bed.Of(CgroupFile::kCpuShares, bed.pod_dir, "1024");
  ASSERT_TRUE(bed.executor.Apply(shares).value());
  int reads = 0;
  bed.machine.cgroup().SetReader(bed.pod_dir.path() + "/cpu.weight", [&reads] {
    ++reads;
    return std::string("39\n");
  });
  EXPECT_FALSE(bed.executor.Apply(shares).value());
  EXPECT_EQ(reads, 0);
}

TEST(ResourceExecutor, WhatIsMissingIsNoError) {
  Bed bed(V1());
  const CgroupDir gone = CgroupDir::At("kubepods/besteffort/podgone");
  EXPECT_FALSE(bed.Apply(CgroupFile::kCpuShares, gone, "1024"));
  EXPECT_FALSE(bed.Apply(CgroupFile::kCpuBvt, bed.pod_dir, "2")) << "Anolis only";
  EXPECT_FALSE(bed.Apply(CgroupFile::kPageCacheLimitSize, bed.pod_dir, "1")) << "version 2 only";
  EXPECT_THAT(bed.writes, IsEmpty());
  EXPECT_THAT(bed.metrics.Text(), Not(HasSubstr("_count")));

  bed.machine.cgroup_kernel().AddDirectory(gone);
  EXPECT_TRUE(bed.Apply(CgroupFile::kCpuShares, gone, "2"))
      << "what was not there is not remembered as done";
}

TEST(ResourceExecutor, IllegalValuesAreNotWritten) {
  Bed bed(V1());
  for (const auto& [file, value] :
       {std::pair(CgroupFile::kCpuset, ""), std::pair(CgroupFile::kCpuQuota, "0"),
        std::pair(CgroupFile::kCpuShares, "0")}) {
    EXPECT_EQ(bed.executor.Apply(bed.Of(file, bed.pod_dir, value)).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
  EXPECT_THAT(bed.writes, IsEmpty());
}

TEST(ResourceExecutor, BurstIsCutToTheQuotaWhereTheKernelWantsIt) {
  for (const CgroupVersion version : {CgroupVersion::kV1, CgroupVersion::kV2}) {
    TestHost::Options options;
    options.version = version;
    Bed bed(options);
    const auto get = [&](CgroupFile file) { return bed.machine.Get(file, bed.pod_dir); };
    EXPECT_TRUE(bed.Apply(CgroupFile::kCpuBurst, bed.pod_dir, "1500000")) << "no quota, no bound";
    EXPECT_TRUE(bed.Apply(CgroupFile::kCpuQuota, bed.pod_dir, "150000"));
    EXPECT_EQ(get(CgroupFile::kCpuBurst), "150000") << "makes room";
    const Update burst = bed.Of(CgroupFile::kCpuBurst, bed.pod_dir, "1500000");
    EXPECT_FALSE(bed.executor.ApplyNow(burst).value());
    EXPECT_TRUE(bed.Apply(CgroupFile::kCpuQuota, bed.pod_dir, "200000"));
    EXPECT_TRUE(bed.executor.ApplyNow(burst).value());
    EXPECT_EQ(get(CgroupFile::kCpuBurst), "200000");
    EXPECT_TRUE(bed.Apply(CgroupFile::kCpuQuota, bed.pod_dir, "-1"));
  }
}

TEST(ResourceExecutor, AnolisTakesAnyBurst) {
  TestHost::Options options = V1();
  options.anolis = true;
  Bed bed(options);
  EXPECT_TRUE(bed.Apply(CgroupFile::kCpuQuota, bed.pod_dir, "150000"));
  EXPECT_TRUE(bed.Apply(CgroupFile::kCpuBurst, bed.pod_dir, "1500000"));
  EXPECT_EQ(bed.machine.Get(CgroupFile::kCpuBurst, bed.pod_dir), "1500000");
}

TEST(ResourceExecutor, ARefusedWriteIsTriedAgain) {
  Bed bed(V1());
  const std::string path = fmt::format("cpu/{}/cpu.shares", bed.pod_dir);
  bed.machine.cgroup().SetWriter(path, [](std::string_view, std::string_view) {
    return absl::PermissionDeniedError("read-only file system");
  });
  const Update update = bed.Of(CgroupFile::kCpuShares, bed.pod_dir, "1024");
  EXPECT_FALSE(bed.executor.Apply(update).ok());
  EXPECT_FALSE(bed.executor.Apply(update).ok());
  bed.machine.cgroup().SetWriter(path, nullptr);
  EXPECT_TRUE(bed.executor.Apply(update).value());
  EXPECT_THAT(bed.metrics.Text(), HasSubstr("koordlet_resource_update_duration_milliseconds_count"
                                            "{status=\"failed\",type=\"cgroup\"} 2"));
  EXPECT_THAT(bed.metrics.Text(), HasSubstr("koordlet_resource_update_duration_milliseconds_count"
                                            "{status=\"success\",type=\"cgroup\"} 1"));
}

TEST(ResourceExecutor, AuditsChanges) {
  Bed bed(V1());
  Update update = bed.Of(CgroupFile::kCpuQuota, bed.pod_dir, "20000");
  bed.executor.Apply(update).IgnoreError();
  update.about = {AuditEvent::Type::kPod, 1, "default", "batch", "", "Suppress", "node is busy"};
  update.value = "10000";
  bed.executor.Apply(update).IgnoreError();
  bed.executor.Apply(update).IgnoreError();
  ASSERT_EQ(bed.audit.events.size(), 2u);
  EXPECT_EQ(bed.audit.events[0].reason, "UpdateCgroups");
  EXPECT_EQ(bed.audit.events[0].level, 3);
  EXPECT_EQ(bed.audit.events[1].reason, "Suppress");
  EXPECT_EQ(bed.audit.events[1].level, 1);
  EXPECT_EQ(bed.audit.events[1].name, "batch");
  EXPECT_EQ(bed.audit.events[1].message,
            "node is busy, update cgroup/cpu/kubepods/besteffort/podbatch/cpu.cfs_quota_us: "
            "20000 -> 10000");
}

TEST(ResourceExecutor, FilesOutsideOfCgroups) {
  Bed bed;
  bed.machine.proc().Set("sys/vm/min_free_kbytes", "67584\n");
  const Update update{FileTarget{FileTarget::Tree::kProc, "sys/vm/min_free_kbytes"}, "100000", {}};
  EXPECT_TRUE(bed.executor.Apply(update).value());
  EXPECT_EQ(bed.machine.proc().Read("sys/vm/min_free_kbytes").value(), "100000");
  EXPECT_FALSE(bed.executor.ApplyNow(update).value());
  const Update missing{FileTarget{FileTarget::Tree::kSys, "kernel/mm/none"}, "1", {}};
  EXPECT_FALSE(bed.executor.Apply(missing).value());
  const Update outside{FileTarget{FileTarget::Tree::kSys, "../etc/passwd"}, "1", {}};
  EXPECT_EQ(bed.executor.Apply(outside).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(ResourceExecutor, DevicesOfOneFileAreRememberedApart) {
  TestHost::Options options = V1();
  options.anolis = true;
  Bed bed(options);
  const auto apply = [&](std::string_view value) {
    return bed.Apply(CgroupFile::kBlkioReadIops, bed.pod_dir, value);
  };
  EXPECT_TRUE(apply("253:0 100"));
  EXPECT_TRUE(apply("253:16 200"));
  EXPECT_FALSE(apply("253:0 100"));
  EXPECT_EQ(bed.machine.Get(CgroupFile::kBlkioReadIops, bed.pod_dir), "253:0 100\n253:16 200");
  EXPECT_FALSE(apply("253:32 0")) << "no line for it: nothing to reset";
  EXPECT_TRUE(apply("253:16 0"));
  EXPECT_EQ(bed.machine.Get(CgroupFile::kBlkioReadIops, bed.pod_dir), "253:0 100");
}

TEST(ResourceExecutor, WritesOnlyTheChangedKindOfSchemata) {
  TestHost::Options options;
  options.shape = {.sockets = 2, .nodes = 2};
  options.resctrl = ResctrlFlavour::kIntel;
  Bed bed(options);
  ASSERT_TRUE(bed.executor.MakeResctrlGroup("BE").ok());
  ASSERT_TRUE(bed.executor.MakeResctrlGroup("BE").ok());
  const auto apply = [&](std::string kind, std::string value) {
    return bed.executor.ApplyNow({ResctrlSchemata{"BE", std::move(kind)}, std::move(value), {}});
  };
  EXPECT_TRUE(apply("L3", "L3:0=3;1=3;\n").value());
  EXPECT_FALSE(apply("L3", "0=003;1=3").value()) << "the same in other words";
  EXPECT_FALSE(apply("MB", "MB:0=100;1=100;\n").value());
  EXPECT_TRUE(apply("MB", "MB:0=90;1=90;\n").value());
  EXPECT_THAT(bed.paths, ElementsAre("resctrl/BE", "resctrl/BE/schemata", "resctrl/BE/schemata"));
  EXPECT_EQ(bed.machine.resctrl().Read("BE/schemata").value(),
            "    L3:0=3;1=3\n    MB:0=90;1=90\n");
  EXPECT_FALSE(apply("L3", "0=0;1=0").ok());
  EXPECT_FALSE(apply("L2", "0=f").ok());
  EXPECT_FALSE(apply("L3", "garbage").ok());
  EXPECT_FALSE(bed.executor.ApplyNow({ResctrlSchemata{"none", "L3"}, "0=1", {}}).value());
  EXPECT_FALSE(bed.executor.MakeResctrlGroup("../x").ok());
  ASSERT_TRUE(bed.executor.RemoveResctrlGroup("BE").ok());
  EXPECT_FALSE(bed.machine.resctrl().Exists("BE"));
  EXPECT_TRUE(bed.executor.RemoveResctrlGroup("BE").ok());
}

TEST(ResourceExecutor, AddsTasksInOrderPastThoseThatEnded) {
  TestHost::Options options;
  options.resctrl = ResctrlFlavour::kAmd;
  Bed bed(options);
  ASSERT_TRUE(bed.executor.MakeResctrlGroup("LS").ok());
  std::vector<std::string> seen;
  bed.machine.resctrl().SetWriter("LS/tasks", [&](std::string_view, std::string_view text) {
    seen.emplace_back(text);
    return text == "5\n" ? NotFound("no such process") : absl::OkStatus();
  });
  EXPECT_TRUE(bed.executor.AddResctrlTasks("LS", {7, 5, 12, 7}).ok());
  EXPECT_THAT(seen, ElementsAre("5\n", "7\n", "12\n"));
  EXPECT_EQ(bed.writes.back(), "tasks:  -> 7,12");
}

TEST(ResourceExecutor, ADryRunChangesNothingButTells) {
  Bed bed(V1(), true);
  const std::string before = bed.machine.Dump();
  EXPECT_TRUE(bed.Apply(CgroupFile::kCpuShares, bed.pod_dir, "1024"));
  EXPECT_FALSE(bed.executor.ApplyNow(bed.Of(CgroupFile::kCpuShares, bed.pod_dir, "1024")).value())
      << "it would be in place by now";
  const std::vector<std::vector<Update>> levels = {
      {bed.Of(CgroupFile::kCpuset, bed.pod_dir, "0-1")},
      {bed.Of(CgroupFile::kCpuset, bed.container_dir, "0-1")}};
  bed.executor.ApplyLevels(levels);
  EXPECT_EQ(bed.machine.Dump(), before);
  EXPECT_THAT(bed.writes, ElementsAre("cpu.shares: 2 -> 1024", "cpuset.cpus: 0-7 -> 0-1",
                                      "cpuset.cpus: 0-7 -> 0-1"));
  EXPECT_THAT(bed.audit.events, IsEmpty());
}

TEST(ResourceExecutor, Vector21LeveledBatch) {
  Bed bed(V1());
  const auto apply = [&](std::string_view pod, std::string_view container) {
    bed.writes.clear();
    bed.paths.clear();
    const std::vector<std::vector<Update>> levels = {
        {bed.Of(CgroupFile::kCpuQuota, bed.pod_dir, pod)},
        {bed.Of(CgroupFile::kCpuQuota, bed.container_dir, container)}};
    bed.executor.ApplyLevels(levels);
  };
  apply("10000", "8000");
  EXPECT_THAT(bed.writes,
              ElementsAre("cpu.cfs_quota_us: -1 -> 8000", "cpu.cfs_quota_us: -1 -> 10000"));
  EXPECT_THAT(bed.paths[0], HasSubstr(bed.container_dir.path())) << "shrinks upwards";
  apply("-1", "-1");
  EXPECT_THAT(bed.writes,
              ElementsAre("cpu.cfs_quota_us: 10000 -> -1", "cpu.cfs_quota_us: 8000 -> -1"));
  EXPECT_THAT(bed.paths[1], HasSubstr(bed.container_dir.path())) << "grows downwards";
}

TEST(ResourceExecutor, LeveledCpusGoThroughTheUnion) {
  Bed bed(V1());
  for (const CgroupDir& dir : {bed.container_dir, bed.machine.SandboxDir(*bed.pod), bed.pod_dir}) {
    bed.machine.Set(CgroupFile::kCpuset, dir, "2-3,6-7");
  }
  bed.machine.Set(CgroupFile::kCpuset, bed.machine.SandboxDir(*bed.pod), "3");
  const std::vector<std::vector<Update>> levels = {
      {bed.Of(CgroupFile::kCpuset, bed.pod_dir, "2-4")},
      {bed.Of(CgroupFile::kCpuset, bed.container_dir, "2-4")}};
  bed.executor.ApplyLevels(levels);
  EXPECT_THAT(bed.writes,
              ElementsAre("cpuset.cpus: 2-3,6-7 -> 2-4,6-7", "cpuset.cpus: 2-3,6-7 -> 2-4,6-7",
                          "cpuset.cpus: 2-4,6-7 -> 2-4", "cpuset.cpus: 2-4,6-7 -> 2-4"));
  bed.writes.clear();
  bed.executor.ApplyLevels(levels);
  EXPECT_THAT(bed.writes, IsEmpty());
}

TEST(ResourceExecutor, AGarbledFileCostsOnlyItself) {
  std::vector<std::string> logged;
  log::SetSink([&](std::string_view line) { logged.emplace_back(line); });
  Bed bed(V1());
  bed.machine.Set(CgroupFile::kCpuQuota, bed.pod_dir, "garbage");
  const std::vector<std::vector<Update>> levels = {
      {bed.Of(CgroupFile::kCpuQuota, bed.pod_dir, "10000"),
       bed.Of(CgroupFile::kCpuShares, bed.pod_dir, "1024")},
      {bed.Of(CgroupFile::kCpuQuota, CgroupDir::At("kubepods/besteffort/podgone/c"), "8000"),
       bed.Of(CgroupFile::kCpuQuota, bed.container_dir, "8000")}};
  bed.executor.ApplyLevels(levels);
  bed.executor.ApplyLevels(levels);
  log::SetSink(nullptr);
  EXPECT_EQ(bed.machine.Get(CgroupFile::kCpuShares, bed.pod_dir), "1024");
  EXPECT_EQ(bed.machine.Get(CgroupFile::kCpuQuota, bed.container_dir), "8000");
  ASSERT_EQ(logged.size(), 1u) << "said once";
  EXPECT_THAT(logged[0], HasSubstr("podbatch"));
}

TEST(ResourceExecutor, AFileThatIsGarbledAgainIsReportedAgain) {
  std::vector<std::string> logged;
  log::SetSink([&](std::string_view line) { logged.emplace_back(line); });
  Bed bed(V1());
  const auto apply = [&bed](std::string_view before, std::string_view value) {
    bed.machine.Set(CgroupFile::kCpuQuota, bed.pod_dir, before);
    const std::vector<std::vector<Update>> levels = {
        {bed.Of(CgroupFile::kCpuQuota, bed.pod_dir, std::string(value))}};
    bed.executor.ApplyLevels(levels);
  };
  apply("garbage", "10000");
  apply("20000", "10000");
  apply("garbage", "5000");
  log::SetSink(nullptr);
  EXPECT_EQ(logged.size(), 2u);
}

}  // namespace
}  // namespace koord::koordlet::resource_executor_test
