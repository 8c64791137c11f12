#include "scheduler/pipeline/needs_columns.h"

#include <algorithm>
#include <limits>

#include "base/hot.h"

namespace koord::scheduler {
namespace {

// Never used up, and safe to add to.
constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max() / 4;

KOORD_HOT void Subtract(const int64_t* have, const int64_t* taken, int64_t need, size_t n,
                        int64_t* __restrict left) {
  for (size_t i = 0; i < n; ++i) left[i] = have[i] - taken[i] - need;
}

}  // namespace

const RowNeeds* NeedsColumns::Refresh(const PodQuery& query, std::span<const uint8_t> skipped,
                                      std::string_view uid) {
  const bool transformed = std::ranges::any_of(
      plan_.profile.filter_transformers,
      [&](FilterTransformer* each) { return !each->TransformedRows(query).empty(); });
  if (transformed) {
    position_.reset();
    return nullptr;
  }
  const bool sorted_anew = SortFilters(query, skipped);
  const auto changed = position_ && !sorted_anew ? nodes_.ChangedSince(*position_) : std::nullopt;
  position_ = nodes_.log_end();
  if (changed) {
    Resize();
    for (const NodeRow row : *changed) SetRow(query, row, "");
  } else {
    Rebuild(query);
  }
  if (own_ && *own_ < nodes_.rows()) SetRow(query, *own_, "");
  own_ = nodes_.Find(nominated_.NodeOf(uid));
  if (own_) SetRow(query, *own_, uid);
  return &needs_;
}

// Whether any filter is another kind than before.
bool NeedsColumns::SortFilters(const PodQuery& query, std::span<const uint8_t> skipped) {
  std::vector<FilterPlugin*> podless;
  std::vector<FilterPlugin*> measures;
  needs_.complete = true;
  for (FilterPlugin* filter : plan_.profile.filter) {
    if (skipped[filter->slot()]) continue;
    switch (filter->Reads(query)) {
      case FilterPlugin::PodsRead::kNone:
        if (!filter->wide()) podless.push_back(filter);
        break;
      case FilterPlugin::PodsRead::kRoom:
        measures.push_back(filter);
        break;
      case FilterPlugin::PodsRead::kAny:
        needs_.complete = false;
    }
  }
  const bool anew = podless != podless_ || measures != measures_;
  podless_ = std::move(podless);
  measures_ = std::move(measures);
  return anew;
}

void NeedsColumns::Resize() {
  const size_t rows = nodes_.rows();
  needs_.suits.resize(rows, 0);
  needs_.places_left.resize(rows, 0);
  needs_.shared.resize(rows, 0);
  for (RowNeeds::Room& room : needs_.room) room.left.resize(rows, 0);
}

void NeedsColumns::Rebuild(const PodQuery& query) {
  amounts_.clear();
  for (FilterPlugin* filter : measures_) {
    for (const ResourceAmount& each : filter->RoomFor(query)) amounts_.push_back(each);
  }
  needs_.room.resize(amounts_.size());
  Resize();
  const size_t rows = nodes_.rows();
  std::copy_n(nodes_.live(), rows, needs_.suits.begin());
  for (FilterPlugin* filter : podless_) filter->Filter(query, nodes_.all(), needs_.suits.data());
  for (size_t i = 0; i < amounts_.size(); ++i) {
    const auto [id, amount] = amounts_[i];
    needs_.room[i].id = id;
    Subtract(nodes_.allocatable(id), nodes_.requested(id), amount, rows,
             needs_.room[i].left.data());
  }
  if (measures_.empty()) {
    std::ranges::fill(needs_.places_left, kUnlimited);
  } else {
    Subtract(nodes_.allocatable_pods(), nodes_.pod_counts(), 1, rows, needs_.places_left.data());
  }
  std::ranges::fill(needs_.shared, 0);
  nodes_.ForEachSharing([&](NodeRow row) { needs_.shared[row] = 1; });
  for (const NodeRow row : nominated_.rows()) SetRoom(query, row, "");
}

void NeedsColumns::SetRow(const PodQuery& query, NodeRow row, std::string_view uid) {
  uint8_t suits = nodes_.live()[row];
  for (FilterPlugin* filter : podless_) {
    if (suits) filter->Filter(query, RowRange::Only(row), &suits);
  }
  needs_.suits[row] = suits;
  needs_.shared[row] = nodes_.sharing(row) != nullptr ? 1 : 0;
  SetRoom(query, row, uid);
}

void NeedsColumns::SetRoom(const PodQuery& query, NodeRow row, std::string_view uid) {
  const std::vector<const PodInfo*> promised = nominated_.On(row, query.shape().priority, uid);
  for (size_t i = 0; i < amounts_.size(); ++i) {
    const auto [id, amount] = amounts_[i];
    int64_t taken = 0;
    for (const PodInfo* pod : promised) taken += AmountOf(pod->requests(), id);
    // The pod must fit with them and without.
    needs_.room[i].left[row] = nodes_.allocatable(id)[row] - nodes_.requested(id)[row] - amount -
                               std::max<int64_t>(0, taken);
  }
  if (measures_.empty()) {
    needs_.places_left[row] = kUnlimited;
    return;
  }
  needs_.places_left[row] = nodes_.allocatable_pods()[row] - nodes_.pod_counts()[row] - 1 -
                            static_cast<int64_t>(promised.size());
}

}  // namespace koord::scheduler
