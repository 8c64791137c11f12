// What a cold start of koord-manager costs in a large cluster: everything is listed and decoded,
// and every node gets its objects and its resources. The API server is a stub that costs nothing.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/virtual_loop.h"
#include "kube/transport/in_process_transport.h"
#include "manager/program/manager_app.h"

namespace koord::manager {
namespace {

constexpr int kPodsOnANode = 10;

// Lists what it was given, accepts every write and forgets it.
class StubServer final : public kube::HttpHandler {
 public:
  void Serve(const std::string& path, const std::vector<std::string>& items) {
    lists_[path] =
        fmt::format(R"({{"kind":"List","metadata":{{"resourceVersion":"9"}},"items":[{}]}})",
                    fmt::join(items, ","));
  }

  void Handle(kube::HttpRequest request, std::shared_ptr<kube::ResponseWriter> response) override {
    if (request.method != "GET") {
      ++writes;
      return response->Finish({200, {}, R"({"metadata":{"resourceVersion":"10"}})"});
    }
    if (request.target.find("sendInitialEvents=true") != std::string::npos) {
      return response->Finish({400, {}, ""});  // lists instead
    }
    if (request.target.find("watch=") != std::string::npos) {
      response->StartStream({200, {}, ""});
      watches_.push_back(std::move(response));
      return;
    }
    const auto it = lists_.find(request.target.substr(0, request.target.find('?')));
    const std::string none = R"({"kind":"List","metadata":{"resourceVersion":"9"},"items":[]})";
    response->Finish({200, {}, it != lists_.end() ? it->second : none});
  }

  int writes = 0;

 private:
  std::map<std::string, std::string> lists_;
  std::vector<std::shared_ptr<kube::ResponseWriter>> watches_;
};

std::string NodeJson(int i) {
  return fmt::format(
      R"({{"metadata":{{"name":"n{0}","uid":"u{0}","resourceVersion":"1","labels":{{"kubernetes.io/hostname":"n{0}","pool":"a"}}}},)"
      R"("status":{{"capacity":{{"cpu":"64","memory":"256Gi","pods":"110"}},"allocatable":{{"cpu":"63","memory":"250Gi","pods":"110"}}}}}})",
      i);
}

std::string PodJson(int node, int i) {
  return fmt::format(
      R"({{"metadata":{{"name":"p{0}-{1}","namespace":"default","uid":"p{0}-{1}","resourceVersion":"1","labels":{{"koordinator.sh/qosClass":"LS"}}}},)"
      R"("spec":{{"nodeName":"n{0}","priority":9500,"containers":[{{"name":"c","image":"i","resources":{{"requests":{{"cpu":"2","memory":"4Gi"}}}}}}]}},)"
      R"("status":{{"phase":"Running"}}}})",
      node, i);
}

std::string MetricJson(int node) {
  std::vector<std::string> pods;
  for (int i = 0; i < kPodsOnANode; ++i) {
    pods.push_back(fmt::format(
        R"({{"namespace":"default","name":"p{0}-{1}","priority":"koord-prod","podUsage":{{"resources":{{"cpu":"700m","memory":"2Gi"}}}}}})",
        node, i));
  }
  return fmt::format(
      R"({{"metadata":{{"name":"n{0}","uid":"m{0}","resourceVersion":"1"}},"spec":{{}},"status":{{"updateTime":"2026-07-01T00:00:00Z",)"
      R"("nodeMetric":{{"nodeUsage":{{"resources":{{"cpu":"9","memory":"30Gi"}}}},"systemUsage":{{"resources":{{"cpu":"2","memory":"5Gi"}}}}}},)"
      R"("podsMetric":[{1}],"prodReclaimableMetric":{{"resource":{{"resources":{{"cpu":"5","memory":"9Gi"}}}}}}}}}})",
      node, fmt::join(pods, ","));
}

void Fill(StubServer& server, int nodes) {
  std::vector<std::string> node_items, pod_items, metric_items;
  for (int n = 0; n < nodes; ++n) {
    node_items.push_back(NodeJson(n));
    metric_items.push_back(MetricJson(n));
    for (int p = 0; p < kPodsOnANode; ++p) pod_items.push_back(PodJson(n, p));
  }
  server.Serve("/api/v1/nodes", node_items);
  server.Serve("/api/v1/pods", pod_items);
  server.Serve("/apis/slo.koordinator.sh/v1alpha1/nodemetrics", metric_items);
  server.Serve(
      "/api/v1/namespaces/koordinator-system/configmaps",
      {R"({"metadata":{"name":"slo-controller-config","namespace":"koordinator-system","uid":"c","resourceVersion":"1"},)"
       R"("data":{"colocation-config":"{\"enable\":true}"}})"});
}

void BM_ColdStart(benchmark::State& state) {
  const int nodes = static_cast<int>(state.range(0));
  log::SetSink([](std::string_view) {});
  StubServer server;
  Fill(server, nodes);
  for (auto _ : state) {
    server.writes = 0;
    VirtualLoop loop;
    kube::Client client(loop, std::make_shared<kube::InProcessTransport>(loop, server),
                        {.user_agent = "koordinator-manager", .qps = 0});
    ManagerApp app(client, {});
    app.Watch();
    app.Lead();
    loop.Advance(1s);
    if (!app.quiet()) state.SkipWithError("not everything was done");
  }
  // A patch of the node and one of its NodeMetric, and a NodeSLO.
  if (server.writes != 3 * nodes) state.SkipWithError("not every node was written once");
  log::SetSink(nullptr);
}
BENCHMARK(BM_ColdStart)->Arg(500)->Arg(5000)->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
}  // namespace koord::manager
