#include <benchmark/benchmark.h>

#include "base/virtual_loop.h"
#include "kube/client/client.h"
#include "kube/client/watch_decoder.h"
#include "kube/informer/informer.h"
#include "kube/objects/pod.h"
#include "kube/resources.h"
#include "kube/transport/in_process_transport.h"

namespace koord::kube {
namespace {

// A pod as a real cluster has it: labels, owner, two containers, conditions and statuses.
Json MakePod(int number, uint64_t version) {
  const std::string name = "web-7d4b9c6f5d-" + std::to_string(number);
  Json container{{"name", "app"},
                 {"image", "registry.example.com/team/app:v1.2.3"},
                 {"resources",
                  {{"requests", {{"cpu", "500m"}, {"memory", "1Gi"}}},
                   {"limits", {{"cpu", "2"}, {"memory", "2Gi"}}}}},
                 {"env", json::array{{{"name", "A"}, {"value", "b"}}}},
                 {"volumeMounts", json::array{{{"name", "token"}, {"mountPath", "/var/run"}}}}};
  Json sidecar = container;
  At(sidecar, {"name"}) = "sidecar";
  json::array conditions;
  for (const char* type : {"Initialized", "Ready", "ContainersReady", "PodScheduled"}) {
    conditions.push_back(
        {{"type", type}, {"status", "True"}, {"lastTransitionTime", "2026-07-01T00:00:00Z"}});
  }
  return {
      {"apiVersion", "v1"},
      {"kind", "Pod"},
      {"metadata",
       {{"name", name},
        {"namespace", "team"},
        {"uid", "0f8b6a34-1111-4a2b-9c3d-" + std::to_string(100000000000 + number)},
        {"resourceVersion", std::to_string(version)},
        {"creationTimestamp", "2026-07-01T00:00:00Z"},
        {"labels",
         {{"app", "web"}, {"pod-template-hash", "7d4b9c6f5d"}, {"koordinator.sh/qosClass", "LS"}}},
        {"ownerReferences", json::array{{{"apiVersion", "apps/v1"},
                                         {"kind", "ReplicaSet"},
                                         {"name", "web-7d4b9c6f5d"},
                                         {"uid", "5e1c7d0a-2222-4b3c-8d4e-000000000000"},
                                         {"controller", true}}}}}},
      {"spec",
       {{"containers", json::array{container, sidecar}},
        {"nodeName", "node-" + std::to_string(number % 1000)},
        {"priority", 9000},
        {"schedulerName", "koord-scheduler"},
        {"tolerations", json::array{{{"key", "node.kubernetes.io/not-ready"},
                                     {"operator", "Exists"},
                                     {"effect", "NoExecute"},
                                     {"tolerationSeconds", 300}}}}}},
      {"status",
       {{"phase", "Running"}, {"podIP", "10.1.2.3"}, {"conditions", std::move(conditions)}}}};
}

std::string EventLine(std::string_view type, const Json& object) {
  return Serialize({{"type", type}, {"object", object}}) + "\n";
}

void BM_DecodeWatchEvents(benchmark::State& state) {
  const std::string line = EventLine("MODIFIED", MakePod(1, 100));
  WatchDecoder decoder;
  for (auto _ : state) {
    size_t events = 0;
    const Status status = decoder.Feed(line, [&](std::string_view, JsonView object) {
      benchmark::DoNotOptimize(object);
      ++events;
      return true;
    });
    if (!status.ok() || events != 1) state.SkipWithError("not decoded");
  }
  state.SetItemsProcessed(state.iterations());
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(line.size()));
}
BENCHMARK(BM_DecodeWatchEvents);

void BM_DecodePod(benchmark::State& state) {
  const Json pod = MakePod(1, 100);
  for (auto _ : state) {
    auto decoded = Decode<Pod>(pod);
    benchmark::DoNotOptimize(decoded);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_DecodePod);

// Answers every request with the same small object.
class EchoHandler final : public HttpHandler {
 public:
  void Handle(HttpRequest, std::shared_ptr<ResponseWriter> writer) override {
    writer->Finish({200, {}, R"({"kind":"Status","status":"Success"})"});
  }
};

// One patch from call to answer: path, body, limiter, transport and back.
void BM_PatchRoundTrip(benchmark::State& state) {
  VirtualLoop loop;
  EchoHandler handler;
  Client client(loop, std::make_shared<InProcessTransport>(loop, handler), {.qps = 0});
  const Json patch{{"metadata", {{"annotations", {{"koordinator.sh/x", "some value"}}}}}};
  for (auto _ : state) {
    bool ok = false;
    client.Patch(kPods, {"team", "web-1"}, PatchType::kMerge, patch, {},
                 [&](const StatusOr<Json>& answer) { ok = answer.ok(); });
    loop.RunReady();
    if (!ok) state.SkipWithError("not answered");
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_PatchRoundTrip);

// Lists once, then streams events as fast as the informer takes them.
class WatchHandler final : public HttpHandler {
 public:
  explicit WatchHandler(int pods) : pods_(pods) {}

  void Handle(HttpRequest request, std::shared_ptr<ResponseWriter> writer) override {
    if (request.target.find("watch=") == std::string::npos) {
      json::array items;
      for (int i = 0; i < pods_; ++i) items.push_back(MakePod(i, 1));
      writer->Finish(
          {200,
           {},
           Serialize({{"metadata", {{"resourceVersion", "1"}}}, {"items", std::move(items)}})});
      return;
    }
    writer->StartStream({200, {}, ""});
    watch = std::move(writer);
  }
  std::shared_ptr<ResponseWriter> watch;

 private:
  const int pods_;
};

void BM_InformerEvents(benchmark::State& state) {
  constexpr int kCount = 10'000;
  VirtualLoop loop;
  WatchHandler handler(kCount);
  Client client(loop, std::make_shared<InProcessTransport>(loop, handler), {.qps = 0});
  Informer<Pod> informer(client, kPods, {.stream_list = false});
  informer.AddIndex("node",
                    [](const Pod& pod) { return std::vector<std::string>{pod.spec.node_name}; });
  size_t changes = 0;
  informer.AddHandler([&](const auto&, const auto&) { ++changes; });
  informer.Start();
  loop.RunReady();
  uint64_t version = 2;
  for (auto _ : state) {
    state.PauseTiming();
    auto chunk = std::make_shared<std::string>();
    for (int i = 0; i < 100; ++i) {
      *chunk += EventLine("MODIFIED", MakePod(static_cast<int>(version % kCount), version));
      ++version;
    }
    changes = 0;
    state.ResumeTiming();
    handler.watch->Write(std::move(chunk));
    loop.RunReady();
    if (changes != 100) state.SkipWithError("events were lost");
  }
  state.SetItemsProcessed(state.iterations() * 100);
}
BENCHMARK(BM_InformerEvents);

void BM_InformerFirstList(benchmark::State& state) {
  const auto count = static_cast<int>(state.range(0));
  json::array items;
  for (int i = 0; i < count; ++i) items.push_back(MakePod(i, 1));
  const std::string body =
      Serialize({{"metadata", {{"resourceVersion", "1"}}}, {"items", std::move(items)}});
  class ListHandler final : public HttpHandler {
   public:
    explicit ListHandler(const std::string& body) : body_(body) {}
    void Handle(HttpRequest request, std::shared_ptr<ResponseWriter> writer) override {
      if (request.target.find("watch=") == std::string::npos) {
        writer->Finish({200, {}, body_});
      } else {
        writer->StartStream({200, {}, ""});
        watch_ = std::move(writer);
      }
    }

   private:
    const std::string& body_;
    std::shared_ptr<ResponseWriter> watch_;
  };
  for (auto _ : state) {
    VirtualLoop loop;
    ListHandler handler(body);
    Client client(loop, std::make_shared<InProcessTransport>(loop, handler), {.qps = 0});
    Informer<Pod> informer(client, kPods, {.stream_list = false});
    informer.Start();
    loop.RunReady();
    if (informer.size() != static_cast<size_t>(count)) state.SkipWithError("objects were lost");
  }
  state.SetItemsProcessed(state.iterations() * count);
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(body.size()));
}
BENCHMARK(BM_InformerFirstList)->Arg(10'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace koord::kube
