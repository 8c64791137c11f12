#include <benchmark/benchmark.h>

#include "scheduler/cluster/ledger.h"
#include "scheduler/explain/decision_log.h"

namespace koord::scheduler {
namespace {

void BM_RememberADecision(benchmark::State& state) {
  Ledger ledger;
  kube::Node node;
  node.metadata.name = "node-with-a-name-of-usual-length-0001";
  const NodeRow row = ledger.SetNode(std::make_shared<const kube::Node>(node));
  const Decision decision{.row = row, .verdict = {}, .evaluated = 5000, .feasible = 4000};
  DecisionLog log(ledger.nodes());
  for (auto _ : state) {
    log.Remember("00000000-0000-4000-8000-000000000000", decision, {});
    benchmark::ClobberMemory();
  }
}
BENCHMARK(BM_RememberADecision);

}  // namespace
}  // namespace koord::scheduler
