#include "kube/int_or_string.h"

#include <gtest/gtest.h>

namespace koord::kube::int_or_string_test {
namespace {

using Rounding = IntOrString::Rounding;

struct ScaleCase {
  IntOrString value;
  int64_t total;
  int64_t floor;
  int64_t ceil;
};

TEST(IntOrString, ScalesPercentages) {
  const ScaleCase cases[] = {
      {3, 100, 3, 3},    {-1, 100, -1, -1},  {"0%", 10, 0, 0}, {"25%", 10, 2, 3},
      {"50%", 10, 5, 5}, {"100%", 7, 7, 7},  {"1%", 1, 0, 1},  {"150%", 3, 4, 5},
      {"33%", 0, 0, 0},  {"10%", -5, -1, 0},
  };
  for (const ScaleCase& c : cases) {
    EXPECT_EQ(c.value.Scale(c.total, Rounding::kFloor).value(), c.floor) << c.value.ToString();
    EXPECT_EQ(c.value.Scale(c.total, Rounding::kCeil).value(), c.ceil) << c.value.ToString();
  }
}

TEST(IntOrString, OtherTextIsNoPercentage) {
  for (const char* text :
       {"", "5", "%", "a%", "-5%", "+5%", "5.5%", "5%%", " 5%", "99999999999999999999%"}) {
    EXPECT_FALSE(IntOrString(text).Scale(10, Rounding::kFloor).ok()) << text;
  }
  EXPECT_EQ(Message(IntOrString("half").Scale(10, Rounding::kFloor).status()),
            "expected a number or a percentage like 25%, found \"half\"");
}

TEST(IntOrString, Json) {
  EXPECT_EQ(Decode<IntOrString>(Json(80)).value(), IntOrString(80));
  EXPECT_EQ(Decode<IntOrString>(Json("http")).value(), IntOrString("http"));
  EXPECT_EQ(Encode(IntOrString(80)), Json(80));
  EXPECT_EQ(Encode(IntOrString("25%")), Json("25%"));
  for (const Json& bad : {Json(1.5), Json(true), Json(json::array()), Json(int64_t{1} << 40)}) {
    EXPECT_FALSE(Decode<IntOrString>(bad).ok()) << Serialize(bad);
  }
}

}  // namespace
}  // namespace koord::kube::int_or_string_test
