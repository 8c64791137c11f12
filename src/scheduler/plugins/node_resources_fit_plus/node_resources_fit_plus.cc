#include "scheduler/plugins/node_resources_fit_plus/node_resources_fit_plus.h"

#include <absl/container/inlined_vector.h>

#include <algorithm>

namespace koord::scheduler {
namespace {

constexpr int64_t kDefaultMilliCpu = 100;
constexpr int64_t kDefaultMemory = 200 * 1024 * 1024;
// More than any node has: nothing would be free.
constexpr int64_t kTooMuch = int64_t{1} << 61;

struct Scored {
  ResourceId id;
  int64_t amount;
  Share share;
  int64_t weight;
};

struct FitPlusState final : PluginState {
  absl::InlinedVector<Scored, 4> scored;
};

int64_t AmountOf(const kube::Container& container, ResourceId id, std::string_view name) {
  const kube::ResourceList& requests = container.resources.requests;
  const auto found = requests.find(name);
  if (found != requests.end()) {
    return id == kCpuId ? found->second.MilliValue() : found->second.Value();
  }
  return id == kCpuId ? kDefaultMilliCpu : id == kMemoryId ? kDefaultMemory : 0;
}

// Unlike elsewhere, overhead is not counted, and of init containers each is compared with all that
// comes before it.
int64_t AmountOf(const kube::PodSpec& pod, ResourceId id, std::string_view name) {
  int64_t sum = 0;
  for (const kube::Container& container : pod.containers) sum += AmountOf(container, id, name);
  for (const kube::Container& container : pod.init_containers) {
    const int64_t amount = AmountOf(container, id, name);
    sum = IsSidecar(container) ? sum + amount : std::max(sum, amount);
  }
  return sum;
}

}  // namespace

NodeResourcesFitPlus::NodeResourcesFitPlus(const PluginContext& context,
                                           const NodeResourcesFitPlusArgs& args) {
  for (const auto& [name, strategy] : args.resources) {
    configured_.push_back({context.ledger.resources().Intern(name), name, strategy});
  }
}

std::unique_ptr<PluginState> NodeResourcesFitPlus::Compile(const PodShape& shape) {
  auto state = std::make_unique<FitPlusState>();
  for (const auto& [id, name, strategy] : configured_) {
    if (AmountOf(shape.requests, id) <= 0) continue;
    Scored scored{.id = id,
                  .amount = AmountOf(shape.spec(), id, name),
                  .share = Share::kFree,
                  .weight = std::max<int64_t>(strategy.weight, 0)};
    if (strategy.type == kMostAllocated) {
      scored.share = Share::kUsed;
    } else if (strategy.type != kLeastAllocated) {
      scored.amount = kTooMuch;  // a type that nobody knows scores 0
    }
    state->scored.push_back(scored);
  }
  return state;
}

void NodeResourcesFitPlus::Score(const PodQuery& query, RowRange rows, int64_t* scores) {
  const NodeTable& nodes = query.nodes();
  absl::InlinedVector<ShareTerm, 4> terms;
  for (const Scored& scored : query.state<FitPlusState>(slot()).scored) {
    terms.push_back(TermOf(nodes, scored.id, scored.amount, scored.share, scored.weight));
  }
  WeightedPercents({terms.data(), terms.size()}, Absent::kCountsAsZero, kMaxScore, rows, scores);
}

int64_t NodeResourcesFitPlus::ScoreRow(const PodQuery& query, const RowView& row) {
  const NodeTable& nodes = query.nodes();
  const auto& scored = query.state<FitPlusState>(slot()).scored;
  OneRowTerms terms(scored.size());
  for (const Scored& each : scored) {
    terms.Add(nodes.allocatable(each.id)[row.row], row.NonZeroRequested(nodes, each.id),
              each.amount, each.share, each.weight);
  }
  int64_t score = 0;
  WeightedPercents(terms.terms(), Absent::kCountsAsZero, kMaxScore, terms.row(), &score);
  return score;
}

}  // namespace koord::scheduler
