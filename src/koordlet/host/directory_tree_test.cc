#include "koordlet/host/directory_tree.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/temp_dir.h"

namespace koord::koordlet::directory_tree_test {
namespace {

using ::testing::ElementsAre;
using Code = absl::StatusCode;
using Links = DirectoryTree::Links;

// Runs with openat2 and without.
class DirectoryTreeTest : public ::testing::TestWithParam<bool> {
 protected:
  void Put(const std::string& path, std::string_view text) {
    const std::filesystem::path full = dir.File(path);
    std::filesystem::create_directories(full.parent_path());
    std::ofstream(full) << text;
  }
  void Link(const std::string& path, const std::string& target) {
    const std::filesystem::path full = dir.File(path);
    std::filesystem::create_directories(full.parent_path());
    std::filesystem::create_symlink(target, full);
  }
  std::string Content(const std::string& path) {
    std::ifstream file(dir.File(path));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::unique_ptr<DirectoryTree> Tree(Links links = Links::kNone, std::string below = "") {
    return std::make_unique<DirectoryTree>(
        dir.File("root"),
        DirectoryTree::Options{
            .links = links, .below = std::move(below), .use_openat2 = GetParam()});
  }

  TempDir dir;
};
INSTANTIATE_TEST_SUITE_P(Kernels, DirectoryTreeTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "openat2" : "walk"; });

TEST_P(DirectoryTreeTest, ReadsAndWritesFiles) {
  Put("root/cpu/kubepods/cpu.shares", "1024\n");
  const auto tree = Tree();
  EXPECT_EQ(tree->Read("cpu/kubepods/cpu.shares").value(), "1024\n");
  ASSERT_TRUE(tree->Write("cpu/kubepods/cpu.shares", "2").ok());
  EXPECT_EQ(Content("root/cpu/kubepods/cpu.shares"), "2");
  ASSERT_TRUE(tree->Append("cpu/kubepods/cpu.shares", "3").ok());
  EXPECT_EQ(Content("root/cpu/kubepods/cpu.shares"), "23");
  EXPECT_TRUE(tree->Exists("cpu/kubepods"));
  EXPECT_TRUE(tree->Exists(""));
  EXPECT_FALSE(tree->Exists("cpu/kubepods/cpu.idle"));
}

TEST_P(DirectoryTreeTest, WritesCreateNoFiles) {
  Put("root/cpu/x", "");
  const auto tree = Tree();
  EXPECT_EQ(tree->Write("cpu/cpu.idle", "1").code(), Code::kNotFound);
  EXPECT_EQ(tree->Append("cpu/cpu.idle", "1").code(), Code::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(dir.File("root/cpu/cpu.idle")));
  EXPECT_FALSE(tree->Write("cpu", "1").ok());
  EXPECT_EQ(tree->Read("cpu/x/y").status().code(), Code::kNotFound);
}

TEST_P(DirectoryTreeTest, ReadsLargeFilesUpToALimit) {
  Put("root/procs", std::string(100'000, 'x'));
  EXPECT_EQ(Tree()->Read("procs")->size(), 100'000u);
  const DirectoryTree small(dir.File("root"), {.max_read = 10'000, .use_openat2 = GetParam()});
  EXPECT_EQ(small.Read("procs").status().code(), Code::kOutOfRange);
  for (const size_t size : {0, 1, 3071, 3072, 4095, 4096, 4097, 8192}) {
    Put("root/f", std::string(size, 'y'));
    EXPECT_EQ(Tree()->Read("f")->size(), size);
  }
}

TEST_P(DirectoryTreeTest, AnOpenFileSeesNewContentAndItsEnd) {
  Put("root/stat", "1\n");
  const auto tree = Tree();
  const auto file = tree->Open("stat").value();
  std::string buffer;
  EXPECT_EQ(file->Read(buffer).value(), "1\n");
  Put("root/stat", "22\n");
  EXPECT_EQ(file->Read(buffer).value(), "22\n");
  Put("root/stat", "");
  EXPECT_EQ(file->Read(buffer).value(), "");
  EXPECT_EQ(tree->Open("none").status().code(), Code::kNotFound);
}

TEST_P(DirectoryTreeTest, NeverLeavesItsDirectory) {
  Put("secret", "s3cret");
  Put("root/a/b", "inside");
  Link("root/up", "../secret");
  Link("root/absolute", dir.File("secret"));
  Link("root/a/updir", "../..");
  Link("root/slash", "/");
  for (const Links links : {Links::kNone, Links::kFirst, Links::kInside}) {
    const auto tree = Tree(links);
    for (const std::string_view path :
         {"up", "absolute", "a/updir/secret", "a/updir/root/a/b", "slash/etc/passwd"}) {
      EXPECT_EQ(tree->Read(path).status().code(), Code::kInvalidArgument) << path;
      EXPECT_EQ(tree->Open(path).status().code(), Code::kInvalidArgument) << path;
      EXPECT_EQ(tree->Write(path, "x").code(), Code::kInvalidArgument) << path;
      EXPECT_EQ(tree->Append(path, "x").code(), Code::kInvalidArgument) << path;
      EXPECT_FALSE(tree->Exists(path)) << path;
    }
    for (const std::string_view path :
         {"../secret", "a/../../secret", "/etc/passwd", "a//b", "."}) {
      EXPECT_EQ(tree->Read(path).status().code(), Code::kInvalidArgument) << path;
      EXPECT_EQ(tree->List(path).status().code(), Code::kInvalidArgument) << path;
      EXPECT_EQ(tree->MakeDirectory(path).code(), Code::kInvalidArgument) << path;
      EXPECT_EQ(tree->RemoveDirectory(path).code(), Code::kInvalidArgument) << path;
      EXPECT_EQ(tree->ReadLink(path).status().code(), Code::kInvalidArgument) << path;
    }
    EXPECT_FALSE(tree->MakeDirectory("a/updir/new").ok());
  }
  EXPECT_EQ(Content("secret"), "s3cret");
  EXPECT_FALSE(std::filesystem::exists(dir.File("new")));
}

TEST_P(DirectoryTreeTest, LinksOfSubsystemsOnly) {
  Put("root/cpu,cpuacct/kubepods/cpu.shares", "7");
  Put("root/cpu,cpuacct/other/cpu.shares", "8");
  Link("root/cpu", "cpu,cpuacct");
  Link("root/cpu,cpuacct/kubepods/link", "../other");
  const auto tree = Tree(Links::kFirst);
  EXPECT_EQ(tree->Read("cpu/kubepods/cpu.shares").value(), "7");
  EXPECT_TRUE(tree->Exists("cpu"));
  EXPECT_EQ(tree->Read("cpu/kubepods/link/cpu.shares").status().code(), Code::kInvalidArgument);
  EXPECT_EQ(Tree(Links::kNone)->Read("cpu/kubepods/cpu.shares").status().code(),
            Code::kInvalidArgument);
}

TEST_P(DirectoryTreeTest, LinksThatStayInside) {
  Put("root/devices/system/node/node0/meminfo", "x");
  Link("root/bus/node/devices/node0", "../../../devices/system/node/node0");
  Link("root/loop", "loop");
  const auto tree = Tree(Links::kInside);
  EXPECT_EQ(tree->Read("bus/node/devices/node0/meminfo").value(), "x");
  EXPECT_EQ(tree->ReadLink("bus/node/devices/node0").value(), "../../../devices/system/node/node0");
  const std::vector<FileTree::Entry> entries = tree->List("bus/node/devices").value();
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_TRUE(entries[0].is_directory);
  EXPECT_EQ(tree->Read("loop").status().code(), Code::kInvalidArgument);
  EXPECT_FALSE(tree->ReadLink("devices").ok());
}

TEST_P(DirectoryTreeTest, ListsByName) {
  Put("root/b/x", "");
  Put("root/a", "");
  Put("root/c", "");
  std::vector<std::string> names;
  const std::vector<FileTree::Entry> entries = Tree()->List("").value();
  for (const auto& entry : entries) names.push_back(entry.name + (entry.is_directory ? "/" : ""));
  EXPECT_THAT(names, ElementsAre("a", "b/", "c"));
  EXPECT_EQ(Tree()->List("none").status().code(), Code::kNotFound);
  EXPECT_EQ(Tree()->List("a").status().code(), Code::kNotFound);
}

TEST_P(DirectoryTreeTest, MakesAndRemovesDirectories) {
  Put("root/file", "");
  const auto tree = Tree();
  ASSERT_TRUE(tree->MakeDirectory("BE").ok());
  EXPECT_TRUE(tree->MakeDirectory("BE").ok());
  EXPECT_FALSE(tree->MakeDirectory("file").ok());
  EXPECT_EQ(tree->MakeDirectory("x/y").code(), Code::kNotFound);
  EXPECT_TRUE(tree->RemoveDirectory("BE").ok());
  EXPECT_EQ(tree->RemoveDirectory("BE").code(), Code::kNotFound);
}

TEST_P(DirectoryTreeTest, TheDirectoryMayComeLater) {
  const auto tree = Tree();
  EXPECT_EQ(tree->Read("x").status().code(), Code::kNotFound);
  EXPECT_FALSE(tree->Exists(""));
  Put("root/x", "1");
  EXPECT_EQ(tree->Read("x").value(), "1");
}

TEST_P(DirectoryTreeTest, APartThatIsMountedLater) {
  Put("root/other", "");
  const auto tree = Tree(Links::kNone, "resctrl");
  EXPECT_FALSE(tree->Exists("schemata"));
  EXPECT_EQ(tree->Read("other").status().code(), Code::kNotFound);
  Put("root/resctrl/schemata", "L3");
  EXPECT_EQ(tree->Read("schemata").value(), "L3");
  EXPECT_EQ(tree->List("")->size(), 1u);
  ASSERT_TRUE(tree->MakeDirectory("BE").ok());
  EXPECT_TRUE(std::filesystem::exists(dir.File("root/resctrl/BE")));
}

TEST_P(DirectoryTreeTest, APipeDoesNotBlock) {
  std::filesystem::create_directories(dir.File("root"));
  ASSERT_EQ(mkfifo(dir.File("root/pipe").c_str(), 0600), 0);
  EXPECT_FALSE(Tree()->Write("pipe", "x").ok());
  EXPECT_FALSE(Tree()->Read("pipe").ok());
}

TEST_P(DirectoryTreeTest, DescriptorsAreNotInherited) {
  Put("root/sub/x", "");
  const int fd = Tree()->OpenDirectory("sub").value();
  EXPECT_EQ(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  close(fd);
}

TEST(DirectoryTreeOnLinux, ReadsProcAndRefusesItsMagicLinks) {
  const DirectoryTree proc("/proc", {});
  EXPECT_TRUE(proc.Read("stat")->starts_with("cpu "));
  EXPECT_EQ(proc.Read(fmt::format("{}/exe", getpid())).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(proc.Read("999999999/stat").status().code(), Code::kNotFound);
}

TEST_P(DirectoryTreeTest, ReadsMoreFilesThanItMayHaveOpen) {
  const DirectoryTree tree(dir.File("root"), {.max_open = 2, .use_openat2 = GetParam()});
  std::vector<std::unique_ptr<OpenFile>> files;
  for (const std::string name : {"a", "b", "c"}) {
    Put("root/" + name, name + "1");
    files.push_back(tree.Open(name).value());
  }
  std::string buffer;
  const auto read_all = [&] {
    std::string all;
    for (const auto& file : files) all += std::string(file->Read(buffer).value_or("-")) + " ";
    return all;
  };
  EXPECT_EQ(read_all(), "a1 b1 c1 ");
  for (const std::string name : {"a", "b", "c"})
    std::ofstream(dir.File("root/" + name)) << name + "2";
  EXPECT_EQ(read_all(), "a2 b2 c2 ");
  std::filesystem::remove(dir.File("root/c"));
  EXPECT_EQ(files[2]->Read(buffer).status().code(), Code::kNotFound);
  Put("root/c", "c3");
  files.erase(files.begin());  // which leaves one descriptor to another
  EXPECT_EQ(read_all(), "b2 c3 ");
  std::filesystem::remove(dir.File("root/c"));
  EXPECT_EQ(read_all(), "b2 c3 ") << "it stays open now";
}

}  // namespace
}  // namespace koord::koordlet::directory_tree_test
