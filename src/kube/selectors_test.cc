#include "kube/selectors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace koord::kube::selectors_test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using Labels = std::map<std::string, std::string, std::less<>>;

struct MatchCase {
  const char* selector;
  Labels labels;
  bool matches;
};

TEST(LabelMatcher, Matches) {
  const Labels web = {{"app", "web"}, {"size", "7"}, {"empty", ""}};
  const MatchCase cases[] = {
      {"", {}, true},
      {"", web, true},
      {"app", web, true},
      {"app", {}, false},
      {"!app", web, false},
      {"!app", {}, true},
      {"! app", {}, true},
      {"app=web", web, true},
      {"app==web", web, true},
      {"app = db", web, false},
      {"app=web", {}, false},
      {"app!=web", web, false},
      {"app!=db", web, true},
      {"app!=db", {}, true},
      {"app in (web,db)", web, true},
      {"app in ( db )", web, false},
      {"app notin (db)", web, true},
      {"app notin (web)", web, false},
      {"app notin (web)", {}, true},
      {"size>5", web, true},
      {"size>7", web, false},
      {"size<8", web, true},
      {"size<8", {}, false},
      {"app>5", web, false},
      {"empty=", web, true},
      {"app=", web, false},
      {"empty in ()", web, true},
      {"app in (,web)", web, true},
      {"empty in (a,)", web, true},
      {"app=web,size", web, true},
      {"app=web,!size", web, false},
      {" app = web ,\tsize > 1", web, true},
      {"in in (in,notin)", {{"in", "notin"}}, true},
      {"notin=in", {{"notin", "in"}}, true},
      {"example.com/Name=x", {{"example.com/Name", "x"}}, true},
  };
  for (const MatchCase& c : cases) {
    const StatusOr<LabelMatcher> matcher = LabelMatcher::Parse(c.selector);
    ASSERT_TRUE(matcher.ok()) << c.selector << ": " << matcher.status();
    EXPECT_EQ(matcher->Matches(c.labels), c.matches) << c.selector;
    const std::vector<std::pair<std::string, std::string>> sorted(c.labels.begin(), c.labels.end());
    EXPECT_EQ(matcher->Matches(sorted), c.matches) << c.selector;
    json::object object;
    for (const auto& [key, value] : c.labels) object.emplace(key, value);
    EXPECT_EQ(matcher->Matches(&object), c.matches) << c.selector;
    if (c.labels.empty()) {
      EXPECT_EQ(matcher->Matches(nullptr), c.matches) << c.selector;
    }
  }
}

struct TextCase {
  const char* input;
  const char* output;
};

TEST(LabelMatcher, PrintsSorted) {
  const TextCase cases[] = {
      {"", ""},
      {"b,a", "a,b"},
      {"x in (c,a,b,a)", "x in (a,b,c)"},
      {"x notin (a)", "x notin (a)"},
      {"x in (a,)", "x in (,a)"},
      {"x in ()", "x in ()"},
      {"x=", "x="},
      {"z == 1, y != 2, !w", "!w,y!=2,z==1"},
      {"x>5,y<6", "x>5,y<6"},
  };
  for (const TextCase& c : cases) {
    EXPECT_EQ(LabelMatcher::Parse(c.input).value().ToString(), c.output) << c.input;
  }
}

TEST(LabelMatcher, ErrorsAreKubernetesOwn) {
  const TextCase cases[] = {
      {"x==a==b", "found '==', expected: ',' or 'end of string'"},
      {"!x=a", "found '=', expected: ',' or 'end of string'"},
      {"x,,y", "found ',', expected: identifier after ','"},
      {"x,", "found '', expected: identifier after ','"},
      {",x", "found ',', expected: !, identifier, or 'end of string'"},
      {"=a", "found '=', expected: !, identifier, or 'end of string'"},
      {"x y", "unable to parse requirement: found 'y', expected: in, notin, =, ==, !=, gt, lt"},
      {"x in a", "unable to parse requirement: found 'a', expected: '('"},
      {"x in (a", "unable to parse requirement: found '', expected: ',' or ')'"},
      {"x=(", "unable to parse requirement: found '(', expected: identifier"},
      {"!", "unable to parse requirement: found '', expected: identifier"},
      {"x<a",
       "unable to parse requirement: values[0]: Invalid value: \"a\": for 'Gt', 'Lt' operators, "
       "the value must be an integer"},
  };
  for (const TextCase& c : cases) {
    const StatusOr<LabelMatcher> matcher = LabelMatcher::Parse(c.input);
    ASSERT_FALSE(matcher.ok()) << c.input;
    EXPECT_EQ(Message(matcher.status()), c.output) << c.input;
  }
}

TEST(LabelMatcher, KeysAndValuesMustBeLabels) {
  const auto error = [](std::string_view text) {
    return std::string(Message(LabelMatcher::Parse(text).status()));
  };
  EXPECT_THAT(error("x=a||y=b"),
              StartsWith("unable to parse requirement: values[0][x]: Invalid value: \"a||y\": a "
                         "valid label must be"));
  EXPECT_THAT(error("-x=a"), StartsWith("unable to parse requirement: <nil>: Invalid value: "
                                        "\"-x\": name part must consist of"));
  EXPECT_THAT(error("a/b/c"), HasSubstr("a qualified name must consist of"));
  EXPECT_THAT(error("x in (ok,-bad)"), HasSubstr("Invalid value: \"-bad\""));
  EXPECT_THAT(error("x=" + std::string(64, 'a')), HasSubstr("must be no more than 63 bytes"));
}

