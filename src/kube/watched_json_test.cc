#include "kube/watched_json.h"

#include <gtest/gtest.h>

namespace koord::kube::watched_json_test {
namespace {

TEST(WatchedJsonTest, LeavesOutManagedFieldsOfMetadataAlone) {
  const struct {
    std::string_view text, left;
  } cases[] = {
      {R"({"type":"ADDED","object":{"metadata":{"managedFields":[{"a":[1,{"b":{}}]},2],"name":"p"}}})",
       R"({"type":"ADDED","object":{"metadata":{"name":"p"}}})"},
      {R"({"metadata":{"name":"p","managedFields":[]},"spec":{"x":1}})",
       R"({"metadata":{"name":"p"},"spec":{"x":1}})"},
      {R"({"metadata":{"managedFields":null,"labels":{"managedFields":"mine"}}})",
       R"({"metadata":{"labels":{"managedFields":"mine"}}})"},
      {R"({"metadata":{"managedFields":{"a":1},"uid":"u"}})", R"({"metadata":{"uid":"u"}})"},
      {R"({"managedFields":[1],"spec":{"managedFields":{"a":1}}})",
       R"({"managedFields":[1],"spec":{"managedFields":{"a":1}}})"},
      {R"({"items":[{"metadata":{"managedFields":["x"]}},{"metadata":{"name":"q"}}]})",
       R"({"items":[{"metadata":{}},{"metadata":{"name":"q"}}]})"},
      {R"({"metadata":["managedFields",{"managedFields":1}]})",
       R"({"metadata":["managedFields",{"managedFields":1}]})"},
      {R"({"metadata":"text","other":{"managedFields":1}})",
       R"({"metadata":"text","other":{"managedFields":1}})"},
  };
  for (const auto& c : cases) {
    WatchedJson value(c.text.size());
    const Status status = value.Parse(c.text);
    ASSERT_TRUE(status.ok()) << c.text << status;
    EXPECT_EQ(value.view().Copy(), *ParseJson(c.left)) << c.text;
  }
}

TEST(WatchedJsonTest, ReadsEverythingElseAsAnyParserDoes) {
  for (const std::string_view text :
       {R"({"a\n\"b":"c\u00e9\ud83d\ude00","n":[-1,18446744073709551615,1.5e3,true,false,null]})",
        R"(  [ ] )", R"("text")", "17", R"({"metadata\u0041":{"managed\u0046ields":1}})"}) {
    WatchedJson value(text.size());
    const Status status = value.Parse(text);
    ASSERT_TRUE(status.ok()) << text << status;
    EXPECT_EQ(value.view().Copy(), *ParseJson(text)) << text;
  }
}

TEST(WatchedJsonTest, RefusesWhatIsNotJson) {
  for (const std::string& text :
       {std::string(R"({"a":1)"), std::string(R"({"a":1}})"), std::string(R"({"a":1e999})"),
        std::string(R"({"metadata":{"managedFields":[1}})"), std::string("{\"a\":\"\xff\"}"),
        std::string(kMaxJsonDepth + 1, '['), std::string()}) {
    EXPECT_FALSE(WatchedJson(text.size() + 1).Parse(text).ok()) << text;
  }
}

TEST(WatchedJsonTest, ACopyOutlivesTheEvent) {
  Json copy, member;
  {
    WatchedJson event(16);
    ASSERT_TRUE(
        event.Parse(R"({"object":{"name":"of some length, to need memory","n":[1]}})").ok());
    copy = event.view().Copy();
    member = Find(event.view(), {"object", "n"})->Copy();
  }
  EXPECT_EQ(copy, *ParseJson(R"({"object":{"name":"of some length, to need memory","n":[1]}})"));
  EXPECT_EQ(member, *ParseJson("[1]"));
  EXPECT_EQ(copy.storage(), Json().storage());
  EXPECT_EQ(FindArray(copy, {"object", "n"})->storage(), Json().storage());
}

// What would stay in the memory of the event does not compile.
static_assert(!std::is_convertible_v<JsonView, Json>);
static_assert(!std::is_constructible_v<Json, JsonView>);
static_assert(!std::is_assignable_v<Json&, JsonView>);
static_assert(!std::is_copy_constructible_v<WatchedJson>);
static_assert(!std::is_move_constructible_v<WatchedJson>);

}  // namespace
}  // namespace koord::kube::watched_json_test
