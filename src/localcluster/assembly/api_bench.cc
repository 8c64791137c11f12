#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <future>
#include <thread>

#include "base/asio_loop.h"
#include "base/log.h"
#include "kube/transport/http_transport.h"
#include "kube/transport/kubeconfig.h"
#include "localcluster/assembly/local_server.h"

// The API server as clients meet it: over TLS on loopback, server and client sharing the machine.
namespace koord::localcluster {
namespace {

constexpr int kConnections = 32;
constexpr char kPod[] =
    R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{}","labels":{{"app":"bench"}}}},)"
    R"("spec":{{"containers":[{{"name":"main","image":"registry.k8s.io/pause:3.10","resources":)"
    R"({{"requests":{{"cpu":"100m","memory":"128Mi"}}}}}}]}}}})";
constexpr char kNode[] =
    R"({{"apiVersion":"v1","kind":"Node","metadata":{{"name":"{}","labels":{{"zone":"a"}}}},)"
    R"("status":{{"allocatable":{{"cpu":"32","memory":"128Gi","pods":"110"}}}}}})";

constexpr char kProfiles[] = "/apis/config.koordinator.sh/v1alpha1/clustercolocationprofiles";
constexpr char kProfile[] =
    R"({"apiVersion":"config.koordinator.sh/v1alpha1","kind":"ClusterColocationProfile",)"
    R"("metadata":{"name":"bench"},"spec":{"selector":{"matchLabels":{"app":"bench"}},)"
    R"("qosClass":"LS"}})";
constexpr char kRegistrations[] =
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";

// A server in a thread of its own: with nothing but the API in it, or a cluster of some nodes.
class Server {
 public:
  explicit Server(bool in_memory, int nodes = 0) : nodes_(nodes) {
    char name[] = "/tmp/koord-bench-XXXXXX";
    directory_ = mkdtemp(name);
    log::SetSink([](std::string_view) {});
    std::promise<std::string> started;
    thread_ = std::thread([this, in_memory, &started] { Serve(in_memory, started); });
    kubeconfig_ = started.get_future().get();
  }
  ~Server() {
    loop_.Post([this] { server_->Stop([this] { loop_.Stop(); }); });
    thread_.join();
    std::filesystem::remove_all(directory_);
  }
  const std::string& kubeconfig() const { return kubeconfig_; }

 private:
  // As the user who waits for the banner of `koord up`: no load before its nodes are there.
  void TellWhenReady(std::promise<std::string>& started) {
    if (server_->cluster().ready()) return started.set_value(server_->kubeconfig());
    loop_.Schedule(std::chrono::milliseconds(10), [this, &started] { TellWhenReady(started); });
  }

  void Serve(bool in_memory, std::promise<std::string>& started) {
    LocalServerOptions options;
    options.data_dir = directory_;
    options.in_memory = in_memory;
    options.cluster.nodes = nodes_;
    options.cluster.shapes = {*ParseNodeShape("cpu=32,memory=128Gi")};
    if (nodes_ == 0) options.cluster.without = {"controllers", "manager", "nodes", "scheduler"};
    server_ = std::move(*LocalServer::Start(loop_, options));
    TellWhenReady(started);
    loop_.Run();
    server_.reset();
  }

  const int nodes_;
  AsioLoop loop_;
  std::string directory_, kubeconfig_;
  std::unique_ptr<LocalServer> server_;
  std::thread thread_;
};

class LoadGenerator {
 public:
  explicit LoadGenerator(const Server& server) {
    const auto config = kube::LoadClientConfig({.kubeconfig = server.kubeconfig()});
    kube::HttpTransport::Options options;
    options.max_connections = kConnections;
    transport_ = *kube::HttpTransport::Make(loop_, *config, options);
  }

  // `count` requests, as many at a time as there are connections. Returns how many failed.
  int Run(int count, const std::function<kube::HttpRequest(int)>& make) {
    started_ = finished_ = failed_ = 0;
    count_ = count;
    make_ = make;
    for (int i = 0; i < std::min(kConnections, count); ++i) Next();
    loop_.Run();
    return failed_;
  }

  // Until webhooks are in force: what is asked before is another cluster.
  void AwaitReady() {
    for (bool ready = false; !ready;) {
      kube::HttpRequest request;
      request.target = kRegistrations;
      transport_->Send(std::move(request), std::chrono::seconds(30),
                       [&](const StatusOr<kube::HttpResponse>& answer) {
                         ready = answer.ok() && answer->body.find("caBundle") != std::string::npos;
                         loop_.Schedule(std::chrono::milliseconds(20), [&] { loop_.Stop(); });
                       });
      loop_.Run();
    }
  }

  AsioLoop& loop() { return loop_; }
  kube::Transport& transport() { return *transport_; }

 private:
  void Next() {
    if (started_ == count_) return;
    transport_->Send(make_(started_++), std::chrono::seconds(30),
                     [this](StatusOr<kube::HttpResponse> answer) {
                       if (!answer.ok() || answer->status >= 300) ++failed_;
                       if (++finished_ == count_) return loop_.Stop();
                       Next();
                     });
  }

