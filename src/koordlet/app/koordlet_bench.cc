#include <benchmark/benchmark.h>

#include "base/temp_dir.h"
#include "koordlet/app/koordlet_rig_testing.h"
#include "koordlet/host/discovery.h"

namespace koord::koordlet {
namespace {

enum Where : int64_t { kMemory, kDirectory };

// A second of koordlet's life on a node with 110 pods of three containers, in one figure: a pass of
// all collectors and strategies that are on, and its share of what comes less often (the kubelet's
// list and the hooks, processors, topology, reports, learning).
// The first argument is the version of cgroups; the second where the files are: in memory, which
// shows what koordlet itself costs, or in a directory, which adds the system calls.
void BM_CollectAndEnforce110Pods(benchmark::State& state) {
  const auto version = state.range(0) == 1 ? CgroupVersion::kV1 : CgroupVersion::kV2;
  TestHost machine(LargeMachine(version));
  PodListReader::Pods pods;
  for (int i = 0; i < 110; ++i) {
    pods.push_back(PodOfThree(i));
    machine.AddPod(*pods.back());
  }
  TempDir directory;
  std::unique_ptr<Host> image;
  if (state.range(1) == kDirectory) {
    if (!machine.WriteTo(directory.path()).ok()) return state.SkipWithError("no directory");
    auto host = DiscoverHost(HostPaths::Below(directory.path()));
    if (!host.ok()) return state.SkipWithError("no host");
    image = *std::move(host);
  }
  VirtualLoop loop;
  SilentCluster cluster;
  kube::Client client(loop, std::make_shared<kube::InProcessTransport>(loop, cluster), {});
  Koordlet koordlet(loop, image != nullptr ? *image : machine.host(), client, BusyOptions(), {});
  koordlet.OnNode(LargeNode());
  koordlet.OnNodeSlo(NodeSloOf(kBusySlo));
  koordlet.OnNodeMetric(std::make_shared<api::NodeMetric>());
  koordlet.OnTopology(nullptr);
  koordlet.OnPods(pods);
  koordlet.Start();
  loop.Advance(30s);
  if (!koordlet.acting()) return state.SkipWithError("it does not act");
  int second = 0;
  for (auto _ : state) {
    if (++second % 10 == 0) koordlet.OnPods(pods);
    loop.Advance(1s);
  }
}
BENCHMARK(BM_CollectAndEnforce110Pods)
    ->ArgNames({"cgroups", "directory"})
    ->Args({1, kMemory})
    ->Args({2, kMemory})
    ->Args({1, kDirectory})
    ->Args({2, kDirectory})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace koord::koordlet
