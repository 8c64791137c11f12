#include "scheduler/plugins/node_resources_balanced_allocation/node_resources_balanced_allocation.h"

#include <absl/container/inlined_vector.h>

#include <algorithm>
#include <cmath>

#include "base/hot.h"

namespace koord::scheduler {
namespace {

struct Balanced {
  ResourceId id;
  int64_t amount;
};

struct BalancedState final : PluginState {
  absl::InlinedVector<Balanced, 4> balanced;
  bool requests_any = false;
};

// A resource of every row, from the first one that is looked at.
struct Column {
  const int64_t* allocatable;
  const int64_t* requested;
  int64_t more;

  Column At(size_t i) const { return {allocatable + i, requested + i, more}; }
};
using Columns = absl::InlinedVector<Column, 4>;

int64_t ScoreOf(double deviation) { return static_cast<int64_t>((1 - deviation) * kMaxScore); }

double Deviation(std::span<const double> fractions) {
  const size_t n = fractions.size();
  if (n < 2) return 0;
  if (n == 2) return std::abs((fractions[0] - fractions[1]) / 2);
  double total = 0;
  for (const double fraction : fractions) total += fraction;
  const double mean = total / static_cast<double>(n);
  double sum = 0;
  for (const double fraction : fractions) sum += (fraction - mean) * (fraction - mean);
  return std::sqrt(sum / static_cast<double>(n));
}

void ScoreRows(const Columns& columns, size_t n, int64_t* scores) {
  absl::InlinedVector<double, 8> fractions;
  for (size_t i = 0; i < n; ++i) {
    fractions.clear();
    for (const Column& column : columns) {
      const int64_t have = column.allocatable[i];
      if (have <= 0) continue;
      const double used = static_cast<double>(column.requested[i] + column.more);
      fractions.push_back(std::min(used / static_cast<double>(have), 1.0));
    }
    scores[i] = ScoreOf(Deviation({fractions.data(), fractions.size()}));
  }
}

// The same for two resources, by far the most frequent case, as far as no row is odd.
KOORD_HOT void ScorePairs(const double* have_a, const double* requested_a, double more_a,
                          const double* have_b, const double* requested_b, double more_b, size_t n,
                          int64_t* scores) {
  for (size_t i = 0; i < n; ++i) {
    const double a = (requested_a[i] + more_a) / have_a[i];
    const double b = (requested_b[i] + more_b) / have_b[i];
    const double half = ((a < 1 ? a : 1) - (b < 1 ? b : 1)) / 2;
    scores[i] = static_cast<int32_t>((1 - std::abs(half)) * kMaxScore);
  }
}

}  // namespace

NodeResourcesBalancedAllocation::NodeResourcesBalancedAllocation(
    const PluginContext& context, NodeResourcesBalancedAllocationArgs args) {
  args.SetDefaults();
  for (const ResourceWeight& each : args.resources) {
    balanced_.push_back(context.ledger.resources().Intern(each.name));
  }
}

std::unique_ptr<PluginState> NodeResourcesBalancedAllocation::Compile(const PodShape& shape) {
  auto state = std::make_unique<BalancedState>();
  for (const ResourceId id : balanced_) {
    const int64_t amount = AmountOf(shape.requests, id);
    state->requests_any |= amount != 0;
    if (amount == 0 && id >= kFirstScalarId) continue;
    state->balanced.push_back({id, amount});
  }
  return state;
}

Verdict NodeResourcesBalancedAllocation::PreScore(PodQuery& query, std::span<const uint8_t>) {
  return query.state<BalancedState>(slot()).requests_any ? Verdict::Success() : Verdict::Skip();
}

void NodeResourcesBalancedAllocation::Score(const PodQuery& query, RowRange rows, int64_t* scores) {
  const NodeTable& nodes = query.nodes();
  Columns columns;
  const auto& balanced = query.state<BalancedState>(slot()).balanced;
  for (const Balanced& each : balanced) {
    columns.push_back({nodes.allocatable(each.id) + rows.begin,
                       nodes.requested(each.id) + rows.begin, each.amount});
  }
  const auto of_pair = [&](size_t i) {
    return columns.size() == 2 && columns[i].more >= 0 ? nodes.amounts(balanced[i].id) : nullptr;
  };
  const AmountColumns* a = of_pair(0);
  const AmountColumns* b = of_pair(1);
  if (a == nullptr || b == nullptr) return ScoreRows(columns, rows.size(), scores);
  ScorePairs(a->allocatable() + rows.begin, a->requested() + rows.begin,
             static_cast<double>(balanced[0].amount), b->allocatable() + rows.begin,
             b->requested() + rows.begin, static_cast<double>(balanced[1].amount), rows.size(),
             scores);
  if (!a->HasOdd(rows) && !b->HasOdd(rows)) return;
  for (NodeRow row = rows.begin; row < rows.end; ++row) {
    const size_t i = row - rows.begin;
    if (a->IsOdd(row) || b->IsOdd(row)) {
      ScoreRows({columns[0].At(i), columns[1].At(i)}, 1, scores + i);
    }
  }
}

int64_t NodeResourcesBalancedAllocation::ScoreRow(const PodQuery& query, const RowView& row) {
  const NodeTable& nodes = query.nodes();
  const auto& balanced = query.state<BalancedState>(slot()).balanced;
  absl::InlinedVector<int64_t, 4> requested;
  for (const Balanced& each : balanced) requested.push_back(row.Requested(nodes, each.id));
  Columns columns;
  for (size_t i = 0; i < balanced.size(); ++i) {
    columns.push_back(
        {nodes.allocatable(balanced[i].id) + row.row, &requested[i], balanced[i].amount});
  }
  int64_t score = 0;
  ScoreRows(columns, 1, &score);
  return score;
}

}  // namespace koord::scheduler
