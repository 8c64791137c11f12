// At no moment has a child more than its parent, whatever is changed into whatever.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/cpu_set.h"
#include "base/random.h"
#include "base/virtual_loop.h"
#include "koordlet/executor/resource_executor.h"
#include "koordlet/testing/test_host.h"

namespace koord::koordlet::level_order_test {
namespace {

constexpr int64_t kMib = int64_t{1} << 20;

// Directories of three levels below besteffort, each with the number of its parent.
struct Tree {
  struct Dir {
    std::string path;
    int parent;  // -1: the top
    size_t level;
  };
  std::vector<Dir> dirs;
};

Tree RandomTree(Random& random, const std::string& top) {
  Tree tree;
  tree.dirs.push_back({top, -1, 0});
  for (uint64_t pod = 0, pods = 1 + random.Below(4); pod < pods; ++pod) {
    const int pod_index = static_cast<int>(tree.dirs.size());
    tree.dirs.push_back({fmt::format("{}/pod{}", top, pod), 0, 1});
    for (uint64_t i = 0, containers = random.Below(4); i < containers; ++i) {
      tree.dirs.push_back({fmt::format("{}/c{}", tree.dirs[pod_index].path, i), pod_index, 2});
    }
  }
  return tree;
}

// A value no broader than `parent`'s.
std::string RandomWithin(Random& random, CgroupFile file, const std::string& parent) {
  if (file == CgroupFile::kCpuset) {
    const CpuSet from = CpuSet::Parse(parent).value();
    CpuSet cpus;
    for (const int32_t cpu : from) {
      if (random.Chance(0.6)) cpus.Add(cpu);
    }
    if (cpus.empty()) {
      cpus.Add(*std::next(from.begin(), static_cast<ptrdiff_t>(random.Below(from.size()))));
    }
    return cpus.ToString();
  }
  if (parent == "-1" || parent == "max") {
    if (random.Chance(0.4)) return parent;
    return file == CgroupFile::kCpuQuota
               ? std::to_string(1000 + random.Below(800000))
               : std::to_string(static_cast<int64_t>(random.Below(4096)) * kMib);
  }
  const int64_t bound = std::stoll(parent);
  if (file == CgroupFile::kCpuQuota) {
    return std::to_string(1000 + random.Below(static_cast<uint64_t>(bound - 999)));
  }
  return std::to_string(static_cast<int64_t>(random.Below(bound / kMib + 1)) * kMib);
}

std::vector<std::string> RandomValues(Random& random, CgroupFile file, const Tree& tree) {
  const std::string widest = file == CgroupFile::kCpuset     ? "0-7"
                             : file == CgroupFile::kCpuQuota ? "-1"
                                                             : "max";
  std::vector<std::string> values;
  for (const Tree::Dir& dir : tree.dirs) {
    values.push_back(RandomWithin(random, file, dir.parent < 0 ? widest : values[dir.parent]));
  }
  return values;
}

class LevelOrder : public ::testing::TestWithParam<std::tuple<CgroupVersion, CgroupFile>> {
 protected:
  static bool IsWithin(CgroupFile file, const std::string& child, const std::string& parent) {
    if (file == CgroupFile::kCpuset) {
      return CpuSet::Parse(parent).value().Includes(CpuSet::Parse(child).value());
    }
    const auto limit = [](const std::string& text) {
      return ParseLimit(text.substr(0, text.find(' '))).value();
    };
    return limit(child) <= limit(parent);
  }
};

TEST_P(LevelOrder, NoChildHasMoreThanItsParent) {
  const auto [version, file] = GetParam();
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    TestHost machine({.version = version, .driver = CgroupDriver::kCgroupfs, .anolis = true});
    VirtualLoop loop;
    ResourceExecutor executor(machine.host(), loop.clock(), nullptr, nullptr, {});
    const Tree tree = RandomTree(random, "kubepods/besteffort");
    for (const Tree::Dir& dir : tree.dirs) machine.cgroup_kernel().AddDirectory(dir.path);
    int writes = 0;
    executor.set_observer([&, file = file](const WriteRecord& record) {
      ++writes;
      for (const Tree::Dir& dir : tree.dirs) {
        if (dir.parent < 0) continue;
        const std::string child = machine.Get(file, dir.path);
        const std::string parent = machine.Get(file, tree.dirs[dir.parent].path);
        EXPECT_TRUE(IsWithin(file, child, parent))
            << "seed " << seed << ": " << dir.path << " has " << child << " below " << parent
            << " after " << record.path << ": " << record.old_value << " -> " << record.new_value;
      }
    });
    // The first round starts from the kernel's own values, which are consistent as well.
    for (int round = 0; round < 4; ++round) {
      const auto values = RandomValues(random, file, tree);
      std::vector<std::vector<Update>> levels(3);
      for (size_t i = 0; i < tree.dirs.size(); ++i) {
        levels[tree.dirs[i].level].push_back(
            {CgroupTarget{file, CgroupDir::At(tree.dirs[i].path)}, values[i], {}});
      }
      // What version 2's kernel leaves empty means "as the parent": set it once.
      if (round == 0 && file == CgroupFile::kCpuset && version == CgroupVersion::kV2) {
        for (const Tree::Dir& dir : tree.dirs) machine.Set(file, dir.path, "0-7");
      }
      if (round == 0 && (file == CgroupFile::kMemoryMin || file == CgroupFile::kMemoryLow)) {
        for (const Tree::Dir& dir : tree.dirs) machine.Set(file, dir.path, "0");
      }
      executor.ApplyLevels(levels);
      for (size_t i = 0; i < tree.dirs.size(); ++i) {
        const std::string now = machine.Get(file, tree.dirs[i].path);
        EXPECT_TRUE(IsWithin(file, now, values[i]) && IsWithin(file, values[i], now))
            << "seed " << seed << ": " << tree.dirs[i].path << " has " << now << ", not "
            << values[i];
      }
      if (HasFailure()) return;
    }
    EXPECT_GT(writes, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Files, LevelOrder,
    ::testing::Combine(::testing::Values(CgroupVersion::kV1, CgroupVersion::kV2),
                       ::testing::Values(CgroupFile::kCpuQuota, CgroupFile::kCpuset,
                                         CgroupFile::kMemoryMin, CgroupFile::kMemoryLow,
                                         CgroupFile::kMemoryHigh)));

}  // namespace
}  // namespace koord::koordlet::level_order_test
