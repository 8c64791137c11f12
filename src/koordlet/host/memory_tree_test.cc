#include "koordlet/host/memory_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace koord::koordlet::memory_tree_test {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> Names(const MemoryTree& tree, std::string_view path) {
  std::vector<std::string> names;
  const std::vector<FileTree::Entry> entries = tree.List(path).value();
  for (const FileTree::Entry& entry : entries) {
    names.push_back(entry.name + (entry.is_directory ? "/" : ""));
  }
  return names;
}

TEST(MemoryTree, HoldsWhatWasSetAndTakesWrites) {
  MemoryTree tree;
  tree.Set("cpu/kubepods/cpu.shares", "1024\n");
  EXPECT_EQ(tree.Read("cpu/kubepods/cpu.shares").value(), "1024\n");
  ASSERT_TRUE(tree.Write("cpu/kubepods/cpu.shares", "2").ok());
  EXPECT_EQ(tree.Read("cpu/kubepods/cpu.shares").value(), "2");
  ASSERT_TRUE(tree.Append("cpu/kubepods/cpu.shares", "3").ok());
  EXPECT_EQ(tree.Read("cpu/kubepods/cpu.shares").value(), "23");
}

TEST(MemoryTree, WritesCreateNoFiles) {
  MemoryTree tree;
  tree.AddDirectory("cpu");
  EXPECT_EQ(tree.Write("cpu/cpu.idle", "1").code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(tree.Append("cpu/cpu.idle", "1").code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(tree.Exists("cpu/cpu.idle"));
  EXPECT_EQ(tree.Write("cpu", "1").code(), absl::StatusCode::kNotFound);
}

TEST(MemoryTree, ListsWhatIsRightBelow) {
  MemoryTree tree;
  tree.Set("a/b/c/d", "");
  tree.Set("a/b/e", "");
  tree.Set("a/b-f", "");  // sorts before "a/b/"
  tree.Set("a/g", "");
  tree.Set("ab", "");
  EXPECT_THAT(Names(tree, ""), ElementsAre("a/", "ab"));
  EXPECT_THAT(Names(tree, "a"), ElementsAre("b/", "b-f", "g"));
  EXPECT_THAT(Names(tree, "a/b"), ElementsAre("c/", "e"));
  EXPECT_EQ(tree.List("x").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(tree.List("a/g").status().code(), absl::StatusCode::kNotFound);
}

TEST(MemoryTree, RemovesADirectoryWithAllInIt) {
  MemoryTree tree;
  tree.Set("pod1/cpu.stat", "");
  tree.Set("pod1/c/cpu.stat", "");
  tree.Set("pod10/cpu.stat", "");
  auto file = tree.Open("pod1/c/cpu.stat").value();
  tree.Remove("pod1");
  EXPECT_FALSE(tree.Exists("pod1/c"));
  EXPECT_TRUE(tree.Exists("pod10/cpu.stat"));
  std::string buffer;
  EXPECT_EQ(file->Read(buffer).status().code(), absl::StatusCode::kNotFound);
}

TEST(MemoryTree, AFileMayBecomeADirectory) {
  MemoryTree tree;
  tree.Set("a", "1");
  tree.Set("a/b", "2");
  EXPECT_EQ(tree.Read("a").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(tree.Read("a/b").value(), "2");
  EXPECT_THAT(Names(tree, ""), ElementsAre("a/"));
}

TEST(MemoryTree, AnOpenFileSeesNewContent) {
  MemoryTree tree;
  int reads = 0;
  tree.SetReader("stat", [&reads] { return std::to_string(++reads); });
  auto file = tree.Open("stat").value();
  std::string buffer;
  EXPECT_EQ(file->Read(buffer).value(), "1");
  EXPECT_EQ(file->Read(buffer).value(), "2");
}

TEST(MemoryTree, AWriterMayRefuse) {
  MemoryTree tree;
  tree.Set("cpu.shares", "1024");
  tree.SetWriter("cpu.shares", [&tree](std::string_view path, std::string_view text) {
    if (text == "0") return InvalidArgument("EINVAL");
    tree.Set(path, text);
    return absl::OkStatus();
  });
  EXPECT_FALSE(tree.Write("cpu.shares", "0").ok());
  EXPECT_EQ(tree.Read("cpu.shares").value(), "1024");
  EXPECT_TRUE(tree.Write("cpu.shares", "2").ok());
  EXPECT_EQ(tree.Read("cpu.shares").value(), "2");
}

TEST(MemoryTree, FillsDirectoriesThatAreMade) {
  MemoryTree tree;
  tree.OnMakeDirectory(
      [&tree](std::string_view path) { tree.Set(fmt::format("{}/tasks", path), ""); });
  ASSERT_TRUE(tree.MakeDirectory("BE").ok());
  ASSERT_TRUE(tree.Write("BE/tasks", "7").ok());
  ASSERT_TRUE(tree.MakeDirectory("BE").ok());
  EXPECT_EQ(tree.Read("BE/tasks").value(), "7") << "an existing directory stays as it is";
  EXPECT_EQ(tree.MakeDirectory("LS/x").code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(tree.RemoveDirectory("BE/tasks").ok());
  EXPECT_TRUE(tree.RemoveDirectory("BE").ok());
  EXPECT_EQ(tree.RemoveDirectory("BE").code(), absl::StatusCode::kNotFound);
}

TEST(MemoryTree, RefusesPathsThatLeaveIt) {
  MemoryTree tree;
  tree.Set("a/b", "");
  for (const std::string path :
       {"/a/b", "../a/b", "a/../a/b", "a//b", "a/./b", ".", "..", "a/b/..", "a/b/"}) {
    EXPECT_EQ(tree.Read(path).status().code(), absl::StatusCode::kInvalidArgument) << path;
    EXPECT_EQ(tree.Open(path).status().code(), absl::StatusCode::kInvalidArgument) << path;
    EXPECT_EQ(tree.Write(path, "").code(), absl::StatusCode::kInvalidArgument) << path;
    EXPECT_EQ(tree.List(path).status().code(), absl::StatusCode::kInvalidArgument) << path;
    EXPECT_EQ(tree.MakeDirectory(path).code(), absl::StatusCode::kInvalidArgument) << path;
    EXPECT_EQ(tree.RemoveDirectory(path).code(), absl::StatusCode::kInvalidArgument) << path;
  }
  EXPECT_EQ(CheckTreePath(std::string_view("a\0b", 3)).code(), absl::StatusCode::kInvalidArgument);
}

TEST(MemoryTree, ACopyGoesItsOwnWay) {
  MemoryTree model;
  model.Set("cpu/a/shares", "1");
  model.Set("cpu/b/shares", "2");
  MemoryTree copy(model);
  ASSERT_TRUE(copy.Write("cpu/a/shares", "10").ok());
  copy.Set("cpu/c/shares", "30");
  copy.Remove("cpu/b");
  model.Set("cpu/b/quota", "7");
  EXPECT_EQ(model.Read("cpu/a/shares").value(), "1");
  EXPECT_EQ(copy.Read("cpu/a/shares").value(), "10");
  EXPECT_THAT(Names(model, "cpu"), ElementsAre("a/", "b/"));
  EXPECT_THAT(Names(copy, "cpu"), ElementsAre("a/", "c/"));
  EXPECT_THAT(Names(model, "cpu/b"), ElementsAre("quota", "shares"));
}

TEST(MemoryTree, ACopyHasNobodyWhoPlaysTheKernel) {
  MemoryTree model;
  model.Set("stat", "kept");
  model.SetReader("stat", [] { return std::string("read"); });
  model.OnWrite([](std::string_view, std::string_view) { return FailedPrecondition("no"); });
  MemoryTree copy(model);
  EXPECT_EQ(model.Read("stat").value(), "read");
  EXPECT_EQ(copy.Read("stat").value(), "kept");
  EXPECT_TRUE(copy.Write("stat", "written").ok());
  EXPECT_EQ(copy.Read("stat").value(), "written");
}

TEST(MemoryTree, AnOpenFileIsTheOneOfItsPath) {
  MemoryTree model;
  model.Set("a/stat", "1");
  MemoryTree tree(model);
  const auto file = tree.Open("a/stat").value();
  std::string buffer;
  const auto read = [&] { return std::string(file->Read(buffer).value_or("gone")); };
  EXPECT_EQ(read(), "1");
  ASSERT_TRUE(tree.Write("a/stat", "2").ok());  // which the model must not see
  EXPECT_EQ(read(), "2");
  for (char name = 'a'; name <= 'z'; ++name) tree.Set(fmt::format("a/{}", name), "other");
  EXPECT_EQ(read(), "2");
  tree.SetReader("a/stat", [] { return std::string("3"); });
  EXPECT_EQ(read(), "3");
  tree.Remove("a");
  EXPECT_EQ(read(), "gone");
  tree.Set("a/stat", "4");
  EXPECT_EQ(read(), "4");
  EXPECT_EQ(model.Read("a/stat").value(), "1");
}

TEST(MemoryTree, TellsWhetherAnythingHasChanged) {
  MemoryTree tree;
  tree.Set("a/max", "1");
  uint64_t before = tree.changes();
  EXPECT_TRUE(tree.Read("a/max").ok());
  EXPECT_EQ(tree.changes(), before);
  ASSERT_TRUE(tree.Write("a/max", "2").ok());
  EXPECT_GT(tree.changes(), before);
  before = tree.changes();
  tree.Remove("a");
  EXPECT_GT(tree.changes(), before);
}

TEST(MemoryTree, NamesDirectoriesApart) {
  MemoryTree tree;
  tree.Set("a/b/max", "");
  tree.Set("a/c", "");
  tree.AddDirectory("a/d");
  EXPECT_THAT(tree.Directories("a"), ElementsAre("b", "d"));
  EXPECT_THAT(tree.Directories("a/c"), ElementsAre());
  EXPECT_THAT(tree.Directories("x"), ElementsAre());
}

TEST(MemoryTree, ReadersGoWithTheirDirectory) {
  MemoryTree tree;
  tree.SetReader("a/b/stat", [] { return std::string("1"); });
  tree.SetReader("a/bb/stat", [] { return std::string("2"); });
  tree.Remove("a/b");
  EXPECT_EQ(tree.Read("a/b/stat").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(tree.Read("a/bb/stat").value(), "2");
  tree.Set("a/b/stat", "3");
  EXPECT_EQ(tree.Read("a/b/stat").value(), "3");
}

}  // namespace
}  // namespace koord::koordlet::memory_tree_test
