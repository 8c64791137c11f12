#include "kube/objects/meta.h"

#include <gtest/gtest.h>

#include "kube/resources.h"

namespace koord::kube::meta_test {
namespace {

Json Parse(std::string_view text) { return ParseJson(text).value(); }

TEST(ObjectMetaTest, RoundTrips) {
  const Json json = Parse(R"({
    "name": "p", "generateName": "p-", "namespace": "ns", "uid": "u", "resourceVersion": "7",
    "generation": 2, "creationTimestamp": "2026-07-01T10:00:00Z",
    "deletionTimestamp": "2026-07-01T10:00:30Z", "deletionGracePeriodSeconds": 0,
    "labels": {"a": "b"}, "annotations": {"c": "d"},
    "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "v",
                         "controller": true, "blockOwnerDeletion": false}],
    "finalizers": ["f"]})");
  const StatusOr<ObjectMeta> meta = Decode<ObjectMeta>(json);
  ASSERT_TRUE(meta.ok()) << meta.status();
  EXPECT_EQ(KeyOf(*meta), (ObjectKey{"ns", "p"}));
  EXPECT_TRUE(IsBeingDeleted(*meta));
  EXPECT_EQ(ControllerOf(*meta)->name, "r");
  EXPECT_TRUE(Equal(Encode(*meta), json)) << Serialize(Encode(*meta));
}

TEST(ObjectMetaTest, WritesNothingThatIsUnset) {
  EXPECT_EQ(Serialize(Encode(ObjectMeta{.name = "n"})), R"({"name":"n"})");
}

TEST(ObjectMetaTest, OnlyAControllerIsTheController) {
  ObjectMeta meta;
  EXPECT_EQ(ControllerOf(meta), nullptr);
  meta.owner_references = {{.name = "plain"}, {.name = "not", .controller = false}};
  EXPECT_EQ(ControllerOf(meta), nullptr);
}

TEST(ObjectMetaTest, LooksUpLabels) {
  const Labels labels{{"a", "b"}};
  EXPECT_EQ(ValueOf(labels, "a"), "b");
  EXPECT_EQ(ValueOf(labels, "x"), "");
  EXPECT_EQ(FindValue(labels, "x"), nullptr);
}

struct Plain {
  ObjectMeta metadata;
  static void Fields(auto& self, auto&& field) { field("metadata", self.metadata); }
};

TEST(EncodeObjectTest, NamesTheKindFirst) {
  EXPECT_EQ(Serialize(EncodeObject(kPods, Plain{{.name = "p"}})),
            R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}})");
}

TEST(ConditionTest, FindsByType) {
  const std::vector<Condition> conditions{{.type = "Ready", .status = "True"},
                                          {.type = "Full", .status = "False"}};
  EXPECT_TRUE(IsConditionTrue(conditions, "Ready"));
  EXPECT_FALSE(IsConditionTrue(conditions, "Full"));
  EXPECT_FALSE(IsConditionTrue(conditions, "Other"));
  EXPECT_EQ(FindCondition(conditions, "Other"), nullptr);
}

}  // namespace
}  // namespace koord::kube::meta_test
