#include "kube/patch/json_patch.h"

#include <gtest/gtest.h>

#include "kube/api_error.h"

namespace koord::kube::json_patch_test {
namespace {

StatusOr<Json> Apply(std::string_view document, std::string_view patch) {
  return ApplyJsonPatch(*ParseJson(document), *ParseJson(patch));
}

struct Case {
  const char* document;
  const char* patch;
  const char* result;
};

TEST(JsonPatch, Applies) {
  const Case cases[] = {
      {R"({"a":1})", R"([])", R"({"a":1})"},
      {R"({"a":1})", R"([{"op":"add","path":"/b","value":2}])", R"({"a":1,"b":2})"},
      {R"({"a":1})", R"([{"op":"add","path":"/a","value":null}])", R"({"a":null})"},
      {R"({"a":[1,3]})", R"([{"op":"add","path":"/a/1","value":2}])", R"({"a":[1,2,3]})"},
      {R"({"a":[1]})", R"([{"op":"add","path":"/a/-","value":2}])", R"({"a":[1,2]})"},
      {R"({"a":[1]})", R"([{"op":"add","path":"/a/1","value":2}])", R"({"a":[1,2]})"},
      {R"({"a":1})", R"([{"op":"add","path":"","value":[1]}])", R"([1])"},
      {R"({"a":1,"b":2,"c":3})", R"([{"op":"remove","path":"/a"}])", R"({"b":2,"c":3})"},
      {R"({"a":[1,2,3]})", R"([{"op":"remove","path":"/a/0"}])", R"({"a":[2,3]})"},
      {R"({"a":{"b":1}})", R"([{"op":"replace","path":"/a/b","value":2}])", R"({"a":{"b":2}})"},
      {R"({"a":[1,2]})", R"([{"op":"replace","path":"/a/1","value":5}])", R"({"a":[1,5]})"},
      {R"({"a":{"b":1}})", R"([{"op":"move","from":"/a/b","path":"/c"}])", R"({"a":{},"c":1})"},
      {R"({"a":[1,2,3]})", R"([{"op":"move","from":"/a/0","path":"/a/2"}])", R"({"a":[2,3,1]})"},
      {R"({"a":1})", R"([{"op":"move","from":"/a","path":"/a"}])", R"({"a":1})"},
      {R"({"a":{"b":1}})", R"([{"op":"copy","from":"/a","path":"/c"}])",
       R"({"a":{"b":1},"c":{"b":1}})"},
      {R"({"a":{"b":[1,{"x":null}]}})",
       R"([{"op":"test","path":"/a","value":{"b":[1,{"x":null}]}}])",
       R"({"a":{"b":[1,{"x":null}]}})"},
      {R"({"a/b":1,"m~n":2})",
       R"([{"op":"replace","path":"/a~1b","value":3},{"op":"remove","path":"/m~0n"}])",
       R"({"a/b":3})"},
      {R"({"":1})", R"([{"op":"replace","path":"/","value":2}])", R"({"":2})"},
      {R"({"a":{"0":1}})", R"([{"op":"remove","path":"/a/0"}])", R"({"a":{}})"},
      // What Kubernetes allows beyond the standard.
      {R"({"a":[1,2,3]})", R"([{"op":"remove","path":"/a/-1"}])", R"({"a":[1,2]})"},
      {R"({"a":[1,2,3]})", R"([{"op":"replace","path":"/a/-3","value":0}])", R"({"a":[0,2,3]})"},
      {R"({"a":[1,2]})", R"([{"op":"add","path":"/a/-1","value":3}])", R"({"a":[1,2,3]})"},
      {R"({"a":{}})", R"([{"op":"replace","path":"/a/b","value":2}])", R"({"a":{"b":2}})"},
  };
  for (const Case& c : cases) {
    const StatusOr<Json> result = Apply(c.document, c.patch);
    ASSERT_TRUE(result.ok()) << c.patch << ": " << result.status();
    EXPECT_EQ(Serialize(*result), c.result) << c.document << " + " << c.patch;
  }
}

TEST(JsonPatch, ThatDoesNotFitIsUnprocessable) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"a":1})", R"([{"op":"test","path":"/a","value":2}])"},
      {R"({"a":1})", R"([{"op":"test","path":"/b","value":null}])"},
      {R"({"a":1})", R"([{"op":"remove","path":"/b"}])"},
      {R"({"a":1})", R"([{"op":"remove","path":""}])"},
      {R"({"a":1})", R"([{"op":"remove","path":"/a/b"}])"},
      {R"({"a":1})", R"([{"op":"add","path":"/b/c","value":1}])"},
      {R"({"a":1})", R"([{"op":"add","path":"/a/c","value":1}])"},
      {R"({"a":[1]})", R"([{"op":"add","path":"/a/2","value":1}])"},
      {R"({"a":[1]})", R"([{"op":"add","path":"/a/x","value":1}])"},
      {R"({"a":[1]})", R"([{"op":"add","path":"/a/01","value":1}])"},
      {R"({"a":[1]})", R"([{"op":"add","path":"/a/-3","value":1}])"},
      {R"({"a":[1]})", R"([{"op":"remove","path":"/a/-"}])"},
      {R"({"a":[1]})", R"([{"op":"remove","path":"/a/1"}])"},
      {R"({"a":[1]})", R"([{"op":"remove","path":"/a/-2"}])"},
      {R"({"a":[1]})", R"([{"op":"remove","path":"/a/-0"}])"},
      {R"({"a":[1]})", R"([{"op":"replace","path":"/a/1","value":1}])"},
      {R"({"a":[1]})", R"([{"op":"replace","path":"/b/c","value":1}])"},
      {R"({"a":1})", R"([{"op":"move","from":"/b","path":"/c"}])"},
      {R"({"a":1})", R"([{"op":"move","from":"/b","path":"/b"}])"},
      {R"({"a":{"b":1}})", R"([{"op":"move","from":"/a","path":"/a/b"}])"},
      {R"({"a":1})", R"([{"op":"copy","from":"/b","path":"/c"}])"},
      {R"({"a":1})", R"([{"op":"add","path":"/b","value":1},{"op":"test","path":"/b","value":2}])"},
  };
  for (const auto& [document, patch] : cases) {
    const auto error = AsApiError(Apply(document, patch).status());
    ASSERT_TRUE(error) << document << " + " << patch;
    EXPECT_EQ(error->code, 422) << patch;
    EXPECT_EQ(error->reason, "Invalid");
    EXPECT_TRUE(error->has_details);
    EXPECT_EQ(error->message, "the server rejected our request due to an error in our request");
  }
}

