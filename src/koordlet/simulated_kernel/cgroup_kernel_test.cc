// Whether the kernel that tests work with refuses and keeps what the real one does.
#include "koordlet/simulated_kernel/cgroup_kernel.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/cpu_set.h"
#include "base/random.h"
#include "base/strings.h"
#include "koordlet/host/directory_tree.h"
#include "koordlet/host/discovery.h"

namespace koord::koordlet::cgroup_kernel_test {
namespace {

// A tree of three levels in the machine's own hierarchies, removed at the end.
class RealDirectories {
 public:
  explicit RealDirectories(std::string top)
      : dirs{top, top + "/a", top + "/b", top + "/a/x", top + "/a/y"} {}
  ~RealDirectories() {
    for (auto dir = dirs.rbegin(); dir != dirs.rend(); ++dir) {
      for (const char* subsystem : kSubsystems) {
        tree.RemoveDirectory(fmt::format("{}/{}", subsystem, *dir)).IgnoreError();
      }
    }
  }

  bool Make() {
    for (const std::string& dir : dirs) {
      for (const char* subsystem : kSubsystems) {
        if (!tree.MakeDirectory(fmt::format("{}/{}", subsystem, dir)).ok()) return false;
      }
      // New ones are empty, unlike those that a runtime makes.
      if (!tree.Write(fmt::format("cpuset/{}/cpuset.cpus", dir), cpus()).ok() ||
          !tree.Write(fmt::format("cpuset/{}/cpuset.mems", dir), "0").ok()) {
        return false;
      }
    }
    return true;
  }

  std::string cpus() const {
    return std::string(Trim(tree.Read("cpuset/cpuset.cpus").value_or("0")));
  }

  static constexpr const char* kSubsystems[] = {"cpu", "cpuset", "memory"};
  const std::vector<std::string> dirs;
  DirectoryTree tree{"/sys/fs/cgroup", {.links = DirectoryTree::Links::kFirst}};
};

std::string RandomValue(Random& random, CgroupFile file, const CpuSet& cpus) {
  const auto pick = [&random](std::initializer_list<const char*> values) {
    return std::string(values.begin()[random.Below(values.size())]);
  };
  switch (file) {
    case CgroupFile::kCpuQuota:
      return pick({"-1", "0", "999", "1000", "5000", "20000", "50000", "100000", "max", "x"});
    case CgroupFile::kCpuBurst:
      return pick({"0", "500", "5000", "20000", "-1", "x"});
    case CgroupFile::kMemoryLimit:
      return pick({"-1", "10485760", "20000000", "x"});
    case CgroupFile::kCpuShares:
      return pick({"2", "1024", "262144", "x"});
    default:
      break;
  }
  CpuSet some;
  for (const int32_t cpu : cpus) {
    if (random.Chance(0.6)) some.Add(cpu);
  }
  return some.ToString();
}

TEST(CgroupKernel, AgreesWithTheRealOne) {
  if (FindCgroupVersion("/sys/fs/cgroup") != CgroupVersion::kV1) {
    GTEST_SKIP() << "this machine has version 2";
  }
  RealDirectories real(fmt::format("koord-kernel-test-{}", getpid()));
  if (!real.Make()) GTEST_SKIP() << "cgroups cannot be made here";
  const CgroupLayout layout{CgroupVersion::kV1, CgroupDriver::kCgroupfs};
  const CpuSet cpus = CpuSet::Parse(real.cpus()).value();
  MemoryTree memory;
  CgroupKernel kernel(memory, {.layout = layout, .cpus = cpus});
  for (const std::string& dir : real.dirs) kernel.AddDirectory(dir);
  const Cgroups cgroups(memory, layout);

  Random random(7);
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    constexpr CgroupFile kFiles[] = {CgroupFile::kCpuQuota, CgroupFile::kCpuBurst,
                                     CgroupFile::kCpuset, CgroupFile::kMemoryLimit,
                                     CgroupFile::kCpuShares};
    const CgroupFile file = kFiles[random.Below(std::size(kFiles))];
    const std::string& dir = real.dirs[random.Below(real.dirs.size())];
    const std::string path = cgroups.PathOf(file, CgroupDir::At(dir)).value();
    if (!real.tree.Exists(path)) continue;  // kernels before 5.14 know no burst
    const std::string value = RandomValue(random, file, cpus);
    // An empty set is refused only while processes are inside.
    if (file == CgroupFile::kCpuset && value.empty()) continue;
    const Status truth = real.tree.Write(path, value);
    const Status answer = memory.Write(path, value);
    ASSERT_EQ(truth.code(), answer.code())
        << path << " <- " << Quote(value) << ": the real kernel says " << truth << ", ours "
        << answer;
    refused += truth.ok() ? 0 : 1;
    ASSERT_EQ(Trim(real.tree.Read(path).value()), Trim(memory.Read(path).value())) << path;
  }
  EXPECT_GT(refused, 300);
}

}  // namespace
}  // namespace koord::koordlet::cgroup_kernel_test
