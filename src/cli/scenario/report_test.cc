#include "cli/scenario/report.h"

#include <gmock/gmock.h>

namespace koord::scenario::report_test {
namespace {

using ::testing::HasSubstr;

std::vector<Result> Sample() {
  Result good{"a.yaml", "all is well", 1, {}, std::chrono::milliseconds(3)};
  Result bad{"b.yaml", "a <b> & \"c\"", 7, {}, std::chrono::milliseconds(1500)};
  bad.outcome.kind = Outcome::Kind::kFailed;
  bad.outcome.report = {"then[0] (line 9): Pod default/p is not as expected", "  status.phase"};
  return {good, bad};
}

TEST(Report, PrintsOneLineAScenarioAndTheReasonBelow) {
  EXPECT_EQ(FormatResult(Sample()[0], false), "ok   a.yaml:1 all is well (3 ms)");
  EXPECT_EQ(FormatResult(Sample()[1], false),
            "FAIL b.yaml:7 a <b> & \"c\" (1500 ms)\n"
            "     then[0] (line 9): Pod default/p is not as expected\n"
            "       status.phase");
}

TEST(Report, CountsOutcomes) {
  EXPECT_EQ(FormatSummary(Sample(), std::chrono::milliseconds(1503)),
            "1 passed, 1 failed in 1.5 s");
}

TEST(Report, SaysWhatWasSkippedAndWhy) {
  Result skipped{"a.yaml", "takes a day", 1, {}, {}};
  skipped.outcome = {Outcome::Kind::kSkipped, {"it lets 24h pass"}};
  EXPECT_EQ(FormatResult(skipped, false),
            "SKIP a.yaml:1 takes a day (0 ms)\n     it lets 24h pass");
  EXPECT_EQ(FormatSummary({skipped}, {}), "0 passed, 0 failed, 1 skipped in 0.0 s");
  EXPECT_THAT(FormatJunit({skipped}, {}), HasSubstr("<skipped message=\"it lets 24h pass\">"));
}

TEST(Report, WritesXmlThatCiSystemsRead) {
  const std::string xml = FormatJunit(Sample(), std::chrono::milliseconds(1503));
  EXPECT_THAT(xml,
              HasSubstr("tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\" time=\"1.503\""));
  EXPECT_THAT(xml, HasSubstr("name=\"a &lt;b&gt; &amp; &quot;c&quot;\" time=\"1.500\">"));
  EXPECT_THAT(
      xml, HasSubstr("<failure message=\"then[0] (line 9): Pod default/p is not as expected\">"));
}

}  // namespace
}  // namespace koord::scenario::report_test
