#include "program/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace koord::program::flags_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

struct Values {
  bool profiling = true;
  bool debug_filters = false;
  int port = 10251;
  int verbosity = 0;
  int scores = 0;
  double qps = 50;
  std::string kubeconfig = "default";
  Duration timeout = 30s;
  std::vector<std::string> paths{"/healthz", "/livez"};
};

class FlagsTest : public ::testing::Test {
 protected:
  FlagsTest() : flags_("koord-scheduler", "Places pods.") {
    flags_.AddGroup("Misc")
        .Bool("--profiling", values_.profiling, "Serve /debug.")
        .Bool("-f,--debug-filters", values_.debug_filters, "Log every filter failure.")
        .Int("--port", values_.port, "Plain HTTP port.")
        .Int("-v,--v", values_.verbosity, "Log verbosity.")
        .Int("-s,--debug-scores", values_.scores, "Log the best scores.")
        .Number("--kube-api-qps", values_.qps, "Requests a second.")
        .Text("--kubeconfig", values_.kubeconfig, "Where the cluster is.")
        .Time("--scheduling-timeout", values_.timeout, "When an attempt is slow.")
        .List("--authorization-always-allow-paths", values_.paths, "Open to all.");
    flags_.Accept({"--vmodule"}, {"--logtostderr"});
  }

  Flags::Outcome Read(std::vector<std::string> arguments) {
    return flags_.Read(std::move(arguments));
  }

  Values values_;
  Flags flags_;
};

TEST_F(FlagsTest, NothingGivenLeavesDefaults) {
  EXPECT_TRUE(Read({}).run);
  EXPECT_EQ(values_.port, 10251);
  EXPECT_TRUE(values_.profiling);
  EXPECT_THAT(values_.paths, ElementsAre("/healthz", "/livez"));
  EXPECT_FALSE(flags_.IsSet("--port"));
}

TEST_F(FlagsTest, EveryTypeIsRead) {
  const auto outcome =
      Read({"--profiling=false", "--debug-filters", "--port", "0", "--kube-api-qps=12.5",
            "--kubeconfig=/etc/k", "--scheduling-timeout=1m30s",
            "--authorization-always-allow-paths=/a, /b", "--authorization-always-allow-paths=/c"});
  EXPECT_TRUE(outcome.run) << outcome.err;
  EXPECT_FALSE(values_.profiling);
  EXPECT_TRUE(values_.debug_filters);
  EXPECT_EQ(values_.port, 0);
  EXPECT_EQ(values_.qps, 12.5);
  EXPECT_EQ(values_.kubeconfig, "/etc/k");
  EXPECT_EQ(values_.timeout, 90s);
  EXPECT_THAT(values_.paths, ElementsAre("/a", "/b", "/c"));
  EXPECT_TRUE(flags_.IsSet("--port"));
}

TEST_F(FlagsTest, SpellingsOfShippedManifestsWork) {
  for (const std::vector<std::string>& spelling :
       {std::vector<std::string>{"-v=4"}, {"-v", "4"}, {"-v4"}, {"--v=4"}, {"--v", "4"}}) {
    SCOPED_TRACE(spelling.front());
    Values values;
    Flags flags("koordlet", "");
    flags.AddGroup("Logging").Int("-v,--v", values.verbosity, "");
    EXPECT_TRUE(flags.Read(spelling).run);
    EXPECT_EQ(values.verbosity, 4);
  }
  EXPECT_TRUE(Read({"-kubeconfig=/k", "--scheduling_timeout=1s", "-s=3", "-f"}).run);
  EXPECT_EQ(values_.kubeconfig, "/k");
  EXPECT_EQ(values_.timeout, 1s);
  EXPECT_EQ(values_.scores, 3);
  EXPECT_TRUE(values_.debug_filters);
}

TEST_F(FlagsTest, AnEmptyValueIsAValue) {
  EXPECT_TRUE(Read({"--kubeconfig=", "--profiling=false"}).run);
  EXPECT_EQ(values_.kubeconfig, "");
  EXPECT_FALSE(values_.profiling);
}

TEST_F(FlagsTest, AValueMayLookLikeAFlag) {
  EXPECT_TRUE(Read({"--port", "-1", "--kubeconfig", "--x"}).run);
  EXPECT_EQ(values_.port, -1);
  EXPECT_EQ(values_.kubeconfig, "--x");
}

TEST_F(FlagsTest, TheLastOneWins) {
  EXPECT_TRUE(Read({"--port=1", "--port=2", "--profiling=false", "--profiling"}).run);
  EXPECT_EQ(values_.port, 2);
  EXPECT_TRUE(values_.profiling);
}

