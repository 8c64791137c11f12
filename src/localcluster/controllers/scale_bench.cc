// How much work a thousand nodes are: to register, and to keep while nothing happens.
#include <benchmark/benchmark.h>

#include "localcluster/controllers/cluster_testing.h"

namespace koord::localcluster {
namespace {

void RegisterNodes(benchmark::State& state) {
  for (auto _ : state) {
    TestCluster cluster(
        {.nodes = static_cast<int>(state.range(0)), .shape = "cpu=32,memory=128Gi"});
    benchmark::DoNotOptimize(cluster.informers().nodes.size());
  }
}
BENCHMARK(RegisterNodes)->Arg(20)->Arg(1000)->Unit(benchmark::kMillisecond);

// CPU time of a minute in which nothing happens but heart-beats and reports.
void IdleMinute(benchmark::State& state) {
  TestCluster cluster({.nodes = static_cast<int>(state.range(0)), .shape = "cpu=32,memory=128Gi"});
  cluster.Run(std::chrono::minutes(1));
  for (auto _ : state) cluster.Run(std::chrono::minutes(1));
}
BENCHMARK(IdleMinute)->Arg(20)->Arg(1000)->Unit(benchmark::kMillisecond);

// A deployment of a thousand pods from nothing to available.
void RollOutThousandPods(benchmark::State& state) {
  for (auto _ : state) {
    TestCluster cluster({.nodes = 100, .shape = "cpu=32,memory=128Gi"});
    cluster.Create(R"({apiVersion: apps/v1, kind: Deployment, metadata: {name: web},
      spec: {replicas: 1000, selector: {matchLabels: {app: web}},
        template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: i,
          resources: {requests: {cpu: 100m}}}]}}}})");
    cluster.Until([&] {
      const auto web = cluster.informers().deployments.Get({"default", "web"});
      return web != nullptr && web->status.available_replicas == 1000;
    });
  }
}
BENCHMARK(RollOutThousandPods)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace koord::localcluster
