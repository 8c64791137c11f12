#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/virtual_loop.h"
#include "koordlet/informers/pod_book.h"
#include "koordlet/qos/eviction/api_evictor.h"
#include "koordlet/qos/eviction/runtime_evictor.h"
#include "koordlet/testing/test_pod.h"
#include "kube/transport/in_process_transport.h"
#include "kube/transport/scripted_handler.h"

namespace koord::koordlet::evictor_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::string_view kMessage = "trigger by koordlet feature BEMemoryEvict, kill pod: p";

class FakeAuditor final : public Auditor {
 public:
  void Log(AuditEvent event) override { events.push_back(std::move(event)); }
  std::vector<AuditEvent> events;
};

class FakeEvents final : public kube::EventRecorder {
 public:
  void Record(const Note& note) override {
    notes.push_back(note.regarding.name + " " + note.type + " " + note.reason + ": " +
                    note.message);
  }
  std::vector<std::string> notes;
};

class EvictorTest : public ::testing::Test {
 protected:
  VirtualLoop loop_;
  metrics::Registry registry_;
  FakeAuditor auditor_;
  EvictionRecord record_{loop_, registry_, &auditor_, "n1"};
  NodePod pod_ = MakeNodePod(TestPod(R"(
metadata: {name: p, namespace: ns, uid: u1}
spec: {containers: [{name: a}, {name: b}, {name: c}]}
)"),
                             CgroupLayout{});
};

class ApiEvictorTest : public EvictorTest {
 protected:
  PodEvictor::Result Evict() { return evictor_.Evict(pod_, "evicted", kMessage); }
  kube::ScriptedHandler::Exchange Next() {
    loop_.RunReady();
    return handler_.Take();
  }

  kube::ScriptedHandler handler_;
  kube::Client client_{
      loop_, std::make_shared<kube::InProcessTransport>(loop_, handler_), {.qps = 0}};
  FakeEvents events_;
  ApiEvictor evictor_{client_, events_, record_};
};

TEST_F(ApiEvictorTest, PostsAnEvictionOfThisVeryPod) {
  const auto result = Evict();
  EXPECT_TRUE(result.ok && result.is_new);
  auto exchange = Next();
  EXPECT_EQ(exchange.request.method, "POST");
  EXPECT_THAT(exchange.request.target, HasSubstr("/api/v1/namespaces/ns/pods/p/eviction"));
  const kube::Json body = *kube::ParseJson(exchange.request.body);
  EXPECT_EQ(kube::FindString(body, {"apiVersion"}), "policy/v1");
  EXPECT_EQ(kube::FindString(body, {"kind"}), "Eviction");
  EXPECT_EQ(kube::FindString(body, {"deleteOptions", "preconditions", "uid"}), "u1");
  EXPECT_THAT(events_.notes, IsEmpty());

  exchange.Answer(201, "{}");
  loop_.RunReady();
  EXPECT_THAT(events_.notes,
              ElementsAre("p Warning evictPodSuccess: evict Pod:ns/p, reason: evicted, message: "
                          "trigger by koordlet feature BEMemoryEvict, kill pod: p"));
  ASSERT_EQ(auditor_.events.size(), 1u);
  EXPECT_EQ(auditor_.events[0].reason, "evicted");
  EXPECT_EQ(auditor_.events[0].level, 0);
  EXPECT_THAT(registry_.Text(),
              HasSubstr(R"(koordlet_pod_eviction{node="n1",reason="evicted"} 1)"));
}

TEST_F(ApiEvictorTest, WhoIsLeavingIsNotAskedAgainForTwoMinutes) {
  Evict();
  Next().Answer(201, "{}");
  loop_.RunReady();
  loop_.Advance(119s);
  EXPECT_TRUE(Evict().ok);
  EXPECT_FALSE(Evict().is_new);
  EXPECT_EQ(handler_.waiting(), 0u);
  loop_.Advance(1s);
  EXPECT_TRUE(Evict().is_new);
}

