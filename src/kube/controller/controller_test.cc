#include "kube/controller/controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/virtual_loop.h"
#include "kube/api_error.h"
#include "kube/controller/object_server_testing.h"
#include "kube/objects/pod.h"
#include "kube/resources.h"
#include "kube/transport/in_process_transport.h"

namespace koord::kube::controller_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kCollection[] = "/api/v1/pods";
constexpr char kPatchOfA[] = "PATCH /api/v1/namespaces/ns/pods/a";

struct Events final : EventRecorder {
  void Record(const Note& note) override { reasons.push_back(note.reason); }
  std::vector<std::string> reasons;
};

// Gives every pod a label, as often as it is asked to.
class Labeller final : public Controller {
 public:
  Labeller(const ControllerParts& parts, ControllerOptions options, Informer<Pod>& pods)
      : Controller("labeller", parts, options), pods_(pods) {
    Watch(pods_, [this](const auto&, const auto& after) {
      if (after != nullptr) Enqueue(KeyText(after->metadata));
    });
  }
  using Controller::Enqueue;

  std::function<void(Plan&, const Pod&)> decide = [](Plan&, const Pod&) {};
  std::vector<std::string> decided, log;
  std::function<void()> ready;  // where decisions have to be prepared
  bool prepares = false;

 private:
  Plan Decide(const std::string& key) override {
    decided.push_back(key);
    Plan plan;
    if (const auto pod = pods_.Get(ParseKey(key))) decide(plan, *pod);
    return plan;
  }
  void Prepare(const std::string&, std::function<void()> then) override {
    if (!prepares) return then();
    ready = std::move(then);
  }
  void OnWritten(const std::string& key, const Write&, const Json& answer) override {
    log.push_back((answer.is_null() ? "moot " : "wrote ") + key);
  }
  void OnRefused(const std::string& key, const Write&, const Status&) override {
    log.push_back("refused " + key);
  }
  void OnDone(const std::string& key) override { log.push_back("done " + key); }
  std::vector<std::string> AllKeys() const override {
    std::vector<std::string> keys;
    for (const auto& pod : pods_.List()) keys.push_back(KeyText(pod->metadata));
    return keys;
  }

  Informer<Pod>& pods_;
};

Write Label(const Pod& pod, std::string_view value) {
  return MergePatch(kPods, pod.metadata, {{"metadata", {{"labels", {{"seen", value}}}}}});
}

class ControllerTest : public testing::Test {
 protected:
  void SetUp() override {
    PutPod("a");
    PutPod("b");
  }
  void PutPod(std::string_view name) {
    server_.Put(kCollection, {{"metadata", {{"name", name}, {"namespace", "ns"}}}});
  }
  Labeller& Make(ControllerOptions options = {}) {
    controller_ =
        std::make_unique<Labeller>(ControllerParts{client_, informers_, events_}, options, pods_);
    return *controller_;
  }
  void StartInformers() {
    informers_.Start();
    loop_.RunReady();
    ASSERT_TRUE(informers_.synced());
  }
  auto Writes() {
    return std::ranges::count_if(server_.requests,
                                 [](const std::string& r) { return r.starts_with("PATCH"); });
  }

  VirtualLoop loop_;
  ObjectServer server_;
  Client client_{loop_, std::make_shared<InProcessTransport>(loop_, server_), {.qps = 0}};
  InformerSet informers_{client_};
  Informer<Pod>& pods_ = informers_.Use<Pod>(kPods);
  Events events_;
  std::unique_ptr<Labeller> controller_;
};

TEST_F(ControllerTest, DecidesNothingBeforeAllIsKnown) {
  Labeller& controller = Make();
  controller.Enqueue("ns/early");
  loop_.Advance(1min);
  EXPECT_THAT(controller.decided, IsEmpty());
  StartInformers();
  EXPECT_THAT(controller.decided, ElementsAre("ns/early", "ns/a", "ns/b"));
}

