#include "kube/patch/json_diff.h"

#include <gtest/gtest.h>

#include "kube/patch/json_patch.h"

namespace koord::kube::json_diff_test {
namespace {

struct DiffCase {
  const char* name;
  const char* before;
  const char* after;
  const char* patch;
};

class JsonDiffTest : public testing::TestWithParam<DiffCase> {};

TEST_P(JsonDiffTest, TurnsOneIntoTheOther) {
  const Json before = *ParseJson(GetParam().before);
  const Json after = *ParseJson(GetParam().after);
  const Json patch = CreateJsonPatch(before, after);
  EXPECT_EQ(Serialize(patch), GetParam().patch);
  const auto patched = ApplyJsonPatch(before, patch);
  ASSERT_TRUE(patched.ok()) << Message(patched.status());
  EXPECT_TRUE(Equal(*patched, after)) << Serialize(*patched);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, JsonDiffTest,
    testing::Values(
        DiffCase{"same", R"({"a":1,"b":[1,2]})", R"({"b":[1,2],"a":1})", "[]"},
        DiffCase{"member_added", R"({"a":{}})", R"({"a":{"x/y~z":"v"}})",
                 R"([{"op":"add","path":"/a/x~1y~0z","value":"v"}])"},
        DiffCase{"member_removed", R"({"a":1,"b":2})", R"({"a":1})",
                 R"([{"op":"remove","path":"/b"}])"},
        DiffCase{"members_elsewhere", R"({"a":1,"b":2,"c":3,"d":{"e":1}})",
                 R"({"a":1,"d":{"e":2},"f":0,"c":3})",
                 R"([{"op":"remove","path":"/b"},{"op":"replace","path":"/d/e","value":2},)"
                 R"({"op":"add","path":"/f","value":0}])"},
        DiffCase{"value_replaced", R"({"a":{"b":1}})", R"({"a":{"b":"1"}})",
                 R"([{"op":"replace","path":"/a/b","value":"1"}])"},
        DiffCase{"list_grows", R"({"l":[1]})", R"({"l":[1,2,3]})",
                 R"([{"op":"add","path":"/l/1","value":2},{"op":"add","path":"/l/2","value":3}])"},
        DiffCase{"list_shrinks_from_the_end", R"({"l":[1,2,3]})", R"({"l":[4]})",
                 R"([{"op":"replace","path":"/l/0","value":4},{"op":"remove","path":"/l/2"},)"
                 R"({"op":"remove","path":"/l/1"}])"},
        DiffCase{"kind_changes", R"({"a":{"b":1}})", R"({"a":[1]})",
                 R"([{"op":"replace","path":"/a","value":[1]}])"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace koord::kube::json_diff_test
