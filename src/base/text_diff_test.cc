#include "base/text_diff.h"

#include <gtest/gtest.h>

namespace koord::text_diff_test {
namespace {

std::string Diff(std::string_view from, std::string_view to, size_t context = 1) {
  return UnifiedDiff(from, to, {.from_name = "a", .to_name = "b", .context = context});
}

// Expectations are what `diff -U1` prints.
TEST(UnifiedDiff, AsDiffPrintsIt) {
  struct Case {
    const char* name;
    const char* from;
    const char* to;
    const char* expected;
  };
  const Case cases[] = {
      {"the same", "1\n2\n", "1\n2\n", ""},
      {"a line changed", "1\n2\n3\n4\n", "1\n2\nx\n4\n",
       "--- a\n+++ b\n@@ -2,3 +2,3 @@\n 2\n-3\n+x\n 4\n"},
      {"lines added at the end", "1\n2\n", "1\n2\n3\n4\n",
       "--- a\n+++ b\n@@ -2,1 +2,3 @@\n 2\n+3\n+4\n"},
      {"all is new", "", "1\n", "--- a\n+++ b\n@@ -0,0 +1,1 @@\n+1\n"},
      {"all is gone", "1\n2\n", "", "--- a\n+++ b\n@@ -1,2 +0,0 @@\n-1\n-2\n"},
      {"changes that are far apart", "1\n2\n3\n4\n5\n6\n", "x\n2\n3\n4\n5\ny\n",
       "--- a\n+++ b\n@@ -1,2 +1,2 @@\n-1\n+x\n 2\n@@ -5,2 +5,2 @@\n 5\n-6\n+y\n"},
      {"changes that touch", "1\n2\n3\n", "x\n2\ny\n",
       "--- a\n+++ b\n@@ -1,3 +1,3 @@\n-1\n+x\n 2\n-3\n+y\n"},
  };
  for (const Case& each : cases) EXPECT_EQ(Diff(each.from, each.to), each.expected) << each.name;
}

TEST(UnifiedDiff, ColorsOnlyWhatChanges) {
  EXPECT_EQ(UnifiedDiff("1\n2\n", "1\n3\n",
                        {.from_name = "a", .to_name = "b", .context = 1, .color = true}),
            "--- a\n+++ b\n\x1b[36m@@ -1,2 +1,2 @@\x1b[0m\n 1\n\x1b[31m-2\x1b[0m\n"
            "\x1b[32m+3\x1b[0m\n");
}

}  // namespace
}  // namespace koord::text_diff_test
