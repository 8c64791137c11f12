#include "kube/patch/merge_patch.h"

#include <gtest/gtest.h>

#include "kube/api_error.h"

namespace koord::kube::merge_patch_test {
namespace {

struct Case {
  const char* document;
  const char* patch;
  const char* result;
};

TEST(MergePatch, RemovesMostOfALargeObject) {
  json::object document, patch;
  for (int i = 0; i < 3000; ++i) {
    document[fmt::format("k{}", i)] = i;
    if (i % 1000 != 7) patch[fmt::format("k{}", i)] = nullptr;
  }
  const StatusOr<Json> result = ApplyMergePatch(document, patch);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(Serialize(*result), R"({"k7":7,"k1007":1007,"k2007":2007})");
}

TEST(MergePatch, Applies) {
  const Case cases[] = {
      {R"({"metadata":{"labels":{"x":"1","y":"2"}}})", R"({"metadata":{"labels":{"x":null}}})",
       R"({"metadata":{"labels":{"y":"2"}}})"},
      {R"({"metadata":{"labels":{"y":"2"}}})", R"({"metadata":{"labels":{"x":null}}})",
       R"({"metadata":{"labels":{"y":"2"}}})"},
      {R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
      {R"({"a":"b"})", R"({"a":null})", R"({})"},
      {R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
      {R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
      {R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
      {R"({"e":null})", R"({"a":1})", R"({"e":null,"a":1})"},
      {R"({"a":"foo"})", R"({"a":{"b":{"c":null}}})", R"({"a":{"b":{}}})"},
      {R"({})", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
      {R"({"a":1})", R"({})", R"({"a":1})"},
      {R"([1])", R"({"a":"b"})", R"({"a":"b"})"},
  };
  for (const Case& c : cases) {
    const StatusOr<Json> result = ApplyMergePatch(*ParseJson(c.document), *ParseJson(c.patch));
    ASSERT_TRUE(result.ok()) << c.patch;
    EXPECT_EQ(Serialize(*result), c.result) << c.document << " + " << c.patch;
  }
}

TEST(MergePatch, MustBeAnObject) {
  for (const char* patch : {"[]", "null", "1", R"("x")"}) {
    const StatusOr<Json> result = ApplyMergePatch(Json(json::object()), *ParseJson(patch));
    EXPECT_EQ(HttpCode(result.status()), 400) << patch;
    EXPECT_EQ(ErrorReason(result.status()), "BadRequest") << patch;
  }
}

TEST(MergePatch, Created) {
  const Case cases[] = {
      {R"({"a":1})", R"({})", R"({"a":1})"},
      {R"({"a":1,"b":{"c":1,"d":2}})", R"({"a":2,"b":{"d":null,"e":3}})",
       R"({"a":2,"b":{"c":1,"e":3}})"},
      {R"({"l":[1,2]})", R"({"l":[1]})", R"({"l":[1]})"},
      {R"({"a":{"b":1}})", R"({"a":null})", R"({})"},
      {R"({"a":"x"})", R"({"a":{"b":1}})", R"({"a":{"b":1}})"},
      {R"({"a":1})", R"({})", R"({"a":1})"},
  };
  for (const Case& c : cases) {
    const Json before = *ParseJson(c.document);
    const Json after = *ParseJson(c.result);
    const Json patch = CreateMergePatch(before, after);
    EXPECT_EQ(patch, *ParseJson(c.patch)) << c.document << " -> " << c.result;
    EXPECT_EQ(ApplyMergePatch(before, patch).value(), after);
  }
}

}  // namespace
}  // namespace koord::kube::merge_patch_test
