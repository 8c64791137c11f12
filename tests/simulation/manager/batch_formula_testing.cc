#include "simulation/manager/batch_formula_testing.h"

#include <algorithm>
#include <set>

namespace koord::localcluster::managed {
namespace {

Amount Larger(const Amount& a, const Amount& b) {
  return {std::max(a.cpu, b.cpu), std::max(a.memory, b.memory)};
}

void AddTo(Amount& sum, const Amount& more) {
  sum.cpu += more.cpu;
  sum.memory += more.memory;
}

int64_t Share(int64_t of, int64_t percent) {
  return static_cast<int64_t>(static_cast<double>(of) * (static_cast<double>(percent) / 100.0));
}

bool TakesPrecedence(Kind kind) { return kind != Kind::kBatch && kind != Kind::kFree; }

Amount SystemOf(const SimNode& node) {
  Amount used = node.report->system;
  for (const Usage& each : node.report->host_applications) {
    if (each.priority == "koord-prod" || each.priority == "koord-mid") AddTo(used, each.used);
  }
  return used;
}

Amount ReservedOf(const SimNode& node) {
  return {std::max({node.capacity.cpu - node.allocatable.cpu, node.reserved_by_annotation.cpu,
                    int64_t{0}}),
          std::max({node.capacity.memory - node.allocatable.memory,
                    node.reserved_by_annotation.memory, int64_t{0}})};
}

}  // namespace

Taken TakenBy(const SimNode& node) {
  Taken taken;
  std::set<std::string> measured;
  for (const Usage& usage : node.report->pods) {
    measured.insert(usage.name);
    const auto pod = node.pods.find(usage.name);
    if (pod == node.pods.end() || !pod->second.holds) {  // measured, but not there any more
      if (usage.priority == "koord-batch" || usage.priority == "koord-free") continue;
      AddTo(taken.used, usage.used);
      AddTo(taken.larger, usage.used);
      continue;
    }
    if (!TakesPrecedence(pod->second.kind)) continue;
    const Amount& request = pod->second.request;
    AddTo(taken.requested, request);
    AddTo(taken.larger, Larger(request, usage.used));
    const bool exclusive = pod->second.kind == Kind::kExclusive;
    AddTo(taken.used, {exclusive ? request.cpu : usage.used.cpu, usage.used.memory});
  }
  for (const auto& [name, pod] : node.pods) {
    if (!pod.holds || !TakesPrecedence(pod.kind) || measured.contains(name)) continue;
    AddTo(taken.requested, pod.request);
    AddTo(taken.used, pod.request);
    AddTo(taken.larger, pod.request);
  }
  return taken;
}

std::optional<Amount> BatchOf(const SimNode& node, const Strategy& strategy, WallTime now) {
  if (!strategy.enabled || !node.report || now > node.report->time + kDegradeTime) {
    return std::nullopt;
  }
  const Taken taken = TakenBy(node);
  const Amount reserved = ReservedOf(node);
  const Amount system = Larger(SystemOf(node), reserved);
  const int64_t cpu_kept = Share(node.capacity.cpu, 100 - strategy.cpu_percent);
  const int64_t memory_kept = Share(node.capacity.memory, 100 - strategy.memory_percent);

  Amount lent;
  lent.cpu = node.capacity.cpu - cpu_kept - system.cpu -
             (strategy.cpu_by_max ? taken.larger.cpu : taken.used.cpu);
  lent.memory = node.capacity.memory - memory_kept;
  switch (strategy.memory) {
    case Strategy::Memory::kUsage:
      lent.memory -= system.memory + taken.used.memory;
      break;
    case Strategy::Memory::kRequest:
      lent.memory -= reserved.memory + taken.requested.memory;
      break;
    case Strategy::Memory::kMax:
      lent.memory -= system.memory + taken.larger.memory;
      break;
  }
  lent = Larger(lent, {});
  if (strategy.cpu_cap_percent) {
    lent.cpu = std::min(lent.cpu, Share(node.capacity.cpu, *strategy.cpu_cap_percent));
  }
  return lent;
}

}  // namespace koord::localcluster::managed
