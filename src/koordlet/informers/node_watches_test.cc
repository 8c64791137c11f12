#include "koordlet/informers/node_watches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/virtual_loop.h"
#include "koordlet/informers/kept_pod.h"
#include "koordlet/informers/pod_list.h"
#include "kube/transport/in_process_transport.h"

namespace koord::koordlet::node_watches_test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kUsed[] = "koordinator.sh/cpuBurst";

// Answers lists from what it holds; watches stay open and are told nothing.
class ApiServer final : public kube::HttpHandler {
 public:
  void Handle(kube::HttpRequest request, std::shared_ptr<kube::ResponseWriter> response) override {
    requests.push_back(request.target);
    const bool is_watch = request.target.find("watch=") != std::string::npos;
    if (is_watch && request.target.find("sendInitialEvents=true") != std::string::npos) {
      response->Finish({422, {}, ""});  // an old server
      return;
    }
    if (is_watch) {
      response->StartStream({200, {}, ""});
      open.push_back(std::move(response));
      return;
    }
    const bool is_pods = request.target.find("/pods") != std::string::npos;
    const bool is_nodes = request.target.find("/nodes?") != std::string::npos;
    kube::json::array items;
    if (is_nodes) {
      items.push_back(kube::Json{{"metadata", {{"name", "n"}, {"resourceVersion", "5"}}}});
    }
    if (is_pods) {
      items.push_back(kube::Json{{"metadata",
                                  {{"name", "a"},
                                   {"namespace", "x"},
                                   {"resourceVersion", "4"},
                                   {"annotations", {{"note", "x"}, {kUsed, "{}"}}}}},
                                 {"spec", {{"nodeName", "n"}}}});
      for (int i = 0; i < more_pods; ++i) {
        items.push_back(kube::Json{
            {"metadata",
             {{"name", "b" + std::to_string(i)}, {"namespace", "x"}, {"resourceVersion", "4"}}},
            {"spec", {{"nodeName", "n"}}}});
      }
      items.push_back(kube::Json{
          {"metadata", {{"name", "ended"}, {"namespace", "x"}, {"resourceVersion", "5"}}},
          {"spec", {{"nodeName", "n"}}},
          {"status", {{"phase", "Succeeded"}}}});
    }
    const kube::Json list{{"metadata", {{"resourceVersion", "9"}}}, {"items", std::move(items)}};
    response->Finish({200, {}, kube::Serialize(list)});
  }
  int more_pods = 0;
  std::vector<std::string> requests;
  std::vector<std::shared_ptr<kube::ResponseWriter>> open;
};

TEST(NodeWatches, AsksForItsOwnNodeAlone) {
  VirtualLoop loop;
  ApiServer server;
  kube::Client client(loop, std::make_shared<kube::InProcessTransport>(loop, server), {});
  std::vector<std::string> heard;
  NodeWatches::Listeners listeners;
  listeners.node = [&](const auto& node) {
    heard.push_back("node " + (node ? node->metadata.name : "none"));
  };
  listeners.slo = [&](const auto& slo) { heard.push_back(slo ? "slo" : "no slo"); };
  listeners.pods = [&](const auto& pods) {
    heard.push_back("pods " + std::to_string(pods.size()));
    for (const auto& pod : pods) {
      EXPECT_THAT(pod->metadata.annotations, ElementsAre(testing::Pair(kUsed, "{}")));
    }
  };
  NodeWatches watches(client, "n", std::move(listeners), 1);
  EXPECT_FALSE(watches.synced());
  watches.Start();
  ASSERT_TRUE(loop.RunUntil([&] { return heard.size() == 3; }, 1min));
  EXPECT_THAT(heard, testing::UnorderedElementsAre("node n", "no slo", "pods 1"));
  EXPECT_TRUE(watches.synced());
  for (const std::string& request : server.requests) {
    EXPECT_THAT(request, HasSubstr("fieldSelector=")) << "or it would be the whole cluster";
  }
  EXPECT_THAT(server.requests, Contains(AllOf(HasSubstr("/pods"), HasSubstr("spec.nodeName"))));
  EXPECT_THAT(server.requests, Contains(AllOf(HasSubstr("/nodes"), HasSubstr("metadata.name"))));
  watches.Stop();
}

// Whoever may create pods may write the node's name into any number of them.
TEST(NodeWatches, OfAFloodOfPodsAsManyAreToldAsAKubeletRuns) {
  VirtualLoop loop;
  ApiServer server;
  server.more_pods = 5000;
  kube::Client client(loop, std::make_shared<kube::InProcessTransport>(loop, server), {});
  size_t heard = 0;
  NodeWatches::Listeners listeners;
  listeners.pods = [&](const auto& pods) { heard = pods.size(); };
  NodeWatches watches(client, "n", std::move(listeners), 1);
  watches.Start();
  ASSERT_TRUE(loop.RunUntil([&] { return heard != 0; }, 1min));
  EXPECT_EQ(heard, PodListReader::kMaxPods);
  watches.Stop();
}

TEST(KeptPod, OfOneThatHasEndedOnlyThatIsKept) {
  kube::Json object{
      {"metadata",
       {{"name", "a"},
        {"namespace", "x"},
        {"uid", "u"},
        {"resourceVersion", "4"},
        {"labels", {{"koordinator.sh/qosClass", "LS"}}},
        {"annotations", {{"note", "x"}, {kUsed, "{}"}}}}},
      {"spec", {{"nodeName", "n"}, {"containers", kube::json::array{{{"name", "c"}}}}}},
      {"status", {{"phase", "Running"}}}};
  const auto running = kube::Decode<KeptPod>(object);
  ASSERT_TRUE(running.ok()) << Message(running.status());
  EXPECT_THAT(running->metadata.annotations, ElementsAre(testing::Pair(kUsed, "{}")));
  EXPECT_EQ(running->spec.containers.size(), 1u);
  kube::At(object, {"status", "phase"}) = "Failed";
  const auto ended = kube::Decode<KeptPod>(object);
  ASSERT_TRUE(ended.ok()) << Message(ended.status());
  const kube::Json expected{
      {"metadata", {{"name", "a"}, {"namespace", "x"}, {"uid", "u"}, {"resourceVersion", "4"}}},
      {"status", {{"phase", "Failed"}}}};
  EXPECT_EQ(static_cast<const kube::Pod&>(*ended), *kube::Decode<kube::Pod>(expected));
}

}  // namespace
}  // namespace koord::koordlet::node_watches_test
