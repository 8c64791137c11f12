#include "base/cpu_list.h"

#include <gtest/gtest.h>

namespace koord::cpu_list_test {
namespace {

TEST(CpuListTest, ReadsAndWritesInTheShortestForm) {
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
      {"4096", "4096", 1},
      {"4000-4096", "4000-4096", 97},
      {"2147483647", "2147483647", 1},
  };
  for (const auto& test : kCases) {
    const auto cpus = ParseCpuList(test.text);
    ASSERT_TRUE(cpus.ok()) << test.text;
    EXPECT_EQ(cpus->size(), test.count) << test.text;
    EXPECT_EQ(FormatCpuList(*cpus), test.canonical) << test.text;
  }
}

TEST(CpuListTest, NamesThePartThatIsWrong) {
  for (const char* text : {"x", "0,x", "0,,1", ",", "1-", "-1", "1-2-3", "2147483648", " 1"}) {
    EXPECT_FALSE(ParseCpuList(text).ok()) << text;
  }
  EXPECT_EQ(Message(ParseCpuList("0-3,a-b").status()),
            "\"a-b\" is no CPU: expected a number or a range like 0-3");
  EXPECT_EQ(Message(ParseCpuList("0-4097").status()), "the range \"0-4097\" ends above 4096");
}

}  // namespace
}  // namespace koord::cpu_list_test
