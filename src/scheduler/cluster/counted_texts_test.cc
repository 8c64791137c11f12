#include "scheduler/cluster/counted_texts.h"

#include <gtest/gtest.h>

namespace koord::scheduler::counted_texts_test {
namespace {

TEST(CountedTextsTest, ATextHasItsNumberAsLongAsItIsHeld) {
  CountedTexts texts;
  std::optional<CountedTexts::Hold> one(std::in_place);
  std::optional<CountedTexts::Hold> other(std::in_place);
  const auto id = texts.Intern("a", *one);
  EXPECT_EQ(texts.Intern("a", *other), id);
  EXPECT_EQ(texts.TextOf(id), "a");
  one.reset();
  EXPECT_EQ(texts.Find("a"), id);
  other.reset();
  EXPECT_FALSE(texts.Find("a").has_value());
  EXPECT_EQ(texts.used(), 0U);
}

TEST(CountedTextsTest, NumbersAreUsedAgain) {
  CountedTexts texts;
  for (int i = 0; i < 1000; ++i) {
    CountedTexts::Hold hold;
    texts.Intern(std::to_string(i), hold);
    EXPECT_EQ(texts.used(), 1U);
  }
  EXPECT_EQ(texts.size(), 1U);
}

TEST(CountedTextsTest, WhatIsInternedForEverStays) {
  CountedTexts texts;
  std::optional<CountedTexts::Hold> hold(std::in_place);
  const auto id = texts.Intern("a", *hold);
  EXPECT_EQ(texts.Intern("a"), id) << "also if somebody has held it until now";
  hold.reset();
  EXPECT_EQ(texts.Find("a"), id);
  {
    CountedTexts::Hold again;
    texts.Intern("a", again);
  }
  EXPECT_EQ(texts.Find("a"), id);
}

TEST(CountedTextsTest, HoldsMoveAndOutliveTheTable) {
  CountedTexts::Hold outlives;
  {
    CountedTexts texts;
    CountedTexts::Hold first;
    CountedTexts::Hold second;
    texts.Intern("a", first);
    texts.Intern("b", second);
    first = std::move(second);
    EXPECT_FALSE(texts.Find("a").has_value());
    EXPECT_TRUE(texts.Find("b").has_value());
    outlives = std::move(first);
    EXPECT_TRUE(texts.Find("b").has_value());
  }
}

}  // namespace
}  // namespace koord::scheduler::counted_texts_test