TEST_F(ApiEvictorTest, ARefusalLetsOthersGoFirst) {
  Evict();
  EXPECT_FALSE(evictor_.WasRefused("u1"));
  Next().Fail(kube::ApiError::Of(403, "not you"));
  loop_.RunReady();
  EXPECT_TRUE(evictor_.WasRefused("u1"));
  EXPECT_FALSE(Evict().ok);
  EXPECT_THAT(events_.notes, ElementsAre(AllOf(HasSubstr("evictPodFail: evict Pod:ns/p"),
                                               HasSubstr("kill pod: p, error not you"))));
  EXPECT_THAT(registry_.Text(), Not(HasSubstr("koordlet_pod_eviction{")));
  loop_.Advance(10s);
  EXPECT_TRUE(Evict().is_new) << "it is asked again after a while";
}

TEST_F(ApiEvictorTest, ASlowServerLetsOthersGoFirst) {
  Evict();
  loop_.Advance(4s);
  EXPECT_TRUE(Evict().ok);
  EXPECT_FALSE(evictor_.WasRefused("u1"));
  loop_.Advance(1s);
  EXPECT_FALSE(Evict().ok);
  EXPECT_TRUE(evictor_.WasRefused("u1"));
  EXPECT_EQ(handler_.waiting(), 1u) << "the same pod is not asked for twice";
}

TEST_F(ApiEvictorTest, APodThatIsGoneNeedsNoEviction) {
  Evict();
  Next().Fail(kube::ApiError::Of(404, "no such pod"));
  loop_.RunReady();
  EXPECT_TRUE(Evict().ok);
  EXPECT_THAT(events_.notes, IsEmpty());
}

TEST_F(ApiEvictorTest, APodThatChangedWhileItWasAskedForIsAskedForAgain) {
  Evict();
  Next().Fail(kube::ApiError::Of(409, "the object has been modified"));
  loop_.RunReady();
  EXPECT_TRUE(evictor_.WasRefused("u1"));
  loop_.Advance(10s);
  EXPECT_TRUE(Evict().is_new);
}

TEST_F(ApiEvictorTest, DetailsAreShownForFiveMinutes) {
  Evict();
  Next().Answer(201, "{}");
  loop_.RunReady();
  const std::string line =
      R"(koordlet_pod_eviction_detail{node="n1",pod_name="p",pod_namespace="ns",reason="evicted"} 1)";
  loop_.Advance(299s);
  EXPECT_THAT(registry_.Text(), HasSubstr(line));
  loop_.Advance(1s);
  EXPECT_THAT(registry_.Text(), Not(HasSubstr("koordlet_pod_eviction_detail{")));
}

class FakeStopper final : public ContainerStopper {
 public:
  void Stop(std::string_view id, Duration grace, Done) override {
    EXPECT_EQ(grace, 0s);
    stopped.emplace_back(id);
  }
  std::vector<std::string> stopped;
};

TEST_F(EvictorTest, TheRuntimeKillsAllContainers) {
  FakeStopper stopper;
  RuntimeEvictor evictor(stopper, record_);
  const auto result = evictor.Evict(pod_, "evicted", kMessage);
  EXPECT_TRUE(result.ok && result.is_new);
  EXPECT_THAT(stopper.stopped,
              ElementsAre("containerd://p-a", "containerd://p-b", "containerd://p-c"));
  EXPECT_EQ(auditor_.events.size(), 1u);
}

TEST_F(EvictorTest, AContainerThatDoesNotRunEndsTheKilling) {
  FakeStopper stopper;
  RuntimeEvictor evictor(stopper, record_);
  pod_.containers[1].is_running = false;
  EXPECT_TRUE(evictor.Evict(pod_, "evicted", kMessage).ok);
  EXPECT_THAT(stopper.stopped, ElementsAre("containerd://p-a"));
}

}  // namespace
}  // namespace koord::koordlet::evictor_test
