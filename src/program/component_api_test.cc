#include "program/component_api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/log.h"
#include "base/version.h"
#include "program/ask_testing.h"

namespace koord::program::component_api_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ComponentApiTest, HealthIsOkUntilACheckFails) {
  ComponentApi api;
  Status leader = absl::OkStatus();
  api.healthz().Add("leaderElection", [&] { return leader; });
  EXPECT_EQ(Ask(api, "GET", "/healthz").status, 200);
  EXPECT_EQ(Ask(api, "GET", "/healthz").body, "ok");
  EXPECT_EQ(Ask(api, "GET", "/healthz?verbose").body,
            "[+]ping ok\n[+]leaderElection ok\nhealthz check passed\n");
  EXPECT_EQ(Ask(api, "GET", "/healthz/leaderElection").body, "ok");

  leader = FailedPrecondition("failed election to renew leadership on lease x");
  EXPECT_EQ(Ask(api, "GET", "/healthz").status, 500);
  EXPECT_EQ(Ask(api, "GET", "/healthz").body,
            "[+]ping ok\n[-]leaderElection failed: reason withheld\nhealthz check failed\n");
  EXPECT_EQ(Ask(api, "GET", "/healthz/ping").status, 200);
  EXPECT_EQ(Ask(api, "GET", "/healthz/leaderElection").status, 500);
  EXPECT_EQ(Ask(api, "GET", "/healthz/leaderElection").body,
            "internal server error: failed election to renew leadership on lease x\n");
  EXPECT_EQ(Ask(api, "GET", "/livez").status, 200) << "other endpoints have their own checks";
  EXPECT_EQ(Ask(api, "GET", "/healthz/none").status, 404);
}

TEST(ComponentApiTest, TellsWhatUsersDoNotGet) {
  ComponentApi api;
  EXPECT_EQ(Ask(api, "GET", "/apis/v1/explain/settings").body, R"({"problems":[]})");
  api.AddSettingProblems({"flag --a has no effect"});
  api.AddSettingProblems({"plugin B is not built in", "C"});
  EXPECT_EQ(Ask(api, "GET", "/apis/v1/explain/settings").body,
            R"({"problems":["flag --a has no effect","plugin B is not built in","C"]})");
  std::vector<std::string> present = {"D is not installed"};
  api.ShowSettingProblems([&] { return present; });
  EXPECT_EQ(Ask(api, "GET", "/apis/v1/explain/settings").body,
            R"({"problems":["flag --a has no effect","plugin B is not built in","C",)"
            R"("D is not installed"]})");
  present.clear();
  EXPECT_EQ(Ask(api, "GET", "/apis/v1/explain/settings").body,
            R"({"problems":["flag --a has no effect","plugin B is not built in","C"]})");
}

TEST(ComponentApiTest, ChecksMayBeLeftOut) {
  ComponentApi api;
  api.AddHealthCheck("informer-sync", [] { return Unavailable("not yet"); });
  for (const char* path : {"/healthz", "/livez", "/readyz"}) {
    EXPECT_EQ(Ask(api, "GET", path).status, 500) << path;
  }
  const auto answer = Ask(api, "GET", "/readyz?verbose&exclude=informer-sync&exclude=x");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body,
            "[+]ping ok\n[+]informer-sync excluded: ok\n"
            "warn: some health checks cannot be excluded: no matches for \"x\"\n"
            "readyz check passed\n");
}