TEST_F(ControllerTest, AwaitsItsOwnWrites) {
  Labeller& controller = Make();
  StartInformers();
  controller.decided.clear();
  controller.decide = [](Plan& plan, const Pod& pod) {
    if (pod.metadata.labels.empty()) plan.Add(Label(pod, "once"));
  };
  server_.HoldWatches();
  controller.Enqueue("ns/a");
  loop_.RunReady();
  EXPECT_EQ(Writes(), 1);
  for (int i = 0; i < 3; ++i) {
    controller.Enqueue("ns/a");
    loop_.Advance(1s);
  }
  EXPECT_EQ(Writes(), 1) << "its copy does not show the label yet";
  EXPECT_THAT(controller.decided, ElementsAre("ns/a"));
  server_.ReleaseWatches();
  loop_.RunReady();
  EXPECT_THAT(controller.decided, ElementsAre("ns/a", "ns/a")) << "what shows the write wakes it";
  EXPECT_EQ(Writes(), 1);
}

TEST_F(ControllerTest, DoesNotAwaitForEverWhatNeverShows) {
  Labeller& controller = Make();
  StartInformers();
  controller.decide = [](Plan& plan, const Pod& pod) { plan.Add(Label(pod, "x")); };
  server_.HoldWatches();
  controller.Enqueue("ns/a");
  loop_.RunReady();
  controller.decided.clear();
  controller.Enqueue("ns/a");
  loop_.Advance(OwnWrites::kPatience - 1s);
  EXPECT_THAT(controller.decided, IsEmpty());
  loop_.Advance(2s);
  EXPECT_THAT(controller.decided, ElementsAre("ns/a"));
}

TEST_F(ControllerTest, ActsOnlyFromStartToStop) {
  Labeller& controller = Make({.by_leadership = true});
  StartInformers();
  controller.Enqueue("ns/a");
  PutPod("c");
  loop_.Advance(1min);
  EXPECT_THAT(controller.decided, IsEmpty()) << "it was not started";

  controller.Start();
  loop_.RunReady();
  EXPECT_THAT(controller.decided, ElementsAre("ns/a", "ns/b", "ns/c")) << "all that there is";

  controller.decided.clear();
  controller.decide = [](Plan& plan, const Pod&) { plan.AgainWithin(1s); };
  controller.Enqueue("ns/a");
  loop_.RunReady();
  controller.decided.clear();
  controller.Stop();
  controller.Enqueue("ns/b");
  PutPod("d");
  loop_.Advance(1min);
  EXPECT_THAT(controller.decided, IsEmpty()) << "neither what changed nor what was due";
  EXPECT_TRUE(controller.idle());

  controller.decide = [](Plan&, const Pod&) {};
  controller.Start();
  loop_.RunReady();
  EXPECT_THAT(controller.decided, ElementsAre("ns/a", "ns/b", "ns/c", "ns/d"));
}

TEST_F(ControllerTest, StartedEarlyItWaitsForAllToBeKnown) {
  Labeller& controller = Make({.by_leadership = true});
  controller.Start();
  controller.Stop();
  controller.Start();
  StartInformers();
  EXPECT_THAT(controller.decided, ElementsAre("ns/a", "ns/b"));
}

TEST_F(ControllerTest, StoppedBeforeAllIsKnownItDoesNothing) {
  Labeller& controller = Make({.by_leadership = true});
  controller.Start();
  controller.Enqueue("ns/a");
  controller.Stop();
  StartInformers();
  EXPECT_THAT(controller.decided, IsEmpty());
}

TEST_F(ControllerTest, WhatIsPreparedWhenItStopsIsNotDecided) {
  Labeller& controller = Make({.concurrency = 1, .by_leadership = true});
  controller.prepares = true;
  StartInformers();
  controller.Start();
  loop_.RunReady();
  EXPECT_THAT(controller.decided, IsEmpty());
  controller.ready();
  EXPECT_THAT(controller.decided, ElementsAre("ns/a"));
  loop_.RunReady();
  controller.Stop();
  EXPECT_FALSE(controller.idle());
  controller.ready();
  loop_.RunReady();
  EXPECT_THAT(controller.decided, ElementsAre("ns/a"));
  EXPECT_TRUE(controller.idle());
}

