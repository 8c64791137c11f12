#include "scheduler/preemption/disruption_budgets.h"

#include <algorithm>

namespace koord::scheduler {
namespace {

constexpr DisruptionBudgets::Id kNothing = ~DisruptionBudgets::Id{0};
// Beyond this, shapes that are gone are forgotten with all others.
constexpr size_t kKnownShapes = 1 << 16;

bool HasSameSelector(const kube::PodDisruptionBudget& a, const kube::PodDisruptionBudget& b) {
  return a.metadata.name == b.metadata.name && a.metadata.ns == b.metadata.ns &&
         a.spec.selector == b.spec.selector;
}

}  // namespace

DisruptionBudgets::Budget::Budget(const kube::PodDisruptionBudget& object)
    : allowed(object.status.disruptions_allowed),
      disrupted(object.status.disrupted_pods.empty() ? nullptr : &object.status.disrupted_pods) {}

void DisruptionBudgets::Refresh() {
  if (seen_ == cache_.version()) return;
  seen_ = cache_.version();
  if (!FollowStatus()) Compile();
}

// False if anything but the status of budgets has changed.
bool DisruptionBudgets::FollowStatus() {
  if (objects_.size() != cache_.objects().size()) return false;
  size_t place = 0;
  for (const auto& [key, object] : cache_.objects()) {
    Ptr& known = objects_[place];
    const Id id = ids_[place++];
    if (known == object) continue;
    if (!HasSameSelector(*known, *object)) return false;
    known = object;
    if (id != kNothing) budgets_[id] = Budget(*object);
  }
  return true;
}

void DisruptionBudgets::Compile() {
  ++selectors_version_;
  objects_.clear();
  budgets_.clear();
  selectors_.clear();
  ids_.clear();
  guards_.clear();
  index_.Clear();
  for (const auto& [key, object] : cache_.objects()) {
    objects_.push_back(object);
    ids_.push_back(kNothing);
    if (!object->spec.selector) continue;
    auto selector = kube::LabelMatcher::From(*object->spec.selector);
    // An empty or unreadable selector protects nothing here.
    if (!selector.ok() || selector->empty()) continue;
    ids_.back() = static_cast<Id>(budgets_.size());
    budgets_.emplace_back(*object);
    selectors_.emplace_back(key.ns, std::move(*selector));
    index_.Add(ids_.back(), selectors_.back());
  }
}

std::span<const DisruptionBudgets::Id> DisruptionBudgets::GuardsOf(const PodShape& shape) {
  if (guards_.size() >= kKnownShapes) guards_.clear();
  const auto [at, is_new] = guards_.try_emplace(shape.id);
  std::vector<Id>& guards = at->second;
  if (is_new && !shape.labels().empty()) {
    static const NamespaceCache kNoNamespaces;
    index_.ForEachCandidate(shape.ns(), shape.labels(), [&](Id id) {
      if (selectors_[id].Matches(shape.ns(), shape.labels(), kNoNamespaces)) {
        guards.push_back(id);
      }
    });
    std::ranges::sort(guards);
  }
  return guards;
}

}  // namespace koord::scheduler
