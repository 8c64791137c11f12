#include "koordlet/host/cgroup_dir.h"

#include <gtest/gtest.h>

#include <type_traits>

namespace koord::koordlet::cgroup_dir_test {
namespace {

// Any text could be meant for one, of a file or of another hierarchy.
static_assert(!std::is_convertible_v<std::string, CgroupDir>);
static_assert(!std::is_constructible_v<CgroupDir, std::string>);

TEST(CgroupDirTest, NamesWhatIsBelowIt) {
  const CgroupDir root;
  EXPECT_TRUE(root.is_root());
  const CgroupDir pods = root.Below("kubepods");
  EXPECT_EQ(pods.path(), "kubepods") << "no slash at the beginning";
  EXPECT_FALSE(pods.is_root());
  EXPECT_EQ(pods.Below("pod1").path(), "kubepods/pod1");
}

TEST(CgroupDirTest, KnowsItsNameAndWhatIsAboveIt) {
  const CgroupDir container = CgroupDir::At("kubepods/pod1/c");
  EXPECT_EQ(container.name(), "c");
  EXPECT_EQ(container.parent(), "kubepods/pod1");
  EXPECT_EQ(CgroupDir::At("kubepods").name(), "kubepods");
  EXPECT_EQ(CgroupDir::At("kubepods").parent(), "");
}

TEST(CgroupDirTest, ReadsAsItsPath) {
  const CgroupDir dir = CgroupDir::At("a/b");
  EXPECT_EQ(std::string_view(dir), "a/b");
  EXPECT_EQ(fmt::format("<{}>", dir), "<a/b>");
}

}  // namespace
}  // namespace koord::koordlet::cgroup_dir_test