  AsioLoop loop_;
  std::shared_ptr<kube::Transport> transport_;
  std::function<kube::HttpRequest(int)> make_;
  int count_ = 0, started_ = 0, finished_ = 0, failed_ = 0;
};

kube::HttpRequest Post(std::string target, std::string body) {
  kube::HttpRequest request;
  request.method = "POST";
  request.target = std::move(target);
  request.headers.Set("Content-Type", "application/json");
  request.body = std::move(body);
  return request;
}

void CreatePods(benchmark::State& state, bool in_memory) {
  constexpr int kPods = 5000;
  const Server server(in_memory);
  LoadGenerator load(server);
  int round = 0;
  for (auto _ : state) {
    const int failed = load.Run(kPods, [&](int i) {
      return Post("/api/v1/namespaces/default/pods",
                  fmt::format(kPod, fmt::format("p-{}-{}", round, i)));
    });
    if (failed > 0) state.SkipWithError("requests failed");
    ++round;
  }
  state.SetItemsProcessed(int64_t{kPods} * round);
}
BENCHMARK_CAPTURE(CreatePods, in_memory, true)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(CreatePods, durable, false)->UseRealTime()->Unit(benchmark::kMillisecond);

// From the first pod that is created to the last one that is bound, everything in one process:
// clients, API server, scheduler, manager and 1,000 nodes that run what they get. With a profile,
// each pod is shown to two webhooks over HTTPS first.
void PlacePods(benchmark::State& state, const char* profile) {
  constexpr int kPods = 20000;
  for (auto _ : state) {
    state.PauseTiming();
    auto server = std::make_unique<Server>(true, 1000);
    LoadGenerator load(*server);
    load.AwaitReady();
    if (profile != nullptr) {
      const auto create = [&](int) { return Post(kProfiles, profile); };
      if (load.Run(1, create) > 0) state.SkipWithError("no profile");
    }
    state.ResumeTiming();
    const int failed = load.Run(kPods, [](int i) {
      return Post("/api/v1/namespaces/default/pods", fmt::format(kPod, fmt::format("p-{}", i)));
    });
    if (failed > 0) state.SkipWithError("requests failed");
    for (bool all_bound = false; !all_bound;) {
      kube::HttpRequest request;
      request.target = "/api/v1/pods?fieldSelector=spec.nodeName%3D&limit=1";
      load.transport().Send(std::move(request), std::chrono::seconds(30),
                            [&](const StatusOr<kube::HttpResponse>& answer) {
                              all_bound = answer.ok() && answer->body.ends_with("\"items\":[]}");
                              load.loop().Schedule(std::chrono::milliseconds(20),
                                                   [&] { load.loop().Stop(); });
                            });
      load.loop().Run();
    }
    state.PauseTiming();
    server.reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(int64_t{kPods} * static_cast<int64_t>(state.iterations()));
}
BENCHMARK_CAPTURE(PlacePods, plain, nullptr)
    ->UseRealTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(PlacePods, coloured, kProfile)
    ->UseRealTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

void ListNodes(benchmark::State& state) {
  constexpr int kNodes = 5000;
  const Server server(true);
  LoadGenerator load(server);
  load.Run(kNodes, [](int i) {
    return Post("/api/v1/nodes", fmt::format(kNode, fmt::format("node-{}", i)));
  });
  for (auto _ : state) {
    const int failed = load.Run(1, [](int) {
      kube::HttpRequest request;
      request.target = "/api/v1/nodes";
      return request;
    });
    if (failed > 0) state.SkipWithError("the list failed");
  }
}
BENCHMARK(ListNodes)->UseRealTime()->Unit(benchmark::kMillisecond);

// From sending a write until the last of 100 watchers has heard of it.
void FanOut(benchmark::State& state) {
  constexpr size_t kWatchers = 100;
  const Server server(true);
  LoadGenerator load(server);
  size_t open = 0;
  size_t heard = 0;
  std::vector<std::unique_ptr<kube::Transport::Stream>> streams;
  for (size_t i = 0; i < kWatchers; ++i) {
    kube::HttpRequest request;
    request.target =
        "/api/v1/namespaces/default/pods?watch=1&sendInitialEvents=false"
        "&resourceVersionMatch=NotOlderThan";
    streams.push_back(
        load.transport().Open(std::move(request), {.head =
                                                       [&](const kube::HttpResponse&) {
                                                         if (++open == kWatchers)
                                                           load.loop().Stop();
                                                       },
                                                   .data =
                                                       [&](std::string_view) {
                                                         if (++heard == kWatchers)
                                                           load.loop().Stop();
                                                       },
                                                   .end = [](const Status&) {}}));
  }
  load.loop().Run();
  std::vector<double> times;
  int number = 0;
  for (auto _ : state) {
    heard = 0;
    const SteadyTime start = load.loop().clock().Steady();
    load.transport().Send(
        Post("/api/v1/namespaces/default/pods", fmt::format(kPod, fmt::format("p-{}", number++))),
        std::chrono::seconds(30), [](const StatusOr<kube::HttpResponse>&) {});
    load.loop().Run();
    const Duration elapsed = load.loop().clock().Steady() - start;
    times.push_back(std::chrono::duration<double, std::milli>(elapsed).count());
  }
  std::sort(times.begin(), times.end());
  state.counters["p99_ms"] = times[times.size() * 99 / 100];
}
BENCHMARK(FanOut)->UseRealTime()->Iterations(1000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace koord::localcluster
