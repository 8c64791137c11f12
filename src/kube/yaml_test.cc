#include "kube/yaml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace koord::kube::yaml_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct Case {
  const char* yaml;
  const char* json;
};

TEST(Yaml, EscapesAreCharacters) {
  EXPECT_EQ(ParseYaml(R"("\N\_\L\P\x41\u00e9\U0001f600")").value(),
            Json("\u0085\u00a0\u2028\u2029A\u00e9\U0001f600"));
  EXPECT_FALSE(ParseYaml(R"("\ud800")").ok());
}

TEST(Yaml, ResolvesScalarsAsKubernetesDoes) {
  const Case cases[] = {
      {"a", R"("a")"},
      {"", "null"},
      {"~", "null"},
      {"null", "null"},
      {"'null'", R"("null")"},
      {"true", "true"},
      {"yes", "true"},
      {"On", "true"},
      {"NO", "false"},
      {"off", "false"},
      {"'yes'", R"("yes")"},
      {"\"on\"", R"("on")"},
      {"y", R"("y")"},
      {"n", R"("n")"},
      {"tRUE", R"("tRUE")"},
      {"0", "0"},
      {"42", "42"},
      {"-7", "-7"},
      {"+7", "7"},
      {"0644", "420"},
      {"0o17", "15"},
      {"0x1F", "31"},
      {"0b101", "5"},
      {"1_000", "1000"},
      {"089", "89"},
      {"9223372036854775807", "9223372036854775807"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"18446744073709551615", "18446744073709551615"},
      {"\"42\"", R"("42")"},
      {"'0.5'", R"("0.5")"},
      {"0.5", "0.5"},
      {".5", "0.5"},
      {"1.0", "1"},
      {"1e3", "1000"},
      {"-1.5e-3", "-0.0015"},
      {"1.2.3", R"("1.2.3")"},
      {"1e999", R"("1e999")"},
      {".inf", R"(".inf")"},
      {".", R"(".")"},
      {"-", "[null]"},
      {"+-5", R"("+-5")"},
      {"0x-1", R"("0x-1")"},
      {"500m", R"("500m")"},
      {"1Gi", R"("1Gi")"},
      {"2026-07-01T10:00:00Z", R"("2026-07-01T10:00:00Z")"},
      {"2026-07-01", R"("2026-07-01")"},
      {"10:30", R"("10:30")"},
      {"!!str 5", R"("5")"},
      {"!!int 5", "5"},
      {"/regex/", R"("/regex/")"},
  };
  for (const Case& c : cases) {
    const StatusOr<Json> parsed = ParseYaml(c.yaml);
    ASSERT_TRUE(parsed.ok()) << c.yaml << ": " << parsed.status();
    EXPECT_EQ(*parsed, ParseJson(c.json).value()) << c.yaml;
  }
}

TEST(Yaml, Structures) {
  const Case cases[] = {
      {"a: 1\nb:\n- x\n- y: z\n", R"({"a":1,"b":["x",{"y":"z"}]})"},
      {"{a: [1, 2], b: {}, c: []}", R"({"a":[1,2],"b":{},"c":[]})"},
      {R"({"a": "\u00e9", "b": null})", R"({"a":"é","b":null})"},
      {"a: |\n  one\n  two\nb: >-\n  folded\n  text\n", R"({"a":"one\ntwo\n","b":"folded text"})"},
      {"8080: a\n1.5: b\ntrue: c\n'x': d\n", R"({"8080":"a","1.5":"b","true":"c","x":"d"})"},
      {"# only a comment\n", "null"},
      {"a:\nb: ''\n", R"({"a":null,"b":""})"},
      {"a: &x {k: v}\nb: *x\nc: [*x]\n", R"({"a":{"k":"v"},"b":{"k":"v"},"c":[{"k":"v"}]})"},
      {"a: &x 5\n*x : b\n", R"({"a":5,"5":"b"})"},
      {"base: &b {x: 1, y: 2}\nnext:\n  <<: *b\n  y: 3\n",
       R"({"base":{"x":1,"y":2},"next":{"y":3,"x":1}})"},
      {"- &a {x: 1}\n- &b {x: 2, y: 2}\n- <<: [*a, *b]\n",
       R"([{"x":1},{"x":2,"y":2},{"x":1,"y":2}])"},
      {"'<<': 1\n", R"({"<<":1})"},
      {"---\na: 1\n...\n", R"({"a":1})"},
      {"a: 1\n---\n", R"({"a":1})"},
      {"a: |\n  x", R"({"a":"x"})"},
      {"a: |+\n  x\n\n", R"({"a":"x\n\n"})"},
      {"\xef\xbb\xbf"
       "a: 1\n",
       R"({"a":1})"},
  };
  for (const Case& c : cases) {
    const StatusOr<Json> parsed = ParseYaml(c.yaml);
    ASSERT_TRUE(parsed.ok()) << c.yaml << ": " << parsed.status();
    EXPECT_EQ(Serialize(*parsed), Serialize(*ParseJson(c.json))) << c.yaml;
  }
}

