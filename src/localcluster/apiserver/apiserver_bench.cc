#include <benchmark/benchmark.h>

#include "base/virtual_loop.h"
#include "localcluster/apiserver/api_server.h"

// What the server itself costs, without sockets, TLS and disk.
namespace koord::apiserver {
namespace {

class NullWriter final : public kube::ResponseWriter {
 public:
  void Finish(kube::HttpResponse response) override {
    code = response.status;
    bytes += response.body.size();
  }
  void StartStream(kube::HttpResponse) override {}
  void Write(std::shared_ptr<const std::string> chunk) override {
    bytes += chunk->size();
    ++chunks;
  }
  void End() override {}
  size_t pending_chunks() const override { return 0; }
  void OnDisconnect(absl::AnyInvocable<void()>) override {}

  int code = 0;
  size_t bytes = 0;
  size_t chunks = 0;
};

struct Bench {
  Bench() : store(std::move(*Store::Open(loop, {}))), server(loop, *store, {}) { loop.RunReady(); }

  std::shared_ptr<NullWriter> Send(std::string method, std::string target, std::string body = "") {
    kube::HttpRequest request;
    request.method = std::move(method);
    request.target = std::move(target);
    request.body = std::move(body);
    request.headers.Set("User-Agent", "bench/1.0");
    request.user = kube::UserInfo{"admin", "", {"system:masters"}, {}};
    auto writer = std::make_shared<NullWriter>();
    server.Handle(std::move(request), writer);
    return writer;
  }

  VirtualLoop loop;
  std::unique_ptr<Store> store;
  ApiServer server;
};

std::string PodBody(int i) {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"pod-{}","labels":{{"app":"web",)"
      R"("koordinator.sh/qosClass":"LS"}},"annotations":{{"a/b":"c"}}}},"spec":{{"containers":[)"
      R"({{"name":"main","image":"nginx:1.25","ports":[{{"containerPort":80}}],"resources":)"
      R"({{"requests":{{"cpu":"500m","memory":"512Mi"}},"limits":{{"cpu":"1","memory":"1Gi"}}}}}}],)"
      R"("schedulerName":"koord-scheduler"}}}})",
      i);
}

void BM_CreatePod(benchmark::State& state) {
  Bench bench;
  int i = 0;
  for (auto _ : state) {
    const auto answer = bench.Send("POST", "/api/v1/namespaces/default/pods", PodBody(i++));
    if (answer->code != 201) state.SkipWithError("not created");
    bench.loop.RunReady();
  }
}
BENCHMARK(BM_CreatePod)->Unit(benchmark::kMicrosecond);

void BM_BindPod(benchmark::State& state) {
  Bench bench;
  int i = 0;
  for (auto _ : state) {
    state.PauseTiming();
    bench.Send("POST", "/api/v1/namespaces/default/pods", PodBody(i));
    bench.loop.RunReady();
    state.ResumeTiming();
    const auto answer =
        bench.Send("POST", fmt::format("/api/v1/namespaces/default/pods/pod-{}/binding", i++),
                   R"({"target":{"kind":"Node","name":"node-1"}})");
    if (answer->code != 201) state.SkipWithError("not bound");
    bench.loop.RunReady();
  }
}
BENCHMARK(BM_BindPod)->Unit(benchmark::kMicrosecond);

void BM_PatchPodStatus(benchmark::State& state) {
  Bench bench;
  bench.Send("POST", "/api/v1/namespaces/default/pods", PodBody(0));
  int i = 0;
  for (auto _ : state) {
    kube::HttpRequest request;
    request.method = "PATCH";
    request.target = "/api/v1/namespaces/default/pods/pod-0/status";
    request.headers.Set("Content-Type", "application/strategic-merge-patch+json");
    request.headers.Set("User-Agent", "bench/1.0");
    request.body = fmt::format(R"({{"status":{{"message":"{}"}}}})", i++);
    request.user = kube::UserInfo{"admin", "", {"system:masters"}, {}};
    auto writer = std::make_shared<NullWriter>();
    bench.server.Handle(std::move(request), writer);
    if (writer->code != 200) state.SkipWithError("not patched");
    bench.loop.RunReady();
  }
}
BENCHMARK(BM_PatchPodStatus)->Unit(benchmark::kMicrosecond);

std::string NodeBody(int i) {
  std::string images;
  for (int k = 0; k < 20; ++k) {
    images += fmt::format(R"({}{{"names":["registry/img-{}:1"],"sizeBytes":{}}})", k ? "," : "", k,
                          1000000 + k);
  }
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Node","metadata":{{"name":"node-{}","labels":{{"zone":"a",)"
      R"("kubernetes.io/hostname":"node-{}"}}}},"spec":{{}},"status":{{"capacity":{{"cpu":"64",)"
      R"("memory":"256Gi","pods":"110"}},"allocatable":{{"cpu":"63","memory":"250Gi","pods":"110"}},)"
      R"("conditions":[{{"type":"Ready","status":"True","lastHeartbeatTime":"2026-07-01T00:00:00Z",)"
      R"("lastTransitionTime":"2026-07-01T00:00:00Z","reason":"KubeletReady","message":"ok"}}],)"
      R"("images":[{}]}}}})",
      i, i, images);
}

void BM_List5000Nodes(benchmark::State& state) {
  Bench bench;
  for (int i = 0; i < 5000; ++i) bench.Send("POST", "/api/v1/nodes", NodeBody(i));
  bench.loop.RunReady();
  size_t bytes = 0;
  for (auto _ : state) bytes = bench.Send("GET", "/api/v1/nodes")->bytes;
  state.counters["MB"] = static_cast<double>(bytes) / 1e6;
}
BENCHMARK(BM_List5000Nodes)->Unit(benchmark::kMillisecond);

// One write until all watchers have it.
void BM_WatchFanOut100(benchmark::State& state) {
  Bench bench;
  std::vector<std::shared_ptr<NullWriter>> watchers;
  for (int i = 0; i < 100; ++i) {
    watchers.push_back(bench.Send(
        "GET", "/api/v1/pods?watch=1&resourceVersion=" + std::to_string(bench.store->revision())));
  }
  bench.loop.RunReady();
  int i = 0;
  for (auto _ : state) {
    bench.Send("POST", "/api/v1/namespaces/default/pods", PodBody(i++));
    bench.loop.RunReady();
  }
  for (const auto& watcher : watchers) {
    if (watcher->chunks != static_cast<size_t>(i)) state.SkipWithError("an event is missing");
  }
}
BENCHMARK(BM_WatchFanOut100)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace koord::apiserver
