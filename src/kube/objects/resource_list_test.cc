#include "kube/objects/resource_list.h"

#include <gtest/gtest.h>

namespace koord::kube::resource_list_test {
namespace {

ResourceList MakeList(std::string_view text) {
  return Decode<ResourceList>(ParseJson(text).value()).value();
}

TEST(ResourceListTest, AbsentCountsAsZero) {
  ResourceList list = MakeList(R"({"cpu":"1","memory":"1Gi"})");
  EXPECT_EQ(AmountOf(list, "pods"), Quantity());
  SubtractFrom(list, MakeList(R"({"cpu":"500m","pods":"3"})"));
  EXPECT_EQ(list, MakeList(R"({"cpu":"500m","memory":"1Gi","pods":"-3"})"));
  AddTo(list, MakeList(R"({"pods":"3","x.io/y":"1"})"));
  EXPECT_EQ(list, MakeList(R"({"cpu":"500m","memory":"1Gi","pods":"0","x.io/y":"1"})"));
}

TEST(ResourceListTest, RaisesEachNameToTheLarger) {
  ResourceList list = MakeList(R"({"cpu":"1","memory":"1Gi"})");
  RaiseTo(list, MakeList(R"({"cpu":"900m","memory":"2Gi","pods":"1"})"));
  EXPECT_EQ(list, MakeList(R"({"cpu":"1","memory":"2Gi","pods":"1"})"));
}

TEST(ResourceListTest, EqualByValueAndNames) {
  EXPECT_EQ(MakeList(R"({"cpu":"1000m"})"), MakeList(R"({"cpu":1})"));
  EXPECT_NE(MakeList(R"({"cpu":"1"})"), MakeList(R"({"cpu":"1","memory":"0"})"));
}

TEST(ResourceListTest, Fits) {
  const ResourceList have = MakeList(R"({"cpu":"1","memory":"1Gi"})");
  EXPECT_TRUE(FitsIn(MakeList(R"({"cpu":"1000m"})"), have));
  EXPECT_FALSE(FitsIn(MakeList(R"({"cpu":"1001m"})"), have));
  EXPECT_FALSE(FitsIn(MakeList(R"({"pods":"1"})"), have));
  EXPECT_TRUE(FitsIn(MakeList(R"({"pods":"0"})"), have));
}

TEST(ResourceListTest, ZeroIsAllZero) {
  EXPECT_TRUE(IsZero({}));
  EXPECT_TRUE(IsZero(MakeList(R"({"cpu":"0"})")));
  EXPECT_FALSE(IsZero(MakeList(R"({"cpu":"0","memory":"1"})")));
}

TEST(ResourceListTest, KeepsTheTextOfAmounts) {
  EXPECT_EQ(Serialize(Encode(MakeList(R"({"memory":"1.5Gi","cpu":"100m"})"))),
            R"({"cpu":"100m","memory":"1536Mi"})");
}

}  // namespace
}  // namespace koord::kube::resource_list_test
