#include "base/cpu_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/random.h"

namespace koord::cpu_set_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(CpuSet, ReadsListsAndWritesThemInTheShortestForm) {
  const struct {
    const char* text;
    const char* canonical;
    size_t count;
  } kCases[] = {
      {"", "", 0},
      {"5", "5", 1},
      {"0-3,6", "0-3,6", 5},
      {"6,7", "6-7", 2},
      {"3,1,2,2,0-1", "0-3", 4},
      {"5-3", "", 0},
      {"5-3,9", "9", 1},
      {"8191", "8191", 1},
      {"8000-8191", "8000-8191", 192},
      {"0-8191,0-8191,5,0-8191", "0-8191", 8192},
      {"4-9,2-5,8-11,20,7-3", "2-11,20", 11},
      {"63-64,127,128,192-255", "63-64,127-128,192-255", 68},
      {"0-63", "0-63", 64},
      {"64-127", "64-127", 64},
  };
  for (const auto& test : kCases) {
    const auto cpus = CpuSet::Parse(test.text);
    ASSERT_TRUE(cpus.ok()) << test.text;
    EXPECT_EQ(cpus->size(), test.count) << test.text;
    EXPECT_EQ(cpus->empty(), test.count == 0) << test.text;
    EXPECT_EQ(cpus->ToString(), test.canonical) << test.text;
    EXPECT_EQ(std::distance(cpus->begin(), cpus->end()), static_cast<ptrdiff_t>(test.count));
  }
}

TEST(CpuSet, NamesThePartOfAListThatIsWrong) {
  for (const char* text :
       {"x", "0,x", "0,,1", ",", "1-", "-1", "1-2-3", "8192", "2147483647", "2147483648",
        "99999999999999999999999", "0-2147483647", "9000-3", " 1"}) {
    EXPECT_FALSE(CpuSet::Parse(text).ok()) << text;
  }
  EXPECT_EQ(Message(CpuSet::Parse("0-3,a-b").status()),
            "\"a-b\" is no CPU: expected a number or a range like 0-3");
  EXPECT_EQ(Message(CpuSet::Parse("0-3,0-8192").status()),
            "\"0-8192\" is no CPU: expected numbers from 0 to 8191");
}

TEST(CpuSet, GoesThroughItsCpusInAscendingOrder) {
  EXPECT_THAT(CpuSet(), IsEmpty());
  EXPECT_THAT((CpuSet{130, 0, 64, 63, 0}), ElementsAre(0, 63, 64, 130));
}

TEST(CpuSet, WhatIsNoCpuIsInNoSet) {
  CpuSet cpus{-1, 3, CpuSet::kMaxCpus};
  EXPECT_THAT(cpus, ElementsAre(3));
  EXPECT_FALSE(cpus.Contains(-1));
  EXPECT_FALSE(cpus.Contains(CpuSet::kMaxCpus));
  cpus.Remove(-1);
  cpus.Remove(CpuSet::kMaxCpus);
  EXPECT_THAT(cpus, ElementsAre(3));
}

TEST(CpuSet, SetsOfTheSameCpusAreEqualHoweverTheyCameAbout) {
  CpuSet cpus{1, 500};
  cpus.Remove(500);
  EXPECT_EQ(cpus, CpuSet{1});
  cpus.Remove(1);
  EXPECT_EQ(cpus, CpuSet());
  EXPECT_TRUE(cpus.empty());
  EXPECT_EQ((CpuSet{1, 500} & CpuSet{1, 2}), CpuSet{1});
  EXPECT_EQ((CpuSet{1, 500} - CpuSet{500}), CpuSet{1});
}

std::set<int32_t> Plain(const CpuSet& cpus) { return {cpus.begin(), cpus.end()}; }

// Against the plain set, for many sizes and densities.
TEST(CpuSet, CombinesAsSetsDo) {
  Random random(7);
  for (int round = 0; round < 300; ++round) {
    const int32_t limit = 1 + static_cast<int32_t>(random.Below(300));
    CpuSet a, b;
    std::set<int32_t> plain_a, plain_b;
    for (uint64_t i = random.Below(80); i > 0; --i) {
      const auto cpu = static_cast<int32_t>(random.Below(limit));
      const bool in_a = random.Below(2) == 0;
      (in_a ? a : b).Add(cpu);
      (in_a ? plain_a : plain_b).insert(cpu);
    }
    std::set<int32_t> both, common, rest;
    std::ranges::set_union(plain_a, plain_b, std::inserter(both, both.end()));
    std::ranges::set_intersection(plain_a, plain_b, std::inserter(common, common.end()));
    std::ranges::set_difference(plain_a, plain_b, std::inserter(rest, rest.end()));
    EXPECT_EQ(Plain(a | b), both);
    EXPECT_EQ(Plain(a & b), common);
    EXPECT_EQ(Plain(a - b), rest);
    EXPECT_EQ(a.Includes(b), std::ranges::includes(plain_a, plain_b));
    EXPECT_TRUE((a | b).Includes(a));
    EXPECT_EQ(a.size(), plain_a.size());
    EXPECT_EQ(CpuSet::Parse(a.ToString()).value(), a);
  }
}

}  // namespace
}  // namespace koord::cpu_set_test