TEST(Yaml, SeveralDocumentsWithTheirLines) {
  const auto documents = ParseYamlDocuments(
      "# first\n"
      "a: 1\n"
      "---\n"
      "---\n"
      "spec:\n"
      "  containers:\n"
      "  - name: x\n"
      "    env: [{name: e,\n"
      "           value: v}]\n"
      "  - {}\n");
  ASSERT_TRUE(documents.ok()) << documents.status();
  ASSERT_EQ(documents->size(), 3u);
  EXPECT_EQ((*documents)[0].line, 2);
  EXPECT_TRUE((*documents)[1].value.is_null());
  const YamlDocument& document = (*documents)[2];
  EXPECT_EQ(document.line, 5);
  EXPECT_EQ(document.LineOf(""), 5);
  EXPECT_EQ(document.LineOf("spec"), 5);
  EXPECT_EQ(document.LineOf("spec.containers"), 6);
  EXPECT_EQ(document.LineOf("spec.containers[0]"), 7);
  EXPECT_EQ(document.LineOf("spec.containers[0].env[0].name"), 8);
  EXPECT_EQ(document.LineOf("spec.containers[0].env[0].value"), 9);
  EXPECT_EQ(document.LineOf("spec.containers[1]"), 10);
  // Not written: the nearest that is.
  EXPECT_EQ(document.LineOf("spec.containers[0].image"), 7);
  EXPECT_EQ(document.LineOf("spec.containers[7].image"), 6);
  EXPECT_EQ(document.LineOf("status"), 5);
}

TEST(Yaml, ErrorsNameThePlace) {
  const std::pair<std::string, const char*> cases[] = {
      {"a: [1\nb: 2\n", "2:"},
      {"a: 1\n\tb: 2\n", "2:"},
      {"a: b: c\n", "1:"},
      {"a: 1\nb: 2\na: 3\n", "3:1: the key \"a\" occurs twice"},
      {"{a: 1, a: 2}", "1:8: the key \"a\" occurs twice"},
      {"a: *nowhere\n", "1:"},
      {"a: &x [*x]\n", "1:8: an alias may not refer to what contains it"},
      {"a:\n  <<: 5\n", "2:7: << needs a map or a list of maps"},
      {"? [a]\n: 1\n", "1:3: a key must be a scalar"},
      {"a: &x [1]\n*x : 1\n", "2:1: a key must be a scalar"},
      {"a: 1\n---\nb: 1\n", "3:1: expected one document, found another"},
      {"a: \x01\n", "1:4: control characters are not allowed"},
      {"a: 1\nb: \x04 c", "2:4: control characters are not allowed"},
      {"a: \xff\n", "1:1: the text is not UTF-8"},
      {"a: 'open", "1:9: a quoted text is not closed"},
      {"a: 'open\n", "1:9: a quoted text is not closed"},
      {"a: \"open\nb: c\n", "2:5: a quoted text is not closed"},
      {"- a\nb: c\n", "2:1: did not find expected '-' indicator"},
      {"---\n- a\nb: c\n", "3:1: did not find expected '-' indicator"},
      {"a\n- b: c\n", "2:4: mapping values are not allowed"},
      {"[a]\nb\n", "2:1: did not find expected <document start>"},
      {"a: &x 1\nb: &x [*x]\n", "2:8: an alias may not refer to what contains it"},
      {std::string(65, '[') + std::string(65, ']'), "1:65: nested deeper than 64 levels"},
  };
  for (const auto& [yaml, error] : cases) {
    const StatusOr<Json> parsed = ParseYaml(yaml);
    ASSERT_FALSE(parsed.ok()) << yaml;
    EXPECT_THAT(std::string(Message(parsed.status())), StartsWith(error)) << yaml;
  }
}

