#include "localcluster/apiserver/crd/json_path.h"
#include "localcluster/apiserver/registry/registry_testing.h"

#include <gtest/gtest.h>

namespace koord::apiserver::json_path_test {
namespace {

using kube::Json;

const Json& Sample() {
  static const Json sample = Parse(R"({
    "metadata": {"name": "n", "labels": {"app.kubernetes.io/name": "web"}},
    "spec": {"replicas": 3, "on": true, "list": [{"n": "a", "v": 1}, {"n": "b", "v": 2}, {"n": "c"}],
             "numbers": [10, 20, 30, 40]},
    "status": {"conditions": [{"type": "Ready", "status": "True"},
                              {"type": "Full]", "status": "False"}]}})");
  return sample;
}

std::string Text(std::string_view path) {
  const auto parsed = JsonPath::Parse(path);
  if (!parsed.ok()) return "error";
  std::string text;
  for (const Json* result : parsed->All(Sample())) text += kube::Serialize(*result) + " ";
  return text;
}

TEST(JsonPath, FindsWhatDefinitionsAskFor) {
  const struct {
    const char* name;
    const char* path;
    const char* results;
  } kCases[] = {
      {"field", ".spec.replicas", "3 "},
      {"in braces", "{.spec.replicas}", "3 "},
      {"from the root", "$.spec.replicas", "3 "},
      {"without a leading dot", "spec.replicas", "3 "},
      {"missing", ".spec.nothing.below", ""},
      {"escaped dots", R"(.metadata.labels.app\.kubernetes\.io/name)", "\"web\" "},
      {"quoted name", ".metadata.labels['app.kubernetes.io/name']", "\"web\" "},
      {"two names", ".metadata['name','missing']", "\"n\" "},
      {"index", ".spec.list[0].n", "\"a\" "},
      {"index from the end", ".spec.list[-1].n", "\"c\" "},
      {"index out of range", ".spec.list[7].n", ""},
      {"range", ".spec.numbers[1:3]", "20 30 "},
      {"open range", ".spec.numbers[2:]", "30 40 "},
      {"range with a step", ".spec.numbers[0:4:2]", "10 30 "},
      {"several indices", ".spec.numbers[0,2]", "10 30 "},
      {"all items", ".spec.list[*].n", "\"a\" \"b\" \"c\" "},
      {"all members", ".status.conditions[0].*", "\"Ready\" \"True\" "},
      {"anywhere below", "..v", "1 2 "},
      {"filter by text", R"(.status.conditions[?(@.type=="Ready")].status)", "\"True\" "},
      {"filter with single quotes", ".status.conditions[?(@.type=='Ready')].status", "\"True\" "},
      {"filter with spaces", ".status.conditions[?( @.type == 'Ready' )].status", "\"True\" "},
      {"bracket inside quotes", ".status.conditions[?(@.type=='Full]')].status", "\"False\" "},
      {"filter by number", ".spec.list[?(@.v>=2)].n", "\"b\" "},
      {"filter by inequality", ".spec.list[?(@.n!='a')].n", "\"b\" \"c\" "},
      {"filter by presence", ".spec.list[?(@.v)].n", "\"a\" \"b\" "},
      {"field of a list", ".spec.list.n", ""},
      {"index of an object", ".spec[0]", ""},
  };
  for (const auto& c : kCases) EXPECT_EQ(Text(c.path), c.results) << c.name;
}

TEST(JsonPath, RefusesWhatIsNoPath) {
  for (const char* bad : {"", "{}", ".", ".spec.", ".spec[", ".spec[x]", ".spec[0", ".a[?(@.x==)]",
                          ".a[?(@.x==y)]", ".a b", ".a[0]b", ".a['x'", ".a[1:2:0]", ".a[::x]"}) {
    EXPECT_FALSE(JsonPath::Parse(bad).ok()) << bad;
  }
}

TEST(JsonPath, FirstTakesOneResult) {
  EXPECT_EQ(*JsonPath::Parse(".spec.list[*].n")->First(Sample()), "a");
  EXPECT_EQ(JsonPath::Parse(".spec.x")->First(Sample()), nullptr);
}

TEST(JsonPath, MakesSimplePaths) {
  const JsonPath path = JsonPath::Parse(".spec.replicas").value();
  ASSERT_TRUE(path.simple());
  Json object = Parse(R"({"kind": "X"})");
  path.Make(object) = 5;
  EXPECT_EQ(object, Parse(R"({"kind": "X", "spec": {"replicas": 5}})"));
  EXPECT_FALSE(JsonPath::Parse(".spec[0]")->simple());
}

}  // namespace
}  // namespace koord::apiserver::json_path_test
