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

// Bodies that are legal but nobody's friend. The time must grow as their size does, and a MiB may
// take no more than 100 ms, for nobody else is served meanwhile.
struct Hostile {
  const char* name;
  const char* content_type;
  const char* item;  // {0} is its number
  const char* begin;
  const char* end;
};

constexpr char kJson[] = "application/json";
constexpr char kYaml[] = "application/yaml";
constexpr char kApply[] = "application/apply-patch+yaml";
constexpr char kPodOfContainers[] =
    R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[)";
constexpr char kPodWithLabels[] =
    R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":{)";

const Hostile kHostile[] = {
    {"unknown fields", kJson, R"("unknown{0}":1)", R"({"metadata":{"name":"p"},)", "}"},
    {"duplicate fields", kJson, R"("key{0}":"1","key{0}":"2")",
     R"({"metadata":{"name":"p","labels":{)", "}}}"},
    {"invalid containers", kJson, R"({{"name":"NOT OK {0}"}})",
     R"({"metadata":{"name":"p"},"spec":{"containers":[)", "]}}"},
    {"invalid labels", kJson, R"("not ok {0}":"not ok")", R"({"metadata":{"name":"p","labels":{)",
     "}}}"},
    {"controllers", kJson,
     R"({{"apiVersion":"v1","kind":"Node","name":"n","uid":"u{0}","controller":true}})",
     R"({"metadata":{"name":"p","ownerReferences":[)", "]}}"},
    {"owners of fields", kJson,
     R"({{"manager":"m{0}","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1",)"
     R"("fieldsV1":{{"f:metadata":{{"f:labels":{{"f:k{0}":{{}}}}}}}}}})",
     R"({"metadata":{"name":"p","managedFields":[)", "]}}"},
    {"tolerations", kJson, R"({{"key":"k{0}","operator":"Exists"}})",
     R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}],"tolerations":[)",
     "]}}"},
    {"tiny containers", kJson, R"({{"name":"c{0}","image":"i"}})", kPodOfContainers, "]}}"},
    {"YAML", kYaml, R"("key{0}": "v")", R"({"metadata":{"name":"p","labels":{)", "}}}"},
    {"flat YAML", kYaml, "key{0}: v\n", "", "x: y\n"},
    {"tiny containers applied", kApply, R"({{"name":"c{0}","image":"i"}})", kPodOfContainers,
     "]}}"},
    {"containers that are no more than names, applied", kApply, R"({{"name":"c{0}"}})",
     kPodOfContainers, "]}}"},
    {"labels applied", kApply, R"("k{0}":"v")", kPodWithLabels,
     R"(}},"spec":{"containers":[{"name":"c","image":"i"}]}})"},
};

std::shared_ptr<NullWriter> SendHostile(Bench& bench, const Hostile& hostile,
                                        const std::string& body, std::string_view query,
                                        std::string_view manager = "bench") {
  const bool applies = hostile.content_type == kApply;
  kube::HttpRequest request;
  request.method = applies ? "PATCH" : "POST";
  request.target = fmt::format("/api/v1/namespaces/default/pods{}?{}", applies ? "/p" : "", query);
  if (applies) request.target += fmt::format("&fieldManager={}", manager);
  request.headers.Set("Content-Type", hostile.content_type);
  request.body = body;
  request.user = kube::UserInfo{"admin", "", {"system:masters"}, {}};
  auto writer = std::make_shared<NullWriter>();
  bench.server.Handle(std::move(request), writer);
  bench.loop.RunReady();
  return writer;
}

std::string BodyOf(const Hostile& hostile, int64_t items) {
  std::string body = hostile.begin;
  const bool lines = std::string_view(hostile.item).ends_with('\n');
  for (int64_t i = 0; i < items; ++i) {
    if (i > 0 && !lines) body += ',';
    body += fmt::format(fmt::runtime(hostile.item), i);
  }
  return body + hostile.end;
}

void BM_HostileBody(benchmark::State& state, const Hostile& hostile) {
  Bench bench;
  const std::string body = BodyOf(hostile, state.range(0));
  for (auto _ : state) {
    const auto answer = SendHostile(bench, hostile, body, "dryRun=All");
    if (answer->code == 0) state.SkipWithError("no answer");
    state.counters["code"] = answer->code;
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(body.size()));
  state.SetComplexityN(state.range(0));
}

// What is applied to an object that has it already, by the same client or by another.
void ApplyAgain(benchmark::State& state, const Hostile& hostile, std::string_view manager) {
  Bench bench;
  const std::string body = BodyOf(hostile, state.range(0));
  SendHostile(bench, hostile, body, "");
  for (auto _ : state) {
    const auto answer = SendHostile(bench, hostile, body, "dryRun=All", manager);
    if (answer->code == 0) state.SkipWithError("no answer");
    state.counters["code"] = answer->code;
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(body.size()));
  state.SetComplexityN(state.range(0));
}
void BM_HostileBodyAgain(benchmark::State& state, const Hostile& hostile) {
  ApplyAgain(state, hostile, "bench");
}
void BM_HostileBodyOfAnother(benchmark::State& state, const Hostile& hostile) {
  ApplyAgain(state, hostile, "other");
}

void Register(const std::string& name, void (*function)(benchmark::State&, const Hostile&),
              const Hostile& hostile) {
  benchmark::RegisterBenchmark((name + "/" + hostile.name).c_str(), function, hostile)
      ->Unit(benchmark::kMillisecond)
      ->RangeMultiplier(4)
      ->Range(1 << 9, 1 << 13)
      ->Complexity(benchmark::oN);
}

[[maybe_unused]] const int kRegistered = [] {
  for (const Hostile& hostile : kHostile) {
    Register("BM_HostileBody", BM_HostileBody, hostile);
    if (hostile.content_type == kApply) {
      Register("BM_HostileBodyAgain", BM_HostileBodyAgain, hostile);
      Register("BM_HostileBodyOfAnother", BM_HostileBodyOfAnother, hostile);
    }
  }
  return 0;
}();

}  // namespace
}  // namespace koord::apiserver
