#include "koordlet/host/kept_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "koordlet/host/directory_tree.h"
#include "koordlet/host/memory_tree.h"

namespace koord::koordlet::kept_file_test {
namespace {

using Code = absl::StatusCode;
namespace fs = std::filesystem;

TEST(KeptFileTest, NoticesThatItsCgroupIsAnother) {
  MemoryTree tree;
  const Cgroups cgroups(tree, {CgroupVersion::kV1, CgroupDriver::kCgroupfs});
  const auto path = cgroups.PathOf(CgroupFile::kCpuUsage, CgroupDir::At("p")).value();
  KeptFile file;
  std::string buffer;
  const auto read = [&] {
    return file.Read(cgroups, CgroupFile::kCpuUsage, CgroupDir::At("p"), buffer);
  };
  EXPECT_EQ(read().status().code(), Code::kNotFound);
  tree.Set(path, "1\n");
  EXPECT_EQ(read().value(), "1\n");
  EXPECT_FALSE(file.is_new()) << "there was none before";
  EXPECT_EQ(read().value(), "1\n");
  tree.Remove(path);
  EXPECT_EQ(read().status().code(), Code::kNotFound);
  EXPECT_EQ(read().status().code(), Code::kNotFound);
  tree.Set(path, "2\n");
  EXPECT_EQ(read().value(), "2\n");
  EXPECT_TRUE(file.is_new());
  EXPECT_EQ(read().value(), "2\n");
  EXPECT_FALSE(file.is_new());
}

// A cgroup of this machine that nobody else has anything to do with.
class RealCgroup {
 public:
  RealCgroup() {
    std::error_code error;
    version = fs::exists("/sys/fs/cgroup/cgroup.controllers", error) ? CgroupVersion::kV2
                                                                     : CgroupVersion::kV1;
    path_ =
        fmt::format("/sys/fs/cgroup/{}{}", version == CgroupVersion::kV1 ? "cpuacct/" : "", name);
  }
  ~RealCgroup() { Remove(); }

  bool Make() { return mkdir(path_.c_str(), 0755) == 0; }
  void Remove() { rmdir(path_.c_str()); }

  const std::string name = fmt::format("koordlet-kept-file-test-{}", getpid());
  CgroupVersion version;

 private:
  std::string path_;
};

size_t OpenDescriptors() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

TEST(KeptFileTest, FollowsARealCgroupThatIsRemovedAndMadeAgain) {
  RealCgroup cgroup;
  if (!cgroup.Make()) GTEST_SKIP() << "no cgroup can be made here";
  DirectoryTree tree("/sys/fs/cgroup",
                     {.links = cgroup.version == CgroupVersion::kV1 ? DirectoryTree::Links::kFirst
                                                                    : DirectoryTree::Links::kNone});
  const Cgroups cgroups(tree, {cgroup.version, CgroupDriver::kCgroupfs});
  std::string buffer;
  KeptFile file;
  const auto read = [&] {
    return file.Read(cgroups, CgroupFile::kCpuUsage, CgroupDir::At(cgroup.name), buffer);
  };
  ASSERT_TRUE(read().ok()) << read().status();
  const size_t open = OpenDescriptors();
  EXPECT_TRUE(read().ok());
  EXPECT_FALSE(file.is_new());

  cgroup.Remove();
  ASSERT_TRUE(cgroup.Make());
  EXPECT_TRUE(read().ok()) << "in the same read that finds the old one gone";
  EXPECT_TRUE(file.is_new());
  EXPECT_EQ(OpenDescriptors(), open) << "the old one is closed";

  cgroup.Remove();
  EXPECT_EQ(read().status().code(), Code::kNotFound);
  EXPECT_EQ(OpenDescriptors(), open - 1);
  ASSERT_TRUE(cgroup.Make());
  EXPECT_TRUE(read().ok());
  file = {};  // as when its pod is gone
  EXPECT_EQ(OpenDescriptors(), open - 1);
}

}  // namespace
}  // namespace koord::koordlet::kept_file_test
