#include "program/plain_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program/ask_testing.h"
#include "program/component_api.h"

namespace koord::program::plain_view_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class PlainViewTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* path : {"/internal-metrics", "/all-metrics", "/metrics/resources",
                             "/apis/v1/nodes/{node}", "/events"}) {
      api_.AddRoute("GET", path, [](const RouteRequest&) { return TextResponse(200, "all"); });
    }
  }
  kube::HttpResponse Answer(std::string method, std::string target) {
    PlainView view(api_, options_);
    return Ask(view, std::move(method), std::move(target));
  }
  int Status(std::string method, std::string target) {
    return Answer(std::move(method), std::move(target)).status;
  }

  ComponentApi api_;
  PlainViewOptions options_{.metrics = false, .secure_port = 10259};
};

TEST_F(PlainViewTest, EverybodyMayAskForHealthAlone) {
  for (const char* target : {"/healthz", "/livez", "/readyz", "/healthz/ping", "/readyz?verbose"}) {
    EXPECT_EQ(Status("GET", target), 200) << target;
  }
  for (const char* target :
       {"/metrics", "/metrics/slis", "/metrics/resources", "/internal-metrics", "/all-metrics",
        "/configz", "/version", "/debug/flags", "/apis/v1/nodes/n", "/events", "/", "/healthzz",
        "//metrics", "/%6detrics", "/no/such"}) {
    EXPECT_EQ(Status("GET", target), 403) << target;
  }
  EXPECT_EQ(Status("GET", "/healthz/../metrics"), 404) << "a path means what it says";
  EXPECT_EQ(Status("PUT", "/debug/flags/v"), 403);
  EXPECT_EQ(Status("POST", "/healthz"), 403);
}

TEST_F(PlainViewTest, ARefusalSaysWhereToAsk) {
  EXPECT_THAT(Answer("GET", "/metrics").body,
              AllOf(HasSubstr("port 10259"), HasSubstr("--metrics-without-login")));
  EXPECT_THAT(Answer("GET", "/configz").body,
              AllOf(HasSubstr("port 10259"), Not(HasSubstr("--metrics-without-login"))));
  options_.secure_port = 0;
  EXPECT_THAT(Answer("GET", "/configz").body, HasSubstr("--secure-port"));
}

TEST_F(PlainViewTest, MetricsCanBeOpened) {
  options_.metrics = true;
  for (const char* target : {"/metrics", "/metrics/slis", "/metrics/resources", "/internal-metrics",
                             "/all-metrics", "/healthz"}) {
    EXPECT_EQ(Status("GET", target), 200) << target;
  }
  EXPECT_EQ(Status("GET", "/configz"), 403);
  EXPECT_EQ(Status("PUT", "/debug/flags/v"), 403);
}

}  // namespace
}  // namespace koord::program::plain_view_test
