#include "kube/config_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace koord::kube::config_document_test {
namespace {

struct Limit {
  std::string name;
  int32_t weight = 1;

  static void Fields(auto& self, auto&& field) {
    field("name", Always(self.name));
    field("weight", self.weight);
  }
};

struct Settings {
  int32_t workers = 16;
  bool profiling = true;
  std::vector<Limit> limits;
  std::map<std::string, int64_t, std::less<>> weights;
  std::optional<Limit> extra;
  Boxed<Limit> boxed;
  Json free;

  static void Fields(auto& self, auto&& field) {
    field("workers", self.workers);
    field("profiling", self.profiling);
    field("limits", self.limits);
    field("weights", self.weights);
    field("extra", self.extra);
    field("boxed", self.boxed);
    field("free", self.free);
  }
};

std::string ErrorsOf(std::string_view text) {
  StatusOr<ConfigDocument> document = ConfigDocument::Parse(text, "a.yaml");
  if (!document.ok()) return std::string(Message(document.status()));
  Settings settings;
  DecodeStrict(document->value(), settings, ConfigField(*document));
  return std::string(Message(document->status()));
}

TEST(ConfigDocumentTest, AbsentAndNullKeepTheDefault) {
  StatusOr<ConfigDocument> document = ConfigDocument::Parse(
      "workers: null\nlimits: [{name: a}, {name: b, weight: 0}]\nextra: {}\nfree: {any: [1]}\n"
      "boxed: {name: c}\nweights: {cpu: 3, memory: null}\n",
      "a.yaml");
  ASSERT_TRUE(document.ok());
  Settings settings;
  DecodeStrict(document->value(), settings, ConfigField(*document));
  ASSERT_TRUE(document->ok()) << document->status();
  EXPECT_EQ(settings.workers, 16);
  EXPECT_TRUE(settings.profiling);
  ASSERT_EQ(settings.limits.size(), 2u);
  EXPECT_EQ(settings.limits[0].weight, 1);
  EXPECT_EQ(settings.limits[1].weight, 0);
  ASSERT_TRUE(settings.extra.has_value());
  EXPECT_EQ(settings.boxed->name, "c");
  EXPECT_EQ(settings.weights.at("cpu"), 3);
  EXPECT_EQ(settings.weights.at("memory"), 0);
  EXPECT_EQ(Serialize(settings.free), R"({"any":[1]})");
}

TEST(ConfigDocumentTest, ReportsEverythingWithItsPlace) {
  EXPECT_EQ(ErrorsOf("workers: many\n"
                     "profilling: true\n"
                     "limits:\n"
                     "- name: 5\n"
                     "- {nam: x, weight: 99999999999}\n"
                     "- text\n"
                     "weights: {example.com/gpu: high}\n"
                     "boxed: {zzzzzz: 1}\n"
                     "extra: []\n"),
            "a.yaml:1: workers: expected a 32-bit integer, found \"many\"\n"
            "a.yaml:2: profilling: unknown field (did you mean profiling?)\n"
            "a.yaml:4: limits[0].name: expected a string, found a number\n"
            "a.yaml:5: limits[1].weight: expected a 32-bit integer, found a number\n"
            "a.yaml:5: limits[1].nam: unknown field (did you mean name?)\n"
            "a.yaml:6: limits[2]: expected an object, found \"text\"\n"
            "a.yaml:7: weights.example.com/gpu: expected an integer, found \"high\"\n"
            "a.yaml:8: boxed.zzzzzz: unknown field; known here are name, weight\n"
            "a.yaml:9: extra: expected an object, found a list");
}

TEST(ConfigDocumentTest, TextsThatAreNoDocument) {
  EXPECT_EQ(ErrorsOf("a: [1"), "a.yaml:1:6: did not find expected ',' or ']'");
  EXPECT_EQ(ErrorsOf("workers: 1\n---\nworkers: 2\n"),
            "a.yaml:3: expected one document, found another");
  EXPECT_EQ(ErrorsOf("[]"), "a.yaml:1: expected an object, found a list");
  EXPECT_EQ(ErrorsOf(""), "");
  EXPECT_EQ(ErrorsOf("---\nworkers: 2\n---\n"), "");
}

TEST(ConfigDocumentTest, JsonIsUnderstoodToo) {
  EXPECT_EQ(ErrorsOf("{\"workers\": 3}"), "");
  EXPECT_EQ(ErrorsOf("{\n\"worker\": 3}"),
            "a.yaml:2: worker: unknown field (did you mean workers?)");
  // An escape that YAML does not have: read as JSON, which has no lines.
  EXPECT_EQ(ErrorsOf("{\"limits\": [{\"name\": \"\\ud83d\\ude00\", \"weigt\": 3}]}"),
            "a.yaml: limits[0].weigt: unknown field (did you mean weight?)");
}

TEST(ConfigDocumentTest, ChecksNameTheValueAndWhatIsAllowed) {
  StatusOr<ConfigDocument> document = ConfigDocument::Parse("{}", "");
  ASSERT_TRUE(document.ok());
  const ConfigField root(*document);
  root.Member("a").CheckRange(0, 0, 100);
  root.Member("a").CheckAtLeast(1, 1);
  const std::string_view kColours[] = {"red", "green"};
  root.Member("a").CheckOneOf("red", kColours);
  EXPECT_TRUE(document->ok());
  root.Member("a").CheckRange(101, 0, 100);
  root.Member("b").Item(2).CheckAtLeast(0, 1);
  root.Member("c").CheckOneOf("blue", kColours);
  root.Member("d").Warning("odd");
  EXPECT_EQ(Message(document->status()),
            "line 1: a: 101 is not between 0 and 100\n"
            "line 1: b[2]: 0 is too small: must be at least 1\n"
            "line 1: c: \"blue\" is not one of red, green");
  EXPECT_THAT(document->warnings(), testing::ElementsAre("line 1: d: odd"));
}

}  // namespace
}  // namespace koord::kube::config_document_test
