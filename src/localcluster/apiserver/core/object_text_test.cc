#include "localcluster/apiserver/core/object_text.h"

#include <gtest/gtest.h>

namespace koord::apiserver::object_text_test {
namespace {

kube::Json Example() {
  return *kube::ParseJson(
      R"({"spec":{"a":"}\"{"},"metadata":{"name":"n","resourceVersion":"1","labels":{"x":"{"}},)"
      R"("apiVersion":"old/v1","kind":"Old"})");
}

TEST(ObjectTextTest, PutsKindVersionAndRevisionFirst) {
  EXPECT_EQ(ObjectText("g/v1", "K", Example(), Revision{12}),
            R"({"kind":"K","apiVersion":"g/v1","metadata":{"resourceVersion":"12","name":"n",)"
            R"("labels":{"x":"{"}},"spec":{"a":"}\"{"}})");
}

TEST(ObjectTextTest, CutsAndPastesWithoutParsing) {
  const std::string text = ObjectText("g/v1", "K", Example(), Revision{12});
  EXPECT_EQ(KindOf(text), "K");
  EXPECT_EQ(ApiVersionOf(text), "g/v1");
  EXPECT_EQ(MetadataOf(text), R"({"resourceVersion":"12","name":"n","labels":{"x":"{"}})");
  EXPECT_EQ(WithoutKind(text).substr(0, 12), "\"metadata\":{");
  EXPECT_EQ(*kube::ParseJson(WithApiVersion(text, "g/v2beta1")),
            *kube::ParseJson(ObjectText("g/v2beta1", "K", Example(), Revision{12})));
  EXPECT_EQ(WithRevision(text, 1234), ObjectText("g/v1", "K", Example(), Revision{1234}));
  EXPECT_EQ(PartialText(text, "v1"),
            R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":)"
            R"({"resourceVersion":"12","name":"n","labels":{"x":"{"}}})");
}

TEST(ObjectTextTest, SurvivesAnObjectWithoutMetadata) {
  const std::string text = ObjectText("v1", "K", *kube::ParseJson("{}"), Revision{3});
  EXPECT_EQ(text, R"({"kind":"K","apiVersion":"v1","metadata":{"resourceVersion":"3"}})");
  EXPECT_EQ(MetadataOf(text), R"({"resourceVersion":"3"})");
}

TEST(ObjectTextTest, IndentsByTwoSpaces) {
  EXPECT_EQ(Indented(R"({"a":[1,{"b":"x,:{\""}],"c":{},"d":[]})"),
            "{\n  \"a\": [\n    1,\n    {\n      \"b\": \"x,:{\\\"\"\n    }\n  ],\n  \"c\": {},\n  "
            "\"d\": []\n}\n");
}

}  // namespace
}  // namespace koord::apiserver::object_text_test