TEST(JsonPatch, MalformedOnesAreBadRequests) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({})", "expected a list of operations"},
      {R"("x")", "expected a list of operations"},
      {R"([1])", "operation 0: expected an object"},
      {R"([{"path":"/a"}])", "operation 0: unknown op \"\""},
      {R"([{"op":"remove","path":"/a"},{"op":"jump","path":"/a"}])",
       "operation 1: unknown op \"jump\""},
      {R"([{"op":"remove"}])", "operation 0: path is missing"},
      {R"([{"op":"remove","path":1}])", "operation 0: path is missing"},
      {R"([{"op":"remove","path":"a"}])", "operation 0: path is not a JSON pointer"},
      {R"([{"op":"remove","path":"/~2"}])", "operation 0: path is not a JSON pointer"},
      {R"([{"op":"remove","path":"/~"}])", "operation 0: path is not a JSON pointer"},
      {R"([{"op":"add","path":"/a"}])", "operation 0: value is missing"},
      {R"([{"op":"move","path":"/a"}])", "operation 0: from is missing"},
      {R"([{"op":"copy","path":"/a","from":"b"}])", "operation 0: from is not a JSON pointer"},
  };
  for (const auto& [patch, message] : cases) {
    const auto error = AsApiError(Apply(R"({"a":1})", patch).status());
    ASSERT_TRUE(error) << patch;
    EXPECT_EQ(error->code, 400) << patch;
    EXPECT_EQ(error->reason, "BadRequest");
    EXPECT_EQ(error->message, std::string("error decoding patch: ") + message);
  }
}

