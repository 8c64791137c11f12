#include "kube/json.h"

#include <gtest/gtest.h>

namespace koord::kube::json_test {
namespace {

std::string Nested(size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(Json, NestingIsBounded) {
  EXPECT_TRUE(ParseJson(Nested(kMaxJsonDepth)).ok());
  EXPECT_FALSE(ParseJson(Nested(kMaxJsonDepth + 1)).ok());
  EXPECT_FALSE(ParseJson(Nested(1'000'000)).ok());
  EXPECT_FALSE(IsTooDeep(*ParseJson(Nested(kMaxJsonDepth))));
  EXPECT_TRUE(IsTooDeep(json::array{*ParseJson(Nested(kMaxJsonDepth))}));
  EXPECT_TRUE(IsTooDeep(json::object{{"a", *ParseJson(Nested(kMaxJsonDepth))}}));
  EXPECT_FALSE(IsTooDeep(Json("text")));
}

TEST(Json, RefusesWhatIsNoJson) {
  for (const char* text : {"", "{", "{a:1}", "{'a':1}", "[1,]", "1 2", "nul", "\"\xff\"", "// c\n1",
                           "1e999", "[-1e999]", "{\"a\":1e999}", "NaN"}) {
    EXPECT_FALSE(ParseJson(text).ok()) << text;
  }
}

TEST(Json, KeepsIntegersExact) {
  for (const char* text : {"9223372036854775807", "-9223372036854775808", "18446744073709551615"}) {
    EXPECT_EQ(Serialize(ParseJson(text).value()), text);
  }
}

TEST(Json, Find) {
  const Json pod = *ParseJson(
      R"({"spec":{"nodeName":"n","priority":5,"hostNetwork":true,"containers":[1],"f":1.5}})");
  EXPECT_EQ(FindString(pod, {"spec", "nodeName"}), "n");
  EXPECT_EQ(FindString(pod, {"spec", "priority"}, "none"), "none");
  EXPECT_EQ(FindString(pod, {"spec", "nodeName", "deeper"}), "");
  EXPECT_EQ(FindString(pod, {"status", "phase"}, "none"), "none");
  EXPECT_EQ(FindInt(pod, {"spec", "priority"}), 5);
  EXPECT_EQ(FindInt(pod, {"spec", "nodeName"}, 7), 7);
  EXPECT_EQ(FindInt(pod, {"spec", "f"}, 7), 7);
  EXPECT_TRUE(FindBool(pod, {"spec", "hostNetwork"}));
  EXPECT_TRUE(FindBool(pod, {"spec", "missing"}, true));
  ASSERT_NE(FindArray(pod, {"spec", "containers"}), nullptr);
  EXPECT_EQ(FindArray(pod, {"spec"}), nullptr);
  EXPECT_NE(FindObject(pod, {"spec"}), nullptr);
  EXPECT_EQ(FindObject(pod, {"spec", "containers"}), nullptr);
  EXPECT_EQ(Find(pod, {}), &pod);
}

TEST(Json, AtMakesWhatIsMissing) {
  Json document;
  At(document, {"metadata", "labels", "a"}) = "b";
  At(document, {"metadata", "name"}) = "n";
  EXPECT_EQ(Serialize(document), R"({"metadata":{"labels":{"a":"b"},"name":"n"}})");
  At(document, {"metadata", "name", "x"}) = 1;
  EXPECT_EQ(FindInt(document, {"metadata", "name", "x"}), 1);
}

TEST(Json, EqualByValue) {
  EXPECT_TRUE(Equal(*ParseJson(R"({"a":1,"b":[2]})"), *ParseJson(R"({"b":[2],"a":1})")));
  EXPECT_TRUE(Equal(Json(1), Json(1u)));
  EXPECT_FALSE(Equal(*ParseJson("[1,2]"), *ParseJson("[2,1]")));
  EXPECT_FALSE(Equal(Json("1"), Json(1)));
}

}  // namespace
}  // namespace koord::kube::json_test
