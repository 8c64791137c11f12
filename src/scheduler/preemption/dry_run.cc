#include "scheduler/preemption/dry_run.h"

#include <absl/container/inlined_vector.h>

#include <algorithm>
#include <numeric>

namespace koord::scheduler {

PreemptionCost CostOf(std::span<const PodInfo* const> victims, int violations) {
  PreemptionCost cost{.violations = violations};
  for (const PodInfo* victim : victims) cost.Add(victim->shape->priority, StartOf(*victim->pod));
  return cost;
}

// ---- Trials: a row without its potential victims, to which they come back one by one

// Where room is all that matters.
class DryRuns::RoomTrial {
 public:
  RoomTrial(const RowNeeds& needs, NodeRow row, const Potential& potential,
            std::vector<std::vector<int64_t>>& buffers)
      : places_(needs.places_left[row] + static_cast<int64_t>(potential.size())) {
    for (size_t i = 0; i < needs.room.size(); ++i) {
      const int64_t* requests = potential.Requests(needs.room[i].id, buffers[i]);
      const int64_t left =
          std::accumulate(requests, requests + potential.size(), needs.room[i].left[row]);
      rooms_.push_back({requests, left});
    }
  }

  bool Fits() const {
    return places_ >= 0 &&
           std::ranges::all_of(rooms_, [](const Room& room) { return room.left >= 0; });
  }
  // Whether the pod still fits with this victim; then it is back.
  bool GiveBack(size_t victim) {
    bool fits = places_ >= 1;
    for (const Room& room : rooms_) fits &= room.requests[victim] <= room.left;
    if (!fits) return false;
    --places_;
    for (Room& room : rooms_) room.left -= room.requests[victim];
    return true;
  }
  // It has to go nevertheless.
  void TakeAway(size_t victim) {
    ++places_;
    for (Room& room : rooms_) room.left += room.requests[victim];
  }

 private:
  struct Room {
    const int64_t* requests;  // by potential victim
    int64_t left;
  };

  int64_t places_;
  absl::InlinedVector<Room, 4> rooms_;
};

// Where every filter is asked.
class DryRuns::FilterTrial {
 public:
  FilterTrial(PodQuery& query, SchedulerHandle& handle, NodeRow row, const Potential& potential)
      : query_(query), handle_(handle), row_(row), potential_(potential) {
    for (const Victim& victim : potential) delta_.removed.push_back(victim.pod);
  }

  bool Fits() { return Ask().ok(); }
  RowVerdict Ask() { return handle_.CheckRow(query_, {row_, &delta_}); }
  bool GiveBack(size_t victim) {
    const PodInfo* pod = potential_[victim].pod;
    std::erase(delta_.removed, pod);
    if (Fits()) return true;
    delta_.removed.push_back(pod);
    return false;
  }
  void TakeAway(size_t victim) { delta_.removed.push_back(potential_[victim].pod); }

 private:
  PodQuery& query_;
  SchedulerHandle& handle_;
  const NodeRow row_;
  const Potential& potential_;
  RowDelta delta_;
};

// ---- Runs

void DryRuns::Begin(PodQuery& query, SchedulerHandle& handle) {
  query_ = &query;
  handle_ = &handle;
  needs_ = handle.NeedsOf(query);
  lists_.Refresh(query);
  test_ = rules_.TestFor(query.shape());
  if (needs_ != nullptr) buffers_.resize(std::max(buffers_.size(), needs_->room.size()));
}

// Who cannot be given back, and what that costs.
class DryRuns::Evictions {
 public:
  explicit Evictions(std::vector<const PodInfo*>* victims) : victims_(victims) {}
  Evictions(const PreemptionCost* least, const PreemptionOrder& order)
      : least_(least), order_(order) {}

  // False: there is no need to look further.
  bool Add(const Victim& victim, bool violates) {
    trial_.cost.Add(victim.priority, victim.start);
    trial_.cost.violations += violates ? 1 : 0;
    if (victims_ != nullptr) victims_->push_back(victim.pod);
    trial_.is_part = least_ != nullptr && order_.stays_dearer(trial_.cost, *least_);
    return !trial_.is_part;
  }
  const Trial& trial() const { return trial_; }

 private:
  std::vector<const PodInfo*>* const victims_ = nullptr;
  const PreemptionCost* const least_ = nullptr;
  const PreemptionOrder order_ = {};
  Trial trial_;
};

void DryRuns::BeginTest(const Potential& potential) const {
  if (test_ == nullptr) return;
  test_->Begin();
  for (const Victim& victim : potential) test_->Remove(*victim.pod);
}

template <class Room>
bool DryRuns::GiveBack(Room& room, const Potential& potential, size_t victim,
                       bool& violates) const {
  if (!room.GiveBack(victim)) return false;
  if (test_ == nullptr || test_->GiveBack(*potential[victim].pod)) return true;
  room.TakeAway(victim);
  violates = false;
  return false;
}

template <class Room>
void DryRuns::Reprieve(Room& room, const Potential& potential, Evictions& evictions) const {
  BeginTest(potential);
  const uint8_t* violating = potential.violating();
  if (violating != nullptr) {
    for (size_t i = 0; i < potential.size(); ++i) {
      bool violates = true;
      if (!violating[i] || GiveBack(room, potential, i, violates)) continue;
      if (!evictions.Add(potential[i], violates)) return;
    }
  }
  for (size_t i = 0; i < potential.size(); ++i) {
    bool violates = false;
    if ((violating != nullptr && violating[i]) || GiveBack(room, potential, i, violates)) continue;
    if (!evictions.Add(potential[i], violates)) return;
  }
}

// Whether it helps.
bool DryRuns::TryWith(NodeRow row, Evictions& evictions) {
  if (needs_ != nullptr && !needs_->suits[row]) return false;
  const Potential potential = lists_.LessImportant(row);
  if (potential.empty()) return false;
  std::optional<RoomTrial> room;
  if (needs_ != nullptr && !room.emplace(*needs_, row, potential, buffers_).Fits()) return false;
  if (room && needs_->complete && !needs_->shared[row]) {
    Reprieve(*room, potential, evictions);
  } else {
    FilterTrial trial(*query_, *handle_, row, potential);
    if (!trial.Fits()) return false;
    Reprieve(trial, potential, evictions);
  }
  // Without victims it is not for lack of room: somebody has refused the node whom evictions do not
  // move.
  return evictions.trial().cost.victims != 0;
}

std::optional<DryRuns::Trial> DryRuns::Try(NodeRow row, const PreemptionCost* least) {
  Evictions evictions(least, order_);
  if (!TryWith(row, evictions)) return {};
  return evictions.trial();
}

std::vector<const PodInfo*> DryRuns::VictimsOn(NodeRow row) {
  std::vector<const PodInfo*> victims;
  Evictions evictions(&victims);
  TryWith(row, evictions);
  std::ranges::sort(victims,
                    [](const PodInfo* a, const PodInfo* b) { return IsMoreImportant(*a, *b); });
  return victims;
}

RowVerdict DryRuns::WhyNot(NodeRow row) {
  const Potential potential = lists_.LessImportant(row);
  if (potential.empty()) return RowVerdict::Unresolvable(no_victims_);
  RowVerdict verdict = FilterTrial(*query_, *handle_, row, potential).Ask();
  return verdict.ok() ? RowVerdict::Unresolvable(no_victims_) : verdict;
}

}  // namespace koord::scheduler