TEST(Yaml, AliasesAreBounded) {
  // Each level has ten of the one before: a thousand million in nine.
  std::string laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    laughs += fmt::format("a{0}: &a{0} [*a{1}", i, i - 1);
    for (int k = 1; k < 10; ++k) laughs += fmt::format(", *a{}", i - 1);
    laughs += "]\n";
  }
  EXPECT_THAT(std::string(Message(ParseYaml(laughs).status())), HasSubstr("too many aliases"));

  std::string many = "a: &a 1\nb:\n";
  for (int i = 0; i < 1000; ++i) many += "- *a\n";
  EXPECT_TRUE(ParseYaml(many).ok());
  EXPECT_THAT(std::string(Message(ParseYaml(many + "- *a\n").status())),
              HasSubstr("too many aliases"));

  std::string deep = "a0: &a0 [[[[[[[[1]]]]]]]]\n";
  for (int i = 1; i < 20; ++i) deep += fmt::format("a{0}: &a{0} [[[[*a{1}]]]]\n", i, i - 1);
  EXPECT_THAT(std::string(Message(ParseYaml(deep).status())), HasSubstr("nested deeper"));
}

// What is small in the text must not become large in memory.
TEST(Yaml, CopiesAreBounded) {
  const std::string text(1 << 20, 'x');
  const auto with_aliases = [&](int count) {
    std::string yaml = "a: &a " + text + "\nb:\n";
    for (int i = 0; i < count; ++i) yaml += "- *a\n";
    return yaml;
  };
  EXPECT_TRUE(ParseYaml(with_aliases(3)).ok());
  EXPECT_THAT(std::string(Message(ParseYaml(with_aliases(4)).status())),
              HasSubstr("too many aliases"));

  std::string nested;
  for (int i = 0; i < 60; ++i) nested += fmt::format("&a{} [", i);
  for (int i = 0; i < 10'000; ++i) nested += "1,";
  nested += std::string(60, ']');
  EXPECT_THAT(std::string(Message(ParseYaml(nested).status())), HasSubstr("too much has anchors"));
}

// Each of these takes the parser time that grows with more than the text.
TEST(Yaml, WhatTheParserIsSlowAtIsBounded) {
  std::string directives;
  for (int i = 0; i < 100; ++i) directives += fmt::format("%TAG !a{}! x\n", i);
  EXPECT_TRUE(ParseYaml(directives + "--- 1\n").ok());
  for (const char* end : {"\n", "\r", "\u0085", "\u2028", "\u2029"}) {
    EXPECT_THAT(std::string(Message(ParseYaml(end + directives + "%TAG !a! x\n--- 1\n").status())),
                HasSubstr("too many directives"));
  }
  std::string text = "a: |\n";
  for (int i = 0; i < 1000; ++i) text += " %TAG\n";
  EXPECT_TRUE(ParseYaml(text).ok()) << "in a text it is none";

  const auto flow = [](size_t depth, int values) {
    std::string yaml = "a: " + std::string(depth, '[');
    for (int i = 0; i < values; ++i) yaml += "1,";
    return yaml + std::string(depth, ']') + "\n";
  };
  EXPECT_TRUE(ParseYaml(flow(1, 100'000)).ok());
  EXPECT_TRUE(ParseYaml(flow(60, 10'000)).ok());
  EXPECT_THAT(std::string(Message(ParseYaml(flow(60, 100'000)).status())),
              HasSubstr("too much inside [ and {"));
}

TEST(Yaml, PrintsAsKubectlDoes) {
  const Case cases[] = {
      {"apiVersion: v1\nkind: Pod\nmetadata:\n  creationTimestamp: \"2026-07-01T10:00:00Z\"\n"
       "  labels:\n    app: web\n  name: p\nspec:\n  containers:\n  - args:\n    - --port=1\n"
       "    - -v\n    image: nginx:1.2\n    name: c\n    resources: {}\n  tolerations: []\n"
       "  terminationGracePeriodSeconds: 30\n",
       R"({"apiVersion":"v1","kind":"Pod","metadata":{"creationTimestamp":"2026-07-01T10:00:00Z",
           "labels":{"app":"web"},"name":"p"},"spec":{"containers":[{"args":["--port=1","-v"],
           "image":"nginx:1.2","name":"c","resources":{}}],"tolerations":[],
           "terminationGracePeriodSeconds":30}})"},
      {"{}\n", "{}"},
      {"[]\n", "[]"},
      {"null\n", "null"},
      {"text\n", R"("text")"},
      {"- 1\n- true\n- 1.5\n- null\n- - a\n  - b\n- {}\n",
       R"([1, true, 1.5, null, ["a", "b"], {}])"},
      {"a: |\n  one\n  two\nb: |-\n  one\n\n  two\nc: |+\n  one\n\n",
       R"({"a":"one\ntwo\n","b":"one\n\ntwo","c":"one\n\n"})"},
      {"- |-\n  a\n  b\n", R"(["a\nb"])"},
      {"\"1\": a\n\"true\": b\n", R"({"1":"a","true":"b"})"},
  };
  for (const Case& c : cases) EXPECT_EQ(ToYaml(ParseJson(c.json).value()), c.yaml);
}

TEST(Yaml, QuotesWhereItMust) {
  const std::pair<const char*, const char*> cases[] = {
      {"plain", "plain"},
      {"two words", "two words"},
      {"", "\"\""},
      {"1", "\"1\""},
      {"1.5", "\"1.5\""},
      {"0644", "\"0644\""},
      {"true", "\"true\""},
      {"yes", "\"yes\""},
      {"y", "\"y\""},
      {"null", "\"null\""},
      {"~", "\"~\""},
      {"10:30:15", "\"10:30:15\""},
      {"2026-07-01", "\"2026-07-01\""},
      {"a: b", "'a: b'"},
      {"a:b", "a:b"},
      {"a:", "'a:'"},
      {"a #b", "'a #b'"},
      {"a#b", "a#b"},
      {"*", "'*'"},
      {"&a", "'&a'"},
      {"- a", "'- a'"},
      {"-a", "-a"},
      {"?", "'?'"},
      {"it's", "it's"},
      {"'quoted'", "'''quoted'''"},
      {"\"x\"", "'\"x\"'"},
      {" a", "' a'"},
      {"a ", "'a '"},
      {"{a}", "'{a}'"},
      {"---", "'---'"},
      {"a\tb", "\"a\\tb\""},
      {"\n", "\"\\n\""},
      {" a\nb", "\" a\\nb\""},
      {"a \nb", "\"a \\nb\""},
      {"caf\u00e9", "caf\u00e9"},
  };
  for (const auto& [text, printed] : cases) {
    EXPECT_EQ(ToYaml(Json(text)), std::string(printed) + "\n");
    EXPECT_EQ(ParseYaml(ToYaml(Json(text))).value(), Json(text)) << text;
  }
}

TEST(Yaml, LongKeysReadTheSame) {
  const std::string key(2000, 'k');
  for (const char* value :
       {"1", "\"text\"", "{\"a\":{\"b\":[1]}}", "[1,[2],{\"a\":\"b\"}]", "[]"}) {
    const Json map = json::object{{key, *ParseJson(value)}, {"after", 1}};
    const Json document{{"a", map}, {"b", {map, 1}}};
    const StatusOr<Json> read = ParseYaml(ToYaml(document));
    ASSERT_TRUE(read.ok()) << read.status() << "\n" << ToYaml(document);
    EXPECT_EQ(*read, document) << ToYaml(document);
  }
}

TEST(Yaml, WhatIsPrintedReadsTheSame) {
  const Json document = ParseJson(R"({"a":{"b":[[[]],[{}],[{"c":[1,{"d":"e\nf\n"}]}]],"x: y":"#"},
    "special":"a\u007f\u0085\u2028b\ufeff\uffff c","lines":"a\u2028\nb\n","text":"line one\n  indented\n\nlast","list":["- a",": b","|","  \n ","é\nü"],"n":-5,"f":0.25,
    "big":18446744073709551615,"e":1e30})")
                            .value();
  const StatusOr<Json> read = ParseYaml(ToYaml(document));
  ASSERT_TRUE(read.ok()) << read.status() << "\n" << ToYaml(document);
  EXPECT_EQ(*read, document) << ToYaml(document);
}

}  // namespace
}  // namespace koord::kube::yaml_test
