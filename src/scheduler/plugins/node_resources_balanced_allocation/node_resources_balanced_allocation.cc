#include "scheduler/plugins/node_resources_balanced_allocation/node_resources_balanced_allocation.h"

#include <absl/container/inlined_vector.h>

#include <algorithm>
#include <cmath>

#include "base/hot.h"
#include "scheduler/scoring/to_double.h"

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

// The same for two resources, by far the most frequent case. The bits of all numbers together are
// returned: what is not below kToDoubleLimit was not exact.
KOORD_HOT int64_t ScorePairs(const int64_t* have_a, const int64_t* requested_a, int64_t more_a,
                             const int64_t* have_b, const int64_t* requested_b, int64_t more_b,
                             size_t n, int64_t* scores) {
  int64_t bits = 0;
  for (size_t i = 0; i < n; ++i) {
    const int64_t used_a = requested_a[i] + more_a;
    const int64_t used_b = requested_b[i] + more_b;
    bits |= have_a[i] | have_b[i] | used_a | used_b;
    const double a = ToDouble(used_a) / ToDouble(have_a[i] > 0 ? have_a[i] : 1);
    const double b = ToDouble(used_b) / ToDouble(have_b[i] > 0 ? have_b[i] : 1);
    const double half = ((a < 1 ? a : 1) - (b < 1 ? b : 1)) / 2;
    // With one of them alone there is nothing to deviate from.
    const double both = (have_a[i] > 0 ? 1.0 : 0.0) * (have_b[i] > 0 ? 1.0 : 0.0);
    const double deviation = std::abs(half) * both;
    scores[i] = static_cast<int32_t>((1 - deviation) * kMaxScore);
  }
  return bits;
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
  for (const Balanced& each : query.state<BalancedState>(slot()).balanced) {
    columns.push_back({nodes.allocatable(each.id) + rows.begin,
                       nodes.requested(each.id) + rows.begin, each.amount});
  }
  if (columns.size() == 2) {
    const Column& a = columns[0];
    const Column& b = columns[1];
    const int64_t bits = ScorePairs(a.allocatable, a.requested, a.more, b.allocatable, b.requested,
                                    b.more, rows.size(), scores);
    if (bits >= 0 && bits < kToDoubleLimit) return;
  }
  ScoreRows(columns, rows.size(), scores);
}

}  // namespace koord::scheduler
