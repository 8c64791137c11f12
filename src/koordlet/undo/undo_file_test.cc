#include "koordlet/undo/undo_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/temp_dir.h"

namespace koord::koordlet::undo_file_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(UndoFileTest, AnotherLifeKnowsWhatThisOneDid) {
  const TempDir dir;
  const std::string path = dir.File("koordlet/undo.json");
  {
    UndoFile undo(path);
    undo.SetFeatures({"CPUBurst", "SystemConfig"});
    undo.Hold("sys/vm/min_free_kbytes", "SystemConfig", "67584");
    undo.Hold("sys/vm/min_free_kbytes", "SystemConfig", "90000");  // koordlet's own by then
    undo.Hold("features/HRTICK", "SystemConfig", "0");
  }
  UndoFile next(path);
  EXPECT_THAT(next.features(), ElementsAre("CPUBurst", "SystemConfig"));
  EXPECT_THAT(next.HeldBy("SystemConfig", "features/"), ElementsAre(Pair("features/HRTICK", "0")));
  std::string put_back;
  next.Release("sys/vm/min_free_kbytes", "SystemConfig", [&](const std::string& before) {
    put_back = before;
    return true;
  });
  EXPECT_EQ(put_back, "67584");
  next.SetFeatures({});
  const UndoFile last(path);
  EXPECT_THAT(last.features(), IsEmpty());
  EXPECT_FALSE(last.Holds("sys/vm/min_free_kbytes", "SystemConfig"));
}

TEST(UndoFileTest, TheLastOwnerPutsBackWhatWasBeforeTheFirst) {
  const TempDir dir;
  std::vector<std::string> written;
  const auto write = [&](const std::string& before) {
    written.push_back(before);
    return true;
  };
  {
    UndoFile undo(dir.File("f"));
    undo.Hold("switch", "a", "0");
    undo.Hold("switch", "b", "1");
    undo.Release("switch", "a", write);
    EXPECT_THAT(written, IsEmpty()) << "b still needs it";
    undo.Release("switch", "stranger", write);
  }
  UndoFile next(dir.File("f"));
  next.Release("switch", "b", [](const std::string&) { return false; });
  EXPECT_TRUE(next.Holds("switch", "b")) << "it could not be written";
  next.Release("switch", "b", write);
  next.Release("switch", "b", write);
  EXPECT_THAT(written, ElementsAre("0"));
}

TEST(UndoFileTest, ABrokenFileCountsAsNone) {
  const TempDir dir;
  for (const char* text :
       {"{", "[]", R"({"features": 7, "before": []})",
        R"({"before": {"a": 7, "b": {"owners": [3]}, "c": {"owners": "x"}}})", "\xff\xfe"}) {
    std::ofstream(dir.File("f")) << text;
    const UndoFile undo(dir.File("f"));
    EXPECT_THAT(undo.features(), IsEmpty()) << text;
  }
}

TEST(UndoFileTest, WithoutAPlaceNothingIsRemembered) {
  UndoFile undo;
  undo.SetFeatures({"CPUBurst"});
  EXPECT_THAT(undo.features(), ElementsAre("CPUBurst"));
}

}  // namespace
}  // namespace koord::koordlet::undo_file_test
