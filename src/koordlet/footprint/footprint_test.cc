#include "koordlet/footprint/footprint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/temp_dir.h"

namespace koord::koordlet {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(FootprintTest, AnotherLifeKnowsWhatThisOneDid) {
  const TempDir dir;
  const std::string path = dir.File("koordlet/footprint.json");
  {
    Footprint footprint(path);
    footprint.SetFeatures({"CPUBurst", "SystemConfig"});
    footprint.Remember("sys/vm/min_free_kbytes", "67584");
    footprint.Remember("sys/vm/min_free_kbytes", "90000");  // koordlet's own by then
    footprint.Remember("features/HRTICK", "0");
  }
  Footprint next(path);
  EXPECT_THAT(next.features(), ElementsAre("CPUBurst", "SystemConfig"));
  EXPECT_EQ(next.Before("sys/vm/min_free_kbytes"), "67584");
  EXPECT_EQ(next.AllBefore("features/").size(), 1u);
  next.Forget("sys/vm/min_free_kbytes");
  next.SetFeatures({});
  const Footprint last(path);
  EXPECT_THAT(last.features(), IsEmpty());
  EXPECT_EQ(last.Before("sys/vm/min_free_kbytes"), std::nullopt);
}

TEST(FootprintTest, ABrokenFileCountsAsNone) {
  const TempDir dir;
  for (const char* text : {"{", "[]", R"({"features": 7, "before": []})", "\xff\xfe"}) {
    std::ofstream(dir.File("f")) << text;
    const Footprint footprint(dir.File("f"));
    EXPECT_THAT(footprint.features(), IsEmpty()) << text;
  }
}

TEST(FootprintTest, WithoutAPlaceNothingIsRemembered) {
  Footprint footprint;
  footprint.SetFeatures({"CPUBurst"});
  EXPECT_THAT(footprint.features(), ElementsAre("CPUBurst"));
}

}  // namespace
}  // namespace koord::koordlet
