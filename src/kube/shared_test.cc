#include "kube/shared.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace koord::kube::shared_test {
namespace {

using testing::ElementsAre;
using testing::Pair;

using Words = Shared<std::vector<std::string>>;
using Pairs = Shared<std::map<std::string, std::string, std::less<>>>;

const void* Place(const Words& words) { return words.get().data(); }

Words Decoded(std::string_view text) { return *Decode<Words>(*ParseJson(text)); }

TEST(SharedTest, EqualOnesThatAreDecodedAreStoredOnce) {
  const Words first = Decoded(R"(["a","b"])");
  EXPECT_THAT(first, ElementsAre("a", "b"));
  EXPECT_EQ(Place(Decoded(R"(["a","b"])")), Place(first));
  EXPECT_NE(Place(Decoded(R"(["a","c"])")), Place(first));
  EXPECT_EQ(Encode(first), *ParseJson(R"(["a","b"])"));
}

TEST(SharedTest, AChangeIsTheChangersAlone) {
  const Words before = Decoded(R"(["x","y"])");
  Words mine = before;
  EXPECT_EQ(Place(mine), Place(before));
  mine.Mutable().push_back("z");
  mine.Mutable()[0] = "X";
  EXPECT_THAT(mine, ElementsAre("X", "y", "z"));
  EXPECT_THAT(before, ElementsAre("x", "y"));
  EXPECT_THAT(Decoded(R"(["x","y"])"), ElementsAre("x", "y"));
}

TEST(SharedTest, ReadingDetachesNothing) {
  const Words first = Decoded(R"(["r","s"])");
  Words second = first;
  for (const std::string& word : second) EXPECT_FALSE(word.empty());
  EXPECT_EQ(second[1], "s");
  EXPECT_EQ(second.front(), "r");
  EXPECT_EQ(Place(second), Place(first));
}

// Nothing but Mutable() and an assignment changes one, also one that is not const.
static_assert(std::is_same_v<decltype(std::declval<Words&>()[0]), const std::string&>);
static_assert(std::is_same_v<decltype(*std::declval<Words&>().begin()), const std::string&>);
static_assert(std::is_same_v<decltype(std::declval<Words&>().at(0)), const std::string&>);
static_assert(std::is_same_v<decltype(std::declval<Pairs&>().find("")), Pairs::const_iterator>);

TEST(SharedTest, AReferenceThatWasHandedOutChangesNoCopy) {
  Words mine = Decoded(R"(["p","q"])");
  std::string& kept = mine.Mutable()[0];
  const Words copy = mine;
  kept = "changed";
  EXPECT_THAT(mine, ElementsAre("changed", "q"));
  EXPECT_THAT(copy, ElementsAre("p", "q"));
}

TEST(SharedTest, IsEmptyUntilSomethingIsPutIn) {
  Pairs pairs;
  EXPECT_TRUE(pairs.empty());
  EXPECT_EQ(pairs, Pairs::container());
  EXPECT_FALSE(pairs.contains("a"));
  pairs.Mutable()["a"] = "1";
  pairs.Mutable().insert_or_assign("b", "2");
  EXPECT_THAT(pairs, ElementsAre(Pair("a", "1"), Pair("b", "2")));
  EXPECT_EQ(pairs.Mutable().erase("a"), 1u);
  EXPECT_EQ(pairs.find("b")->second, "2");
  pairs.clear();
  EXPECT_EQ(pairs, Pairs());
}

TEST(SharedTest, MovesLeaveNothingBehind) {
  Words from = {"a"};
  const Words to = std::move(from);
  EXPECT_TRUE(from.empty());  // NOLINT(bugprone-use-after-move)
  EXPECT_THAT(to, ElementsAre("a"));
}

TEST(SharedTest, AWrongTypeIsNamedAsInAnyList) {
  const auto words = Decode<Words>(*ParseJson(R"(["a",1])"));
  EXPECT_EQ(Message(words.status()), "[1]: expected a string, found a number");
}

TEST(TextTest, BehavesAsAString) {
  const Text text = "kube";
  EXPECT_EQ(text, "kube");
  EXPECT_NE(text, std::string("other"));
  EXPECT_EQ(text, std::string_view("kube"));
  EXPECT_LT(text, Text("zebra"));
  EXPECT_EQ(text + "-x", "kube-x");
  EXPECT_EQ("x-" + text, "x-kube");
  EXPECT_EQ(fmt::format("<{}>", text), "<kube>");
  EXPECT_EQ(fmt::format("{:>6}", text), "  kube");
  const std::string& plain = text;
  EXPECT_EQ(plain, "kube");
  EXPECT_EQ(*Decode<Text>(Json("kube")), text);
  EXPECT_EQ(Encode(text), Json("kube"));
  EXPECT_TRUE(Text().empty());
}

}  // namespace
}  // namespace koord::kube::shared_test
