#include "api/annotation_codec.h"

#include <gtest/gtest.h>

#include "kube/objects/resource_list.h"

namespace koord::api::annotation_codec_test {
namespace {

struct Inner {
  int32_t number = 0;
  std::vector<std::string> texts;

  static void Fields(auto& self, auto&& field) {
    field("number", kube::Always(self.number));
    field("texts", self.texts);
  }
};

struct Outer {
  std::string first_name;
  std::string other;  // "OTHER": differs from nothing but case
  std::optional<Inner> inner;
  std::vector<Inner> list;
  std::map<std::string, Inner, std::less<>> map;
  kube::Boxed<Inner> boxed;
  kube::ResourceList resources;
  double ratio = 0;

  static void Fields(auto& self, auto&& field) {
    field("firstName", self.first_name);
    field("OTHER", self.other);
    field("inner", self.inner);
    field("list", self.list);
    field("map", self.map);
    field("boxed", self.boxed);
    field("resources", self.resources);
    field("ratio", self.ratio);
  }
};

TEST(DecodeLooseTest, NamesMatchWithoutRegardToCaseAtEveryDepth) {
  const Outer outer = DecodeLoose<Outer>(R"({
    "FIRSTNAME": "a", "Other": "b", "INNER": {"Number": 1}, "List": [{"NUMBER": 2}],
    "MAP": {"Key": {"nUmBeR": 3}}, "Boxed": {"numbeR": 4}, "Resources": {"CPU": "1"}})")
                          .value();
  EXPECT_EQ(outer.first_name, "a");
  EXPECT_EQ(outer.other, "b");
  EXPECT_EQ(outer.inner->number, 1);
  EXPECT_EQ(outer.list.at(0).number, 2);
  EXPECT_EQ(outer.map.at("Key").number, 3);
  EXPECT_EQ(outer.boxed->number, 4);
  EXPECT_TRUE(outer.resources.contains("CPU")) << "keys of maps are data, not names";
}

TEST(DecodeLooseTest, TheLastOfSeveralSpellingsWins) {
  EXPECT_EQ(DecodeLoose<Outer>(R"({"firstName": "a", "FirstName": "b"})")->first_name, "b");
  EXPECT_EQ(DecodeLoose<Outer>(R"({"FirstName": "b", "firstName": "a"})")->first_name, "a");
  EXPECT_EQ(DecodeLoose<Outer>(R"({"firstName": "a", "firstName": "b"})")->first_name, "b");
}

TEST(DecodeLooseTest, NullLeavesAMemberAsItWas) {
  EXPECT_EQ(DecodeLoose<Outer>(R"({"firstName": "a", "FirstName": null})")->first_name, "a");
  EXPECT_FALSE(DecodeLoose<Outer>(R"({"inner": null})")->inner.has_value());
  EXPECT_EQ(DecodeLoose<Outer>("null")->first_name, "");
}

TEST(DecodeLooseTest, UnknownNamesAreIgnored) {
  EXPECT_TRUE(DecodeLoose<Outer>(R"({"nobody": [1, {"knows": true}]})").ok());
}

TEST(DecodeLooseTest, Refuses) {
  for (const std::string_view text :
       {"", " ", "{", "[]", "1", R"({"firstName": 1})", R"({"inner": {"number": "1"}})",
        R"({"inner": {"number": 1.5}})", R"({"firstName": "a",})", R"({'firstName': 'a'})",
        R"({"firstName": "a"} // why)", R"({"resources": {"cpu": "x"}})"}) {
    EXPECT_FALSE(DecodeLoose<Outer>(text).ok()) << text;
  }
}

TEST(DecodeLooseTest, ErrorsNameThePath) {
  EXPECT_EQ(Message(DecodeLoose<Outer>(R"({"LIST": [{}, {"Number": "x"}]})").status()),
            R"(list[1].number: expected a 32-bit integer, found "x")");
}

TEST(ReadAnnotationTest, TellsAbsentFromBad) {
  const kube::Annotations annotations{{"good", R"({"Number":1})"}, {"bad", "{"}, {"empty", ""}};
  EXPECT_EQ(ReadAnnotation<Inner>(annotations, "good").value()->number, 1);
  EXPECT_FALSE(ReadAnnotation<Inner>(annotations, "none").value().has_value());
  EXPECT_FALSE(ReadAnnotation<Inner>(annotations, "bad").ok());
  EXPECT_TRUE(
      Message(ReadAnnotation<Inner>(annotations, "bad").status()).starts_with("annotation bad: "));
  EXPECT_FALSE(ReadAnnotation<Inner>(annotations, "empty").ok());
  EXPECT_FALSE(ReadNonEmptyAnnotation<Inner>(annotations, "empty").value().has_value());
}

TEST(EncodeAnnotationTest, StructOrderMapsSortedEmptyLeftOut) {
  Outer outer;
  outer.other = "x";
  outer.map = {{"b", {1}}, {"a", {0}}};
  outer.resources = {{"memory", kube::Quantity(1024)}, {"cpu", kube::Quantity(1)}};
  EXPECT_EQ(EncodeAnnotation(outer), R"({"OTHER":"x","map":{"a":{"number":0},"b":{"number":1}},)"
                                     R"("resources":{"cpu":"1","memory":"1024"}})");
}

TEST(EncodeAnnotationTest, Strings) {
  EXPECT_EQ(EncodeAnnotation(std::string("a<b>&\"\\\n\t\x01\x7fé\u2028")),
            "\"a\\u003cb\\u003e\\u0026\\\"\\\\\\n\\t\\u0001\x7fé\\u2028\"");
}

TEST(EncodeAnnotationTest, Numbers) {
  for (const auto& [value, text] : {std::pair{0.1, "0.1"},
                                    {1.5, "1.5"},
                                    {1.0, "1"},
                                    {0.0, "0"},
                                    {-2.25, "-2.25"},
                                    {1e21, "1e+21"},
                                    {1e-7, "1e-7"},
                                    {123456789.0, "123456789"},
                                    {0.000001, "0.000001"}}) {
    EXPECT_EQ(EncodeAnnotation(value), text);
  }
  EXPECT_EQ(EncodeAnnotation(int64_t{-5}), "-5");
  EXPECT_EQ(EncodeAnnotation(std::vector<int64_t>{1, 2}), "[1,2]");
  EXPECT_EQ(EncodeAnnotation(std::vector<std::string>{"[", "["}), R"(["[","["])");
}

}  // namespace
}  // namespace koord::api::annotation_codec_test
