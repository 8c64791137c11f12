#include "koordlet/informers/cgroup_watch.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/temp_dir.h"

namespace koord::koordlet::cgroup_watch_test {
namespace {

TEST(PodOfCgroupName, KnowsBothDrivers) {
  const auto systemd = [](std::string_view name) {
    return PodOfCgroupName(name, CgroupDriver::kSystemd).value_or("-");
  };
  EXPECT_EQ(systemd("kubepods-burstable-pod12_ab.slice"), "12-ab");
  EXPECT_EQ(systemd("kubepods-pod12_ab.slice"), "12-ab");
  EXPECT_EQ(systemd("kubepods-burstable.slice"), "-");
  EXPECT_EQ(systemd("cri-containerd-1.scope"), "-");
  const auto cgroupfs = [](std::string_view name) {
    return PodOfCgroupName(name, CgroupDriver::kCgroupfs).value_or("-");
  };
  EXPECT_EQ(cgroupfs("pod12-ab"), "12-ab");
  EXPECT_EQ(cgroupfs("burstable"), "-");
  EXPECT_EQ(cgroupfs("pod"), "-");
}

TEST(CgroupWatch, HearsOfPods) {
  const TempDir dir;
  for (const char* name : {"kubepods", "kubepods/burstable", "kubepods/besteffort"}) {
    std::filesystem::create_directories(dir.path() + "/" + name);
  }
  AsioLoop loop;
  std::vector<std::string> heard;
  const CgroupLayout layout{CgroupVersion::kV2, CgroupDriver::kCgroupfs};
  auto watch =
      CgroupWatch::Start(loop, dir.path(), layout, [&](const std::string& uid, bool appeared) {
        heard.push_back((appeared ? "+" : "-") + uid);
      });
  ASSERT_TRUE(watch.ok()) << Message(watch.status());
  const auto wait = [&](size_t count) {
    const SteadyTime deadline = loop.clock().Steady() + 10s;
    while (heard.size() < count && loop.clock().Steady() < deadline) loop.RunOnce(100ms);
  };
  std::filesystem::create_directory(dir.path() + "/kubepods/burstable/podabc");
  std::filesystem::create_directory(dir.path() + "/kubepods/besteffort/other");
  std::filesystem::remove(dir.path() + "/kubepods/burstable/podabc");
  wait(2);
  EXPECT_EQ(heard, (std::vector<std::string>{"+abc", "-abc"}));
}

TEST(CgroupWatch, SaysWhereItCannotWatch) {
  const TempDir dir;
  AsioLoop loop;
  EXPECT_FALSE(CgroupWatch::Start(loop, dir.path(), {}, [](const std::string&, bool) {}).ok());
}

}  // namespace
}  // namespace koord::koordlet::cgroup_watch_test
