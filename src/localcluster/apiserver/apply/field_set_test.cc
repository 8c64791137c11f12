#include "localcluster/apiserver/apply/field_set.h"

#include <gtest/gtest.h>

#include "localcluster/apiserver/apply/apply_testing.h"

namespace koord::apiserver::field_set_test {
namespace {

FieldSet Set(std::string_view text) {
  auto set = FieldSet::Parse(Parse(text));
  EXPECT_TRUE(set.ok()) << text << ": " << set.status();
  return set.ok() ? *set : FieldSet();
}

std::string Paths(const FieldSet& set) {
  std::vector<std::string> paths;
  set.ForEach([&](const std::string& path) { paths.push_back(path); });
  return Join(paths, " ");
}

TEST(FieldSet, NamesMembersAsConflictsDo) {
  EXPECT_EQ(Paths(Set(R"({
      "f:metadata": {"f:labels": {".": {}, "f:app": {}}, "f:finalizers": {"v:\"a/b\"": {}}},
      "f:spec": {"f:list": {"i:2": {}},
                 "f:ports": {"k:{\"protocol\":\"TCP\",\"containerPort\":80}": {".": {}, "f:name": {}}}}})")),
            ".metadata.finalizers[=\"a/b\"] .metadata.labels .metadata.labels.app .spec.list[2] "
            ".spec.ports[containerPort=80,protocol=\"TCP\"] "
            ".spec.ports[containerPort=80,protocol=\"TCP\"].name");
}

TEST(FieldSet, RefusesWhatIsNoFieldSet) {
  for (const char* bad : {R"([])", R"("f:a")", R"({"a": {}})", R"({"f:a": 1})",
                          R"({"f:a": {"x:b": {}}})", R"({"k:name": {}})", R"({"k:[1]": {}})",
                          R"({"i:x": {}})", R"({"v:": {}})", R"({"": {}})"}) {
    EXPECT_FALSE(FieldSet::Parse(Parse(bad)).ok()) << bad;
  }
}

TEST(FieldSet, PutsKeysInOrder) {
  EXPECT_EQ(Set(R"({"k:{\"b\":1,\"a\":2}": {}})"), Set(R"({"k:{\"a\": 2, \"b\": 1}": {}})"));
}

TEST(FieldSet, OfPlainPaths) {
  EXPECT_EQ(FieldSet::Of({{"status"}, {"metadata", "a"}, {"metadata", "b"}}),
            Set(R"({"f:status": {}, "f:metadata": {"f:a": {}, "f:b": {}}})"));
}

struct SetCase {
  const char* name;
  const char* a;
  const char* b;
  const char* expected;
};

TEST(FieldSet, Add) {
  const SetCase kCases[] = {
      {"apart", R"({"f:a": {}})", R"({"f:b": {}})", R"({"f:a": {}, "f:b": {}})"},
      {"the same", R"({"f:a": {}})", R"({"f:a": {}})", R"({"f:a": {}})"},
      {"below a leaf", R"({"f:a": {}})", R"({"f:a": {"f:b": {}}})",
       R"({"f:a": {".": {}, "f:b": {}}})"},
      {"the thing itself", R"({"f:a": {"f:b": {}}})", R"({"f:a": {}})",
       R"({"f:a": {".": {}, "f:b": {}}})"},
      {"into nothing", R"({})", R"({"f:a": {"f:b": {}}})", R"({"f:a": {"f:b": {}}})"},
      {"deeper", R"({"f:a": {"f:b": {}}})", R"({"f:a": {".": {}, "f:c": {}}})",
       R"({"f:a": {".": {}, "f:b": {}, "f:c": {}}})"},
  };
  for (const auto& c : kCases) {
    FieldSet set = Set(c.a);
    EXPECT_EQ(set.Add(Set(c.b)), !(Set(c.a) == Set(c.expected))) << c.name;
    EXPECT_EQ(set, Set(c.expected)) << c.name << ": " << set.tree();
  }
}

TEST(FieldSet, Remove) {
  const SetCase kCases[] = {
      {"a member", R"({"f:a": {}, "f:b": {}})", R"({"f:b": {}})", R"({"f:a": {}})"},
      {"not a member", R"({"f:a": {}})", R"({"f:b": {}})", R"({"f:a": {}})"},
      {"the thing but not what is below", R"({"f:a": {".": {}, "f:b": {}}})", R"({"f:a": {}})",
       R"({"f:a": {"f:b": {}}})"},
      {"what is below but not the thing", R"({"f:a": {".": {}, "f:b": {}}})",
       R"({"f:a": {"f:b": {}}})", R"({"f:a": {}})"},
      {"everything below", R"({"f:a": {"f:b": {}}})", R"({"f:a": {"f:b": {}}})", R"({})"},
      {"below a leaf", R"({"f:a": {}})", R"({"f:a": {"f:b": {}}})", R"({"f:a": {}})"},
      {"all", R"({"f:a": {".": {}, "f:b": {}}})", R"({"f:a": {".": {}, "f:b": {}}})", R"({})"},
  };
  for (const auto& c : kCases) {
    FieldSet set = Set(c.a);
    EXPECT_EQ(set.Remove(Set(c.b)), !(Set(c.a) == Set(c.expected))) << c.name;
    EXPECT_EQ(set, Set(c.expected)) << c.name << ": " << set.tree();
  }
}

TEST(FieldSet, RemoveTrees) {
  FieldSet set =
      Set(R"({"f:status": {"f:x": {}}, "f:metadata": {"f:labels": {"f:a": {}}, "f:b": {}}})");
  set.RemoveTrees(FieldSet::Of({{"status"}, {"metadata", "labels"}}));
  EXPECT_EQ(set, Set(R"({"f:metadata": {"f:b": {}}})"));
}

TEST(FieldSet, Intersection) {
  const SetCase kCases[] = {
      {"common", R"({"f:a": {}, "f:b": {}})", R"({"f:b": {}, "f:c": {}})", R"({"f:b": {}})"},
      {"nothing", R"({"f:a": {"f:b": {}}})", R"({"f:a": {"f:c": {}}})", R"({})"},
      {"the thing in one, below it in the other", R"({"f:a": {}})", R"({"f:a": {"f:b": {}}})",
       R"({})"},
      {"the thing in both", R"({"f:a": {".": {}, "f:b": {}}})", R"({"f:a": {}})", R"({"f:a": {}})"},
      {"below and the thing", R"({"f:a": {".": {}, "f:b": {}}})",
       R"({"f:a": {".": {}, "f:b": {}, "f:c": {}}})", R"({"f:a": {".": {}, "f:b": {}}})"},
      {"with nothing", R"({"f:a": {}})", R"({})", R"({})"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(Set(c.a).Intersection(Set(c.b)), Set(c.expected)) << c.name;
    EXPECT_EQ(Set(c.b).Intersection(Set(c.a)), Set(c.expected)) << c.name;
  }
}

}  // namespace
}  // namespace koord::apiserver::field_set_test
