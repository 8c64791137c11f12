#include "localcluster/nodes/koordlet/simulated_host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace koord::localcluster::simulated_host_test {
namespace {

using koordlet::CgroupFile;
using testing::HasSubstr;

// Time passes while somebody works: a little whenever anybody looks.
class TickingClock final : public Clock {
 public:
  WallTime Now() const override { return now += 20us; }
  SteadyTime Steady() const override { return Now().time_since_epoch(); }

  mutable WallTime now{1'000'000s};
};

std::shared_ptr<const kube::Pod> PodWith(int containers, WallTime start) {
  auto pod = std::make_shared<kube::Pod>();
  pod->metadata.name = pod->metadata.uid = "p";
  pod->status.phase = "Running";
  pod->status.start_time = start;
  for (int i = 0; i < containers; ++i) {
    kube::Container container;
    container.name = "c" + std::to_string(i);
    container.resources.requests.emplace(kube::kCpu, kube::Quantity::FromMilli(100));
    pod->spec.containers.Mutable().push_back(container);
    kube::ContainerStatus status;
    status.name = container.name;
    status.container_id = "containerd://" + container.name;
    pod->status.container_statuses.Mutable().push_back(status);
  }
  return pod;
}

TEST(SimulatedHost, WorksOutWhatIsUsedOnceForAllWhoRead) {
  TickingClock clock;
  SimulatedHost host(clock, {}, 1);
  const auto pod = PodWith(50, clock.now);
  host.SetPods({pod}, LoadModels());
  const koordlet::Cgroups& cgroups = host.host().cgroups();
  const koordlet::CgroupDir first = host.machine().ContainerDir(*pod, "c0");
  host.machine().cgroup().Set("touched", "");
  int looked = 0;  // at a quota, as each step does after a write
  host.machine().cgroup().SetReader(cgroups.PathOf(CgroupFile::kCpuQuota, first).value(), [&] {
    ++looked;
    host.machine().cgroup().Set("touched", "");
    return std::string("max 100000\n");
  });
  for (int pass = 1; pass <= 3; ++pass) {
    clock.now += 15s;
    for (const kube::Container& container : pod->spec.containers) {
      const koordlet::CgroupDir dir = host.machine().ContainerDir(*pod, container.name);
      for (const CgroupFile file :
           {CgroupFile::kCpuStat, CgroupFile::kMemoryUsage, CgroupFile::kMemoryStat}) {
        EXPECT_TRUE(cgroups.Read(file, dir).ok());
      }
    }
    EXPECT_EQ(looked, pass);
  }
  EXPECT_THAT(*cgroups.Read(CgroupFile::kCpuStat, first),
              testing::Not(HasSubstr("usage_usec 0\n")));
}

TEST(SimulatedHost, LooksAtLimitsAgainWhenTheyMayHaveChanged) {
  TickingClock clock;
  SimulatedHost host(clock, {}, 1);
  const auto pod = PodWith(1, clock.now);
  host.SetPods({pod}, LoadModels());
  const koordlet::Cgroups& cgroups = host.host().cgroups();
  const koordlet::CgroupDir dir = host.machine().ContainerDir(*pod, "c0");
  int looked = 0;
  host.machine().cgroup().SetReader(cgroups.PathOf(CgroupFile::kCpuQuota, dir).value(), [&] {
    ++looked;
    return std::string("max 100000\n");
  });
  const auto pass = [&] {
    clock.now += 15s;
    EXPECT_TRUE(cgroups.Read(CgroupFile::kCpuStat, dir).ok());
    return looked;
  };
  EXPECT_EQ(pass(), 1);
  EXPECT_EQ(pass(), 1);
  const std::string weight = cgroups.PathOf(CgroupFile::kCpuShares, dir).value();
  ASSERT_TRUE(host.host().cgroup_files().Write(weight, "39").ok());
  EXPECT_EQ(pass(), 2);
}

TEST(WithinBudget, CutsWhatNoKubeletCouldStart) {
  const auto huge = PodWith(10'000, WallTime());
  const auto part = WithinBudget(huge);
  EXPECT_EQ(part->spec.containers.size(), 64u);
  EXPECT_EQ(part->status.container_statuses.size(), 64u);
  EXPECT_EQ(part->spec.containers.back().name, part->status.container_statuses.back().name);
  EXPECT_EQ(part->status.qos_class, "Burstable");
  const auto small = PodWith(64, WallTime());
  EXPECT_EQ(WithinBudget(small), small) << "not a copy";
}

TEST(WithinBudget, KeepsTheClassOfTheWholePod) {
  auto pod = std::make_shared<kube::Pod>(*PodWith(100, WallTime()));
  for (size_t i = 0; i < 99; ++i) pod->spec.containers.Mutable()[i].resources = {};
  EXPECT_EQ(WithinBudget(pod)->status.qos_class, "Burstable");
}

}  // namespace
}  // namespace koord::localcluster::simulated_host_test
