#include <benchmark/benchmark.h>

#include "base/virtual_loop.h"
#include "scheduler/queue/queue_testing.h"
#include "scheduler/queue/scheduling_queue.h"

namespace koord::scheduler {
namespace {

constexpr int kPods = 100'000;

struct Bench {
  Bench() {
    fit.kinds = {EventKind::kNodeAdded, EventKind::kAssignedPodRemoved};
    QueueProfile profile{.name = std::string(kTestProfile), .pre_enqueue = {&gate}, .requeue = {}};
    profile.requeue[fit.name()] = &fit;
    queue = std::make_unique<SchedulingQueue>(loop, sort, std::vector<QueueProfile>{profile});
    for (int i = 0; i < kPods; ++i) {
      auto pod = MakePod(fmt::format("web-6d4cf56db6-{:06}", i));
      pod->metadata.uid = fmt::format("0b8c6a6e-{:04x}-4c1e-9a54-{:012x}", i % 4096, i);
      pods.push_back(std::move(pod));
    }
  }
  void Fill() {
    for (const auto& pod : pods) queue->Add(pod);
  }
  void RejectAll(const std::string& plugin) {
    const AttemptFailure failure{.rejected_by = {{plugin}}, .message = "0/1 nodes are available"};
    Fill();
    while (const auto popped = queue->Pop()) queue->Return(popped->pod->metadata.uid, failure);
  }

  VirtualLoop loop;
  TestPrioritySort sort;
  TestGate gate{"SchedulingGates"};
  TestRejector fit{"NodeResourcesFit"};
  std::unique_ptr<SchedulingQueue> queue;
  std::vector<std::shared_ptr<const kube::Pod>> pods;
};

// A pod is taken and bound and another one comes, while 100,000 wait their turn.
void BM_AddPopDone(benchmark::State& state) {
  Bench bench;
  bench.Fill();
  for (auto _ : state) {
    const auto popped = bench.queue->Pop();
    bench.queue->Done(popped->pod->metadata.uid);
    bench.queue->Add(popped->pod);  // as another one: it goes to the end
  }
}
BENCHMARK(BM_AddPopDone);

void BM_AddAll(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    auto bench = std::make_unique<Bench>();
    state.ResumeTiming();
    bench->Fill();
    state.PauseTiming();
    bench.reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * kPods);
}
BENCHMARK(BM_AddAll)->Unit(benchmark::kMillisecond)->Iterations(5);

void BM_PopAll(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    auto bench = std::make_unique<Bench>();
    bench->Fill();
    state.ResumeTiming();
    while (bench->queue->Pop().has_value()) {
    }
    state.PauseTiming();
    bench.reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * kPods);
}
BENCHMARK(BM_PopAll)->Unit(benchmark::kMillisecond)->Iterations(5);

// A pod is tried and rejected, among 100,000.
void BM_PopReturn(benchmark::State& state) {
  Bench bench;
  bench.Fill();
  const AttemptFailure failure{.rejected_by = {{"NodeResourcesFit"}},
                               .message = "0/1 nodes are available"};
  const ClusterEvent wake{.kind = EventKind::kNodeAdded};
  for (auto _ : state) {
    const auto popped = bench.queue->Pop();
    bench.queue->Return(popped->pod->metadata.uid, failure);
    bench.queue->OnEvent(wake);
  }
}
BENCHMARK(BM_PopReturn);

// An event that nobody cares about, while 100,000 pods wait for others.
void BM_UnwantedEvent(benchmark::State& state) {
  Bench bench;
  bench.RejectAll("NodeResourcesFit");
  for (auto _ : state) bench.queue->OnEvent({.kind = EventKind::kNodeMetricChanged});
}
BENCHMARK(BM_UnwantedEvent);

// An event about which the plugin is asked for each of 100,000 pods, in vain.
void BM_WantedEventThatHelpsNobody(benchmark::State& state) {
  Bench bench;
  bench.RejectAll("NodeResourcesFit");
  bench.fit.cures = [](const kube::Pod&, const ClusterEvent&) { return false; };
  for (auto _ : state) bench.queue->OnEvent({.kind = EventKind::kNodeAdded});
  state.SetItemsProcessed(state.iterations() * kPods);
}
BENCHMARK(BM_WantedEventThatHelpsNobody)->Unit(benchmark::kMicrosecond);

// One that wakes all of them.
void BM_EventThatHelpsAll(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    auto bench = std::make_unique<Bench>();
    bench->RejectAll("NodeResourcesFit");
    state.ResumeTiming();
    bench->queue->OnEvent({.kind = EventKind::kNodeAdded});
    state.PauseTiming();
    bench.reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(state.iterations() * kPods);
}
BENCHMARK(BM_EventThatHelpsAll)->Unit(benchmark::kMillisecond)->Iterations(3);

}  // namespace
}  // namespace koord::scheduler
