#include "program/router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program/ask_testing.h"

namespace koord::program::router_test {
namespace {

using ::testing::ElementsAre;

class RouterTest : public ::testing::Test {
 protected:
  RouterTest() {
    for (const char* pattern : {"/", "/nodes", "/nodes/{node}", "/nodes/special",
                                "/nodes/{node}/pods/{pod}", "/files/{path...}", "/files/readme"}) {
      router_.AddRoute("GET", pattern, [pattern](const RouteRequest& request) {
        std::string text = pattern;
        for (const auto& [name, value] : request.params) text += " " + name + "=" + value;
        return TextResponse(200, text);
      });
    }
  }
  std::string Get(std::string target) { return Ask(router_, "GET", std::move(target)).body; }

  Router router_;
};

TEST_F(RouterTest, FindsTheMostTellingPattern) {
  EXPECT_EQ(Get("/"), "/");
  EXPECT_EQ(Get("/nodes"), "/nodes");
  EXPECT_EQ(Get("/nodes/"), "/nodes");
  EXPECT_EQ(Get("/nodes/n1"), "/nodes/{node} node=n1");
  EXPECT_EQ(Get("/nodes/special"), "/nodes/special");
  EXPECT_EQ(Get("/nodes/n%2F1/pods/a%20b?x=y"), "/nodes/{node}/pods/{pod} node=n/1 pod=a b");
  EXPECT_EQ(Get("/files/a/b/c"), "/files/{path...} path=a/b/c");
  EXPECT_EQ(Get("/files"), "/files/{path...} path=");
  EXPECT_EQ(Get("/files/readme"), "/files/readme");
}

TEST_F(RouterTest, WhatIsNotThereIsSaid) {
  EXPECT_EQ(Ask(router_, "GET", "/none").status, 404);
  EXPECT_EQ(Ask(router_, "GET", "/nodes/a/b").status, 404);
  EXPECT_EQ(Get("/none"), "404 page not found\n");
  EXPECT_EQ(Ask(router_, "POST", "/nodes").status, 405);
  EXPECT_EQ(Ask(router_, "HEAD", "/nodes").status, 200);
  EXPECT_EQ(Ask(router_, "GET", "*").status, 400);
  EXPECT_EQ(Ask(router_, "GET", "/%zz").status, 400);
}

TEST_F(RouterTest, QueriesAreDecoded) {
  router_.AddRoute("", "/q", [](const RouteRequest& request) {
    return TextResponse(200, std::string(request.Query("a")) +
                                 (request.HasQuery("verbose") ? " verbose" : "") +
                                 (request.HasQuery("none") ? " none" : "") + request.path);
  });
  EXPECT_EQ(Get("/q?a=1%202&verbose"), "1 2 verbose/q");
  EXPECT_EQ(Ask(router_, "DELETE", "/q?a=x").body, "x/q");
}

TEST_F(RouterTest, AnswersMayComeLater) {
  std::shared_ptr<kube::ResponseWriter> kept;
  router_.AddRoute("PUT", "/later/{x}",
                   [&](RouteRequest, std::shared_ptr<kube::ResponseWriter> response) {
                     kept = std::move(response);
                   });
  const auto recorder = std::make_shared<Recorder>();
  router_.Handle({.method = "PUT", .target = "/later/1"}, recorder);
  EXPECT_FALSE(recorder->answer);
  kept->Finish(JsonResponse(201, {{"a", 1}}));
  EXPECT_EQ(recorder->answer->body, R"({"a":1})");
  EXPECT_EQ(recorder->answer->headers.Get("Content-Type"), "application/json");
}

TEST_F(RouterTest, ListsItsPatterns) {
  router_.AddRoute("PUT", "/nodes", [](const RouteRequest&) { return TextResponse(200, ""); });
  const auto patterns = router_.Patterns();
  EXPECT_THAT(patterns.at("PUT"), ElementsAre("/nodes"));
  EXPECT_THAT(patterns.at("GET"),
              ElementsAre("/", "/files/readme", "/files/{path...}", "/nodes", "/nodes/special",
                          "/nodes/{node}", "/nodes/{node}/pods/{pod}"));
}

}  // namespace
}  // namespace koord::program::router_test