TEST_F(FlagsTest, MistakesAreNamed) {
  const struct {
    std::vector<std::string> arguments;
    std::string error;
  } kCases[] = {
      {{"--prot=1"}, "koord-scheduler: unknown flag: --prot\nDid you mean --port?\n"},
      {{"--kubeconfg", "x"}, "unknown flag: --kubeconfg\nDid you mean --kubeconfig?\n"},
      {{"--zzzzzzzzz"}, "unknown flag: --zzzzzzzzz\n"},
      {{"--port=http"}, "invalid argument \"http\" for \"--port\" flag: must be a whole number"},
      {{"--port=99999999999"}, "invalid argument \"99999999999\" for \"--port\" flag"},
      {{"--profiling=maybe"}, "invalid argument \"maybe\" for \"--profiling\" flag: must be true"},
      {{"--scheduling-timeout=5"}, "invalid argument \"5\" for \"--scheduling-timeout\" flag"},
      {{"--kube-api-qps=nan"}, "must be a number"},
      {{"--port"}, "--port"},
      {{"run", "b c"},
       "koord-scheduler: \"koord-scheduler\" does not take any arguments, got [\"run\" \"b c\"]\n"},
      {{"--profiling", "false"}, "does not take any arguments, got [\"false\"]"},
  };
  for (const auto& test : kCases) {
    SCOPED_TRACE(test.arguments.front());
    const Flags::Outcome outcome = Read(test.arguments);
    EXPECT_FALSE(outcome.run);
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.err, HasSubstr(test.error));
    EXPECT_THAT(outcome.err, HasSubstr("'koord-scheduler --help' lists the flags."));
  }
}

TEST_F(FlagsTest, EmptyWordsOfTemplatesDoNotMatter) { EXPECT_TRUE(Read({"", "--port=1", ""}).run); }

TEST_F(FlagsTest, AFailedCheckEndsTheProgram) {
  flags_.AddCheck([this] {
    if (values_.port >= 0) return absl::OkStatus();
    return InvalidArgument("--port must be between 0 and 65535, is {}", values_.port);
  });
  EXPECT_TRUE(Read({"--port=1"}).run);
  EXPECT_THAT(Read({"--port=-1"}).err, StartsWith("koord-scheduler: --port must be between"));
}

TEST_F(FlagsTest, FlagsWithoutEffectAreAcceptedAndTold) {
  EXPECT_TRUE(Read({"--logtostderr=true", "--vmodule=a=2", "--port=1"}).run);
  EXPECT_THAT(flags_.IgnoredFlags(), ElementsAre("--vmodule", "--logtostderr"));
}

TEST_F(FlagsTest, HelpIsGroupedAndTellsDefaults) {
  const Flags::Outcome outcome = Read({"--help"});
  EXPECT_FALSE(outcome.run);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, IsEmpty());
  EXPECT_THAT(outcome.out, StartsWith("Places pods.\n\nUsage:\n  koord-scheduler [flags]\n\n"
                                      "Misc flags:\n  --profiling\n        Serve /debug. "
                                      "(default true)\n  -f, --debug-filters\n"));
  EXPECT_THAT(outcome.out, HasSubstr("  --port int\n        Plain HTTP port. (default 10251)\n"));
  EXPECT_THAT(outcome.out, HasSubstr("(default 30s)"));
  EXPECT_THAT(outcome.out, HasSubstr("\nGlobal flags:\n  -h, --help\n"));
  EXPECT_THAT(outcome.out, HasSubstr("Accepted, without effect:\n  --vmodule --logtostderr\n"));
  EXPECT_EQ(Read({"-h"}).out, outcome.out);
}

TEST_F(FlagsTest, LongHelpIsWrapped) {
  Flags flags("p", std::string(30, 'a') + " " + std::string(60, 'b') + " " + std::string(30, 'c'));
  EXPECT_THAT(flags.Help(), StartsWith(std::string(30, 'a') + " " + std::string(60, 'b') + "\n" +
                                       std::string(30, 'c') + "\n"));
}

TEST_F(FlagsTest, VersionIsPrinted) {
  EXPECT_THAT(Read({"--version"}).out, StartsWith("koord-scheduler v"));
  Flags flags("p", "");
  EXPECT_THAT(flags.Read({"--version=raw"}).out, StartsWith("v"));
  EXPECT_TRUE(Flags("p", "").Read({"--version=false"}).run);
}

}  // namespace
}  // namespace koord::program::flags_test
