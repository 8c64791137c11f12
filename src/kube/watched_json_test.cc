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
    json::monotonic_resource memory;
    const StatusOr<Json> value = ParseWatchedJson(c.text, memory);
    ASSERT_TRUE(value.ok()) << c.text << value.status();
    EXPECT_EQ(*value, *ParseJson(c.left)) << c.text;
  }
}

TEST(WatchedJsonTest, ReadsEverythingElseAsAnyParserDoes) {
  for (const std::string_view text :
       {R"({"a\n\"b":"c\u00e9\ud83d\ude00","n":[-1,18446744073709551615,1.5e3,true,false,null]})",
        R"(  [ ] )", R"("text")", "17", R"({"metadata\u0041":{"managed\u0046ields":1}})"}) {
    json::monotonic_resource memory;
    const StatusOr<Json> value = ParseWatchedJson(text, memory);
    ASSERT_TRUE(value.ok()) << text << value.status();
    EXPECT_EQ(*value, *ParseJson(text)) << text;
  }
}

TEST(WatchedJsonTest, RefusesWhatIsNotJson) {
  for (const std::string& text :
       {std::string(R"({"a":1)"), std::string(R"({"a":1}})"), std::string(R"({"a":1e999})"),
        std::string(R"({"metadata":{"managedFields":[1}})"), std::string("{\"a\":\"\xff\"}"),
        std::string(kMaxJsonDepth + 1, '['), std::string()}) {
    json::monotonic_resource memory;
    EXPECT_FALSE(ParseWatchedJson(text, memory).ok()) << text;
  }
}

}  // namespace
}  // namespace koord::kube::watched_json_test