TEST(JsonPatch, NumberOfOperationsIsBounded) {
  json::array patch;
  for (size_t i = 0; i < kMaxJsonPatchOperations; ++i) {
    patch.push_back(*ParseJson(R"({"op":"replace","path":"/a","value":1})"));
  }
  EXPECT_TRUE(ApplyJsonPatch(json::object{}, patch).ok());
  patch.push_back(patch.back());
  const StatusOr<Json> result = ApplyJsonPatch(json::object{}, patch);
  EXPECT_EQ(HttpCode(result.status()), 413);
  EXPECT_EQ(ErrorReason(result.status()), "RequestEntityTooLarge");
}

TEST(JsonPatch, CopiesCannotGrowADocumentWithoutBound) {
  json::array doubling;
  for (int i = 0; i < 64; ++i) {
    doubling.push_back(*ParseJson(R"({"op":"copy","from":"/a","path":"/a/-"})"));
    doubling.push_back(*ParseJson(R"({"op":"copy","from":"/a","path":"/b"})"));
    doubling.push_back(*ParseJson(R"({"op":"move","from":"/b","path":"/a/-"})"));
  }
  EXPECT_FALSE(ApplyJsonPatch(*ParseJson(R"({"a":["xxxxxxxx"]})"), doubling).ok());
}

TEST(JsonPatch, CannotMoveLongListsAroundWithoutBound) {
  const auto removals = [](size_t count) {
    json::array patch;
    for (size_t i = 0; i < count; ++i) {
      patch.push_back(*ParseJson(R"({"op":"remove","path":"/a/0"})"));
      patch.push_back(*ParseJson(R"({"op":"add","path":"/a/0","value":1})"));
    }
    return patch;
  };
  const Json longer{{"a", json::array(100'000, Json(0))}};
  EXPECT_TRUE(ApplyJsonPatch(longer, removals(100)).ok());
  const StatusOr<Json> result = ApplyJsonPatch(longer, removals(kMaxJsonPatchOperations / 2));
  EXPECT_EQ(HttpCode(result.status()), 413);
  json::array insertions;
  for (size_t i = 0; i < kMaxJsonPatchOperations; ++i) {
    insertions.push_back(*ParseJson(R"({"op":"add","path":"/a/0","value":1})"));
  }
  EXPECT_TRUE(ApplyJsonPatch({{"a", json::array()}}, insertions).ok());
  const Json usual{{"a", json::array(1000, Json(0))}};
  EXPECT_TRUE(ApplyJsonPatch(usual, removals(kMaxJsonPatchOperations / 2)).ok());
}

TEST(JsonPatch, RemovesMostOfALargeObject) {
  json::object document;
  json::array patch;
  for (int i = 0; i < 3000; ++i) {
    document[fmt::format("k{}", i)] = i;
    if (i % 1000 != 7) {
      patch.push_back({{"op", "remove"}, {"path", fmt::format("/k{}", i)}});
    }
  }
  const StatusOr<Json> result = ApplyJsonPatch(document, patch);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(*result, *ParseJson(R"({"k7":7,"k1007":1007,"k2007":2007})"));
}

TEST(JsonPatch, CannotNestTooDeeply) {
  json::array nesting;
  for (size_t i = 0; i < kMaxJsonDepth; ++i) {
    nesting.push_back(*ParseJson(R"({"op":"move","from":"/a","path":"/b"})"));
    nesting.push_back(*ParseJson(R"({"op":"add","path":"/a","value":{}})"));
    nesting.push_back(*ParseJson(R"({"op":"move","from":"/b","path":"/a/c"})"));
  }
  const StatusOr<Json> result = ApplyJsonPatch(*ParseJson(R"({"a":{}})"), nesting);
  EXPECT_EQ(HttpCode(result.status()), 400);
  nesting.erase(nesting.begin() + 3 * (kMaxJsonDepth - 2), nesting.end());
  const StatusOr<Json> deepest = ApplyJsonPatch(*ParseJson(R"({"a":{}})"), nesting);
  ASSERT_TRUE(deepest.ok()) << deepest.status();
  EXPECT_FALSE(IsTooDeep(*deepest));
  EXPECT_TRUE(ParseJson(Serialize(*deepest)).ok());
}

}  // namespace
}  // namespace koord::kube::json_patch_test
