// What it costs to ask for values that are in place already, as strategies do every second.
#include "koordlet/executor/resource_executor.h"

#include <benchmark/benchmark.h>

#include "base/virtual_loop.h"
#include "koordlet/testing/test_host.h"
#include "koordlet/testing/test_pod.h"

namespace koord::koordlet {
namespace {

constexpr int kPods = 110;

struct Node {
  Node() {
    for (int i = 0; i < kPods; ++i) {
      const auto pod =
          TestPod(fmt::format("metadata: {{name: pod-{}}}\nspec: {{containers: [{{name: a}}, "
                              "{{name: b}}, {{name: c}}]}}",
                              i));
      machine.AddPod(*pod);
      Add(0, machine.PodDir(*pod));
      for (const char* name : {"a", "b", "c"}) Add(1, machine.ContainerDir(*pod, name));
    }
  }

  void Add(size_t level, const CgroupDir& dir) {
    for (const CgroupFile file : {CgroupFile::kMemoryMin, CgroupFile::kMemoryLow,
                                  CgroupFile::kMemoryHigh, CgroupFile::kMemoryOomGroup}) {
      levels[level].push_back({CgroupTarget{file, dir}, "0", {}});
    }
  }

  TestHost machine;
  VirtualLoop loop;
  ResourceExecutor executor{machine.host(), loop.clock(), nullptr, nullptr, {}};
  std::vector<std::vector<Update>> levels = std::vector<std::vector<Update>>(2);
};

void BM_ApplyLevelsInPlace(benchmark::State& state) {
  Node node;
  node.executor.ApplyLevels(node.levels);
  for (auto _ : state) node.executor.ApplyLevels(node.levels);
  state.counters["updates"] = static_cast<double>(node.levels[0].size() + node.levels[1].size());
}
BENCHMARK(BM_ApplyLevelsInPlace)->Unit(benchmark::kMicrosecond);

void BM_ApplyNowInPlace(benchmark::State& state) {
  Node node;
  node.executor.ApplyLevels(node.levels);
  for (auto _ : state) {
    for (const auto& level : node.levels) {
      for (const Update& update : level) {
        benchmark::DoNotOptimize(node.executor.ApplyNow(update));
      }
    }
  }
}
BENCHMARK(BM_ApplyNowInPlace)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace koord::koordlet