TEST(LabelMatcher, FromASelectorInAnObject) {
  const auto parse = [](const char* text) { return LabelMatcher::FromJson(*ParseJson(text)); };
  EXPECT_EQ(parse(R"({"matchLabels": {"b": "1", "a": "2"}, "matchExpressions": [
                      {"key": "c", "operator": "In", "values": ["y", "x"]},
                      {"key": "d", "operator": "NotIn", "values": ["z"]},
                      {"key": "e", "operator": "Exists"},
                      {"key": "f", "operator": "DoesNotExist"}]})")
                .value()
                .ToString(),
            "a=2,b=1,c in (x,y),d notin (z),e,!f");
  EXPECT_TRUE(parse("{}").value().empty());
  EXPECT_EQ(Message(parse(R"({"matchExpressions": [{"key": "a", "operator": "Gt"}]})").status()),
            "\"Gt\" is not a valid label selector operator");
  EXPECT_THAT(std::string(Message(
                  parse(R"({"matchExpressions": [{"key": "a", "operator": "In"}]})").status())),
              HasSubstr("values set can't be empty"));
  EXPECT_THAT(std::string(Message(parse(R"({"matchExpressions": [
                 {"key": "a", "operator": "Exists", "values": ["b"]}]})")
                                      .status())),
              HasSubstr("values set must be empty for exists and does not exist"));
  EXPECT_FALSE(parse(R"({"matchLabels": {"a": 1}})").ok());
}

TEST(LabelMatcher, FromAStruct) {
  struct Expression {
    std::string key, op;
    std::vector<std::string> values;
  };
  struct Selector {
    Labels match_labels;
    std::vector<Expression> match_expressions;
  };
  EXPECT_EQ(LabelMatcher::From(Selector{{{"a", "1"}}, {{"b", "In", {"x"}}}}).value().ToString(),
            "a=1,b in (x)");
  EXPECT_FALSE(LabelMatcher::From(Selector{{}, {{"b", "in", {"x"}}}}).ok());
}

struct FieldCase {
  const char* selector;
  std::map<std::string, std::string> fields;
  bool matches;
};

TEST(FieldMatcher, Matches) {
  const std::map<std::string, std::string> pod = {{"spec.nodeName", "a"}, {"odd", "x,y=z\\"}};
  const FieldCase cases[] = {
      {"", pod, true},
      {"spec.nodeName=a", pod, true},
      {"spec.nodeName==a", pod, true},
      {"spec.nodeName==b", pod, false},
      {"spec.nodeName!=b", pod, true},
      {"spec.nodeName!=a", pod, false},
      {"spec.nodeName=", pod, false},
      {"status.phase=", pod, true},
      {"status.phase!=Running", pod, true},
      {"spec.nodeName=a,status.phase=Running", pod, false},
      {"spec.nodeName=a,", pod, true},
      {R"(odd=x\,y\=z\\)", pod, true},
      {R"(odd!=x\,y\=z\\)", pod, false},
  };
  for (const FieldCase& c : cases) {
    const StatusOr<FieldMatcher> matcher = FieldMatcher::Parse(c.selector);
    ASSERT_TRUE(matcher.ok()) << c.selector << ": " << matcher.status();
    EXPECT_EQ(matcher->MatchesBy([&](const std::string& field) {
      const auto it = c.fields.find(field);
      return it == c.fields.end() ? std::string() : it->second;
    }),
              c.matches)
        << c.selector;
  }
}

TEST(FieldMatcher, PrintsWithEscapes) {
  EXPECT_EQ(FieldMatcher::Parse(R"(a==b,c!=d\,e)").value().ToString(), R"(a=b,c!=d\,e)");
}

TEST(FieldMatcher, TellsTheValueThatAFieldMustHave) {
  const FieldMatcher matcher = FieldMatcher::Parse("metadata.name=a,metadata.namespace!=b").value();
  EXPECT_EQ(matcher.RequiredValue("metadata.name"), "a");
  EXPECT_EQ(matcher.RequiredValue("metadata.namespace"), std::nullopt);
}

TEST(FieldMatcher, RefusesOtherText) {
  const TextCase cases[] = {
      {"abc", "invalid selector: 'abc'; can't understand 'abc'"},
      {"a!b", "invalid selector: 'a!b'; can't understand 'a!b'"},
      {"a=b=c", "invalid field selector: unescaped = in value \"b=c\""},
      {R"(a=b\c)", R"(invalid field selector: invalid escape sequence in "b\\c")"},
      {R"(a=b\)", R"(invalid field selector: invalid escape sequence in "b\\")"},
  };
  for (const TextCase& c : cases) {
    const StatusOr<FieldMatcher> matcher = FieldMatcher::Parse(c.input);
    ASSERT_FALSE(matcher.ok()) << c.input;
    EXPECT_EQ(Message(matcher.status()), c.output) << c.input;
  }
}

}  // namespace
}  // namespace koord::kube::selectors_test