TEST_F(ControllerTest, TellsWhatBecameOfWrites) {
  Labeller& controller = Make({.by_leadership = true});
  StartInformers();
  controller.decide = [](Plan& plan, const Pod& pod) {
    if (!pod.metadata.labels.empty()) return;
    plan.Add(Label(pod, "x"));
    plan.Tell(kPods, pod.metadata, "Labelled", "it has its label");
  };
  server_.refuse = [](const std::string& request) -> std::optional<ApiError> {
    if (request == kPatchOfA) return ApiError::Of(403, "not you");
    if (request.ends_with("/b")) return ApiError::Of(404, "gone");
    return std::nullopt;
  };
  controller.Start();
  loop_.RunReady();
  EXPECT_THAT(controller.log, ElementsAre("refused ns/a", "moot ns/b", "done ns/b"));
  EXPECT_THAT(events_.reasons, ElementsAre("Labelled"));
  server_.refuse = nullptr;
  controller.log.clear();
  loop_.Advance(10ms);
  EXPECT_THAT(controller.log.front(), "wrote ns/a") << "tried again after a short pause";
}

TEST_F(ControllerTest, ComesBackAfterAFailureWhenThePlanSays) {
  Labeller& controller = Make({.by_leadership = true});
  StartInformers();
  controller.decide = [](Plan& plan, const Pod& pod) {
    if (pod.metadata.name != "a") return;
    plan.Add(Label(pod, "x"));
    plan.retry = 2s;
  };
  server_.refuse = [](const std::string& request) -> std::optional<ApiError> {
    if (request == kPatchOfA) return ApiError::Of(403, "not you");
    return std::nullopt;
  };
  controller.Start();
  loop_.RunReady();
  EXPECT_EQ(Writes(), 1);
  loop_.Advance(1900ms);
  EXPECT_EQ(Writes(), 1);
  loop_.Advance(200ms);
  EXPECT_EQ(Writes(), 2);
}

TEST_F(ControllerTest, ComesBackToWhatItCouldNotDecide) {
  Labeller& controller = Make({.by_leadership = true});
  StartInformers();
  controller.decide = [](Plan& plan, const Pod& pod) { plan.undecided = pod.metadata.name == "a"; };
  controller.Start();
  loop_.Advance(20ms);
  EXPECT_GE(std::ranges::count(controller.decided, "ns/a"), 3);
  EXPECT_EQ(std::ranges::count(controller.decided, "ns/b"), 1);
  EXPECT_EQ(std::ranges::count(controller.log, "done ns/a"), 0);
}

TEST_F(ControllerTest, ARefusalStopsWhatFollowsUnlessItIsIndependent) {
  for (const bool independent : {false, true}) {
    Labeller& controller = Make({.by_leadership = true});
    if (!informers_.synced()) StartInformers();
    server_.requests.clear();
    controller.decide = [&](Plan& plan, const Pod& pod) {
      if (pod.metadata.name != "a") return;
      Write first = Label(pod, "first");
      first.independent = independent;
      plan.Add(first);
      plan.Add(MergePatch(kPods, pods_.Get({"ns", "b"})->metadata, {{"spec", {{"x", 1}}}}));
      plan.retry = 1h;
    };
    server_.refuse = [](const std::string& request) -> std::optional<ApiError> {
      if (request == kPatchOfA) return ApiError::Of(403, "not you");
      return std::nullopt;
    };
    controller.Start();
    loop_.RunReady();
    EXPECT_EQ(Writes(), independent ? 2 : 1);
    EXPECT_EQ(std::ranges::count(controller.log, "done ns/a"), 0);
  }
}

}  // namespace
}  // namespace koord::kube::controller_test
