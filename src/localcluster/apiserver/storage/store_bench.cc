#include <benchmark/benchmark.h>

#include "base/asio_loop.h"
#include "localcluster/apiserver/storage/store.h"
#include "localcluster/apiserver/storage/store_testing.h"

namespace koord::apiserver {
namespace {

// About what a small pod takes as JSON.
const std::string kText(1500, 'x');

std::unique_ptr<Store> MustOpen(EventLoop& loop, Store::Options options) {
  auto store = Store::Open(loop, std::move(options));
  if (!store.ok()) std::abort();
  return std::move(*store);
}

void Fill(Store& store, int count) {
  for (int i = 0; i < count; ++i)
    PutNext(store, "pods", fmt::format("default/pod-{:06}", i), kText);
}

void BM_PutInMemory(benchmark::State& state) {
  AsioLoop loop;
  auto store = MustOpen(loop, {});
  int i = 0;
  for (auto _ : state) {
    PutNext(*store, "pods", fmt::format("default/pod-{:06}", i++ % 10'000), kText);
    loop.context().poll();
    loop.context().restart();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_PutInMemory);

// As many clients as the argument says, each with one write under way.
void BM_PutDurable(benchmark::State& state) {
  const TempDir dir;
  AsioLoop loop;
  auto store = MustOpen(loop, {.path = dir.File("store.db")});
  constexpr int kWrites = 2000;
  int i = 0;
  for (auto _ : state) {
    int to_start = kWrites, under_way = 0;
    std::function<void()> start = [&] {
      if (to_start == 0) {
        if (under_way == 0) loop.Stop();
        return;
      }
      --to_start;
      ++under_way;
      const auto entry =
          PutNext(*store, "pods", fmt::format("default/pod-{:06}", i++ % 10'000), kText);
      store->WhenDurable(entry->revision, [&] {
        --under_way;
        start();
      });
    };
    for (int client = 0; client < state.range(0); ++client) start();
    loop.Run();
  }
  state.SetItemsProcessed(state.iterations() * kWrites);
}
BENCHMARK(BM_PutDurable)->Arg(1)->Arg(32)->UseRealTime()->Unit(benchmark::kMillisecond);

void BM_Range5000(benchmark::State& state) {
  AsioLoop loop;
  auto store = MustOpen(loop, {});
  Fill(*store, 5000);
  const Revision before = store->revision();
  if (state.range(0) == 1) Fill(*store, 5000);
  for (auto _ : state) {
    size_t bytes = 0;
    (void)store->Range("pods", "default/", "", state.range(0) == 1 ? before : 0,
                       [&](const EntryPtr& entry) {
                         bytes += entry->value.size();
                         return true;
                       });
    benchmark::DoNotOptimize(bytes);
  }
}
BENCHMARK(BM_Range5000)->ArgName("old")->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);

// One write to a hundred watchers.
void BM_FanOut100(benchmark::State& state) {
  AsioLoop loop;
  auto store = MustOpen(loop, {});
  size_t seen = 0;
  std::vector<std::unique_ptr<Store::Subscription>> watches;
  for (int i = 0; i < 100; ++i) {
    watches.push_back(*store->Watch("pods", 1, [&](auto changes) { seen += changes.size(); }));
  }
  for (auto _ : state) {
    PutNext(*store, "pods", "default/pod", kText);
    loop.context().poll();
    loop.context().restart();
  }
  if (seen != 100 * static_cast<size_t>(state.iterations())) std::abort();
}
BENCHMARK(BM_FanOut100)->Unit(benchmark::kMicrosecond);

void BM_Open100k(benchmark::State& state) {
  const TempDir dir;
  AsioLoop loop;
  Fill(*MustOpen(loop, {.path = dir.File("store.db")}), 100'000);
  for (auto _ : state) {
    const auto store = MustOpen(loop, {.path = dir.File("store.db")});
    if (store->Count("pods", "") != 100'000) std::abort();
  }
}
BENCHMARK(BM_Open100k)->Iterations(2)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace koord::apiserver
