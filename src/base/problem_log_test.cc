#include "base/problem_log.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "base/log.h"

namespace koord {
namespace {

using testing::HasSubstr;

TEST(KnownProblems, AreNewUntilTheyWereReportedOrAfterTheyChanged) {
  KnownProblems problems;
  EXPECT_TRUE(problems.IsNew({.object = "p", .kind = "annotation"}, "no number"));
  EXPECT_FALSE(problems.IsNew({.object = "p", .kind = "annotation"}, "no number"));
  EXPECT_TRUE(problems.IsNew({.object = "p", .kind = "annotation"}, "too large"));
  EXPECT_TRUE(problems.IsNew({.object = "p", .kind = "annotation"}, "no number"));
  EXPECT_TRUE(problems.IsNew({.object = "q", .kind = "annotation"}, "no number"));
  EXPECT_TRUE(problems.IsNew({.object = "p", .kind = "cgroup"}, "no number"));
}

TEST(KnownProblems, AreNewAgainAfterTheyWereResolved) {
  KnownProblems problems;
  problems.Resolve({.object = "p", .kind = "cgroup"});
  EXPECT_TRUE(problems.IsNew({.object = "p", .kind = "cgroup"}, "gone"));
  problems.Resolve({.object = "p", .kind = "annotation"});
  EXPECT_FALSE(problems.IsNew({.object = "p", .kind = "cgroup"}, "gone"));
  problems.Resolve({.object = "p", .kind = "cgroup"});
  EXPECT_EQ(problems.size(), 0u);
  EXPECT_TRUE(problems.IsNew({.object = "p", .kind = "cgroup"}, "gone"));
}

TEST(KnownProblems, MayHaveNoText) {
  KnownProblems problems;
  EXPECT_TRUE(problems.IsNew({.object = "kubelet", .kind = "too many pods"}, ""));
  EXPECT_FALSE(problems.IsNew({.object = "kubelet", .kind = "too many pods"}, ""));
}

TEST(KnownProblems, KeysDoNotRunIntoEachOther) {
  KnownProblems problems;
  EXPECT_TRUE(problems.IsNew({.object = "ab", .kind = "c"}, "x"));
  EXPECT_TRUE(problems.IsNew({.object = "a", .kind = "bc"}, "x"));
}

TEST(KnownProblems, AreForgottenBeyondTheLimit) {
  KnownProblems problems(2);
  for (const char* object : {"a", "b", "c", "d", "e"}) {
    EXPECT_TRUE(problems.IsNew({.object = object, .kind = "k"}, "x"));
    EXPECT_LE(problems.size(), 2u);
  }
  EXPECT_FALSE(problems.IsNew({.object = "e", .kind = "k"}, "x"));
}

TEST(ProblemLog, SaysWhoMetWhichProblemOnce) {
  std::vector<std::string> lines;
  log::SetSink([&](std::string_view line) { lines.emplace_back(line); });
  ProblemLog log("CPUBurst");
  const ProblemKey key{.object = "kubepods/p", .kind = "quota is not writable"};
  log.Set(key, Internal("EINVAL"));
  log.Report(key, Internal("EINVAL"));
  EXPECT_EQ(lines.size(), 1u);
  log.Set(key, absl::OkStatus());
  log.Set(key, Internal("EINVAL"));
  log::SetSink(nullptr);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_THAT(lines[0], HasSubstr("\"Met a problem\" reporter=\"CPUBurst\" object=\"kubepods/p\" "
                                  "problem=\"quota is not writable\" err=\"EINVAL\""));
}

}  // namespace
}  // namespace koord