TEST(ComponentApiTest, HealthIsCounted) {
  ComponentApi api;
  bool fine = true;
  api.readyz().Add("sync", [&] { return fine ? absl::OkStatus() : Unavailable("no"); });
  Ask(api, "GET", "/readyz");
  fine = false;
  Ask(api, "GET", "/readyz");
  const auto answer = Ask(api, "GET", "/metrics/slis");
  EXPECT_EQ(answer.headers.Get("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_THAT(answer.body, HasSubstr(R"(kubernetes_healthcheck{name="sync",type="readyz"} 0)"));
  EXPECT_THAT(
      answer.body,
      HasSubstr(R"(kubernetes_healthchecks_total{name="sync",status="success",type="readyz"} 1)"));
  EXPECT_THAT(
      answer.body,
      HasSubstr(R"(kubernetes_healthchecks_total{name="sync",status="error",type="readyz"} 1)"));
  EXPECT_THAT(answer.body, HasSubstr(R"(kubernetes_healthcheck{name="ping",type="readyz"} 1)"));
}

TEST(ComponentApiTest, MetricsOfTheProcessAndOfTheComponent) {
  ComponentApi api;
  api.metrics().AddCounter("scheduler_things_total", "Things.").Increment(3);
  const std::string text = Ask(api, "GET", "/metrics").body;
  EXPECT_THAT(text, HasSubstr("\nscheduler_things_total 3\n"));
  EXPECT_THAT(text, HasSubstr("\nprocess_resident_memory_bytes "));
  EXPECT_THAT(text, HasSubstr("kubernetes_build_info{git_version=\""));
  EXPECT_THAT(text, Not(HasSubstr("kubernetes_healthcheck")));
}

TEST(ComponentApiTest, ShowsConfigurationAndVersion) {
  ComponentApi api;
  int parallelism = 16;
  api.ShowConfig("componentconfig", [&] { return kube::Json{{"parallelism", parallelism}}; });
  parallelism = 4;
  EXPECT_EQ(Ask(api, "GET", "/configz").body, R"({"componentconfig":{"parallelism":4}})");
  EXPECT_THAT(Ask(api, "GET", "/version").body,
              HasSubstr(std::string("\"gitVersion\":\"") + kVersion));
}

TEST(ComponentApiTest, DebugFlags) {
  ComponentApi api;
  api.AddDebugFlag("s", [](std::string_view value) -> StatusOr<std::string> {
    if (value == "x") return InvalidArgument("failed set debugTopNScores x: not a number");
    return "successfully set debugTopNScores to " + std::string(value);
  });
  const struct {
    std::string method, target, body;
    int status;
    std::string answer;
  } kCases[] = {
      {"PUT", "/debug/flags/v", "4", 200, "successfully set klog.logging.verbosity to 4\n"},
      {"PUT", "/debug/flags/v", "x", 400,
       "failed set klog.logging.verbosity x: must be a number from 0 to 100\n"},
      {"PUT", "/debug/flags/s", "3\n", 200, "successfully set debugTopNScores to 3\n"},
      {"PUT", "/debug/flags/s", "x", 400, "failed set debugTopNScores x: not a number\n"},
      {"GET", "/debug/flags/s", "", 406, "unsupported http method\n"},
      {"POST", "/debug/flags/v", "4", 406, "unsupported http method\n"},
      {"PUT", "/debug/flags/none", "4", 404, "404 page not found\n"},
  };
  for (const auto& test : kCases) {
    const auto answer = Ask(api, test.method, test.target, test.body);
    EXPECT_EQ(answer.status, test.status) << test.method << " " << test.target;
    EXPECT_EQ(answer.body, test.answer);
    EXPECT_EQ(answer.headers.Get("Content-Type"), "text/plain; charset=utf-8");
  }
  EXPECT_TRUE(log::Enabled(4));
  Ask(api, "PUT", "/debug/flags/v", "0");
  EXPECT_FALSE(log::Enabled(1));
  EXPECT_THAT(Ask(api, "GET", "/debug/flags").body, HasSubstr(">s</a>"));
}

TEST(ComponentApiTest, WithoutProfilingThereIsNoDebugging) {
  ComponentApi api(false);
  EXPECT_EQ(Ask(api, "PUT", "/debug/flags/v", "4").status, 404);
  EXPECT_EQ(Ask(api, "GET", "/healthz").status, 200);
}

TEST(ComponentApiTest, AComponentAddsItsOwn) {
  ComponentApi api;
  api.AddRoute("GET", "/apis/v1/nodes/{node}", [](const RouteRequest& request) {
    return JsonResponse(404,
                        {{"message", "cannot find node " + std::string(request.Param("node"))}});
  });
  const auto answer = Ask(api, "GET", "/apis/v1/nodes/n1");
  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.body, R"({"message":"cannot find node n1"})");
}

}  // namespace
}  // namespace koord::program::component_api_test
