#include "model/quota/quota_index.h"

#include <gtest/gtest.h>

namespace koord::model::quota_index_test {
namespace {

QuotaInfo Info(std::string name, std::string ns, std::vector<std::string> namespaces = {}) {
  QuotaInfo info;
  info.name = std::move(name);
  info.ns = std::move(ns);
  info.parent = api::kRootQuota;
  info.namespaces = std::move(namespaces);
  return info;
}

TEST(QuotaIndexTest, FindsTheQuotaOfAPod) {
  QuotaIndex index;
  index.Set(Info("named", "any"));
  index.Set(Info("team", "team"));
  index.Set(Info("elsewhere", "kube-system"));
  index.Set(Info("bound", "kube-system", {"apps", "team"}));
  EXPECT_EQ(index.ChargedFor("named", "apps", false), "named");
  EXPECT_EQ(index.ChargedFor("", "team", false), "team") << "the namespace's own comes first";
  EXPECT_EQ(index.ChargedFor("", "elsewhere", false), api::kDefaultQuota)
      << "the name alone is not enough";
  EXPECT_EQ(index.ChargedFor("", "apps", false), "bound");
  EXPECT_EQ(index.ChargedFor("", "other", false), api::kDefaultQuota);
  EXPECT_EQ(index.ChargedFor("unknown", "apps", false), api::kDefaultQuota);
}

TEST(QuotaIndexTest, WithoutADefaultOnlyTheLabelCounts) {
  QuotaIndex index;
  index.Set(Info("named", "any"));
  index.Set(Info("team", "team"));
  EXPECT_EQ(index.ChargedFor("named", "team", true), "named");
  EXPECT_EQ(index.ChargedFor("", "team", true), "");
  EXPECT_EQ(index.ChargedFor("unknown", "team", true), "");
}

TEST(QuotaIndexTest, ForgetsWhatAQuotaNoLongerHas) {
  QuotaIndex index;
  index.Set(Info("a", "x", {"n"}));
  index.Set(Info("b", "x", {"n"}));
  EXPECT_EQ(index.OfNamespace("n"), "a");
  index.Set(Info("a", "x"));
  EXPECT_EQ(index.OfNamespace("n"), "b");
  index.Remove("b");
  EXPECT_EQ(index.OfNamespace("n"), "");
  EXPECT_EQ(index.ChildrenOf(api::kRootQuota).size(), 1u);
}

}  // namespace
}  // namespace koord::model::quota_index_test
