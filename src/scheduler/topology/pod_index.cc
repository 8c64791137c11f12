#include "scheduler/topology/pod_index.h"

#include <algorithm>

namespace koord::scheduler {

bool PodCounter::Matches(const PodShape& pod, const NamespaceCache& namespaces) const {
  return std::ranges::all_of(selectors_, [&](const PodSelector& selector) {
    return selector.Matches(pod.ns(), pod.labels(), namespaces);
  });
}

bool PodCounter::reads_namespaces() const {
  return std::ranges::any_of(selectors_, &PodSelector::reads_namespaces);
}

void PodCounter::Add(NodeRow row, int32_t pods, int32_t terminating) {
  const auto at = rows_.try_emplace(row).first;
  at->second.all += pods;
  at->second.terminating += terminating;
  if (at->second.all == 0) rows_.erase(at);
  for (const auto& counts : counts_) counts->Add(row, pods, terminating);
}

void PodCounter::AddAll(const PodsByRow& rows, int sign) {
  for (const auto& [row, pods] : rows) Add(row, sign * pods.all, sign * pods.terminating);
}

PodIndex::PodIndex(const NodeTable& nodes, const NamespaceCache& namespaces)
    : nodes_(nodes), namespaces_(namespaces) {
  for (NodeRow row{0}; row < nodes.rows(); ++row) {
    for (const PodInfo* pod : nodes.pods(row)) Add(*pod);
  }
}

void PodIndex::Change(const PodInfo& pod, int sign) {
  ShapePods& shape = ShapeOf(pod);
  const int32_t terminating = pod.terminating() ? sign : 0;
  const auto at = shape.rows.try_emplace(pod.row).first;
  at->second.all += sign;
  at->second.terminating += terminating;
  if (at->second.all == 0) shape.rows.erase(at);
  for (PodCounter* counter : shape.counters) counter->Add(pod.row, sign, terminating);
  shape.pods += static_cast<size_t>(sign);
  if (shape.pods == 0) DropShape(shape);
}

PodIndex::ShapePods& PodIndex::ShapeOf(const PodInfo& pod) {
  std::unique_ptr<ShapePods>& slot = shapes_[pod.shape->id];
  if (slot != nullptr) return *slot;
  slot = std::make_unique<ShapePods>();
  ShapePods& shape = *slot;
  shape.shape = pod.shape;
  File(shape);
  selectors_.ForEachCandidate(pod.shape->ns(), pod.shape->labels(), [&](uint32_t id) {
    PodCounter& counter = *counters_[id];
    if (counter.Matches(*pod.shape, namespaces_)) shape.counters.push_back(&counter);
  });
  return shape;
}

void PodIndex::File(ShapePods& shape) {
  ForEachLabelPlace(shape.shape->ns(), shape.shape->labels(), [&](LabelPlaceId id) {
    Place& place = places_[id];
    place.push_back({&shape, shape.filed.size()});
    shape.filed.push_back({id, place.size() - 1});
  });
}

void PodIndex::Unfile(ShapePods& shape) {
  for (const auto& [id, position] : shape.filed) {
    const auto at = places_.find(id);
    Place& place = at->second;
    const FiledShape last = place.back();
    place[position] = last;
    last.shape->filed[last.filing].position = position;
    place.pop_back();
    if (place.empty()) places_.erase(at);
  }
}

void PodIndex::DropShape(ShapePods& shape) {
  Unfile(shape);
  shapes_.erase(shape.shape->id);
}

void PodIndex::NamespaceChanged(const std::string& ns) {
  const auto found = places_.find(LabelPlace(ns, "", ""));
  if (found == places_.end()) return;
  for (const auto& counter : counters_) {
    if (!counter->reads_namespaces()) continue;
    for (const auto& [shape, filing] : found->second) {
      const auto at = std::ranges::find(shape->counters, counter.get());
      const bool counted = at != shape->counters.end();
      if (counted == counter->Matches(*shape->shape, namespaces_)) continue;
      if (counted) {
        shape->counters.erase(at);
      } else {
        shape->counters.push_back(counter.get());
      }
      counter->AddAll(shape->rows, counted ? -1 : 1);
    }
  }
}

std::shared_ptr<DomainCounts> PodIndex::Counts(std::vector<PodSelector> selectors,
                                               CountingRule rule) {
  if (counts_ >= drop_at_) DropUnused();
  PodCounter& counter = CounterFor(std::move(selectors));
  for (const auto& counts : counter.counts_) {
    if (counts->rule() == rule) return counts;
  }
  ++counts_;
  return counter.counts_.emplace_back(
      std::make_shared<DomainCounts>(nodes_, counter, std::move(rule)));
}

bool PodIndex::Matches(const DomainCounts& counts, const PodShape& pod) const {
  const auto found = shapes_.find(pod.id);
  if (found == shapes_.end()) return counts.pods().Matches(pod, namespaces_);
  return std::ranges::find(found->second->counters, &counts.pods()) !=
         found->second->counters.end();
}

PodCounter& PodIndex::CounterFor(std::vector<PodSelector> selectors) {
  std::ranges::sort(selectors, {}, &PodSelector::key);
  std::string key;
  for (const PodSelector& selector : selectors) key += selector.key() + "\n";
  PodCounter*& known = counters_by_key_[key];
  if (known != nullptr) return *known;
  selectors_.Add(static_cast<uint32_t>(counters_.size()), selectors.front());
  known = counters_.emplace_back(std::make_unique<PodCounter>(std::move(selectors))).get();
  CountExisting(*known);
  return *known;
}

void PodIndex::CountExisting(PodCounter& counter) {
  counter.selectors_.front().ForEachPlace([&](LabelPlaceId id) {
    const auto found = places_.find(id);
    if (found == places_.end()) return;
    for (const auto& [shape, filing] : found->second) {
      // Two of its labels may share a place.
      if (!shape->counters.empty() && shape->counters.back() == &counter) continue;
      if (!counter.Matches(*shape->shape, namespaces_)) continue;
      shape->counters.push_back(&counter);
      counter.AddAll(shape->rows, 1);
    }
  });
}

void PodIndex::DropUnused() {
  for (const auto& counter : counters_) {
    std::erase_if(counter->counts_, [](const auto& counts) { return counts.use_count() == 1; });
  }
  const auto unused = [](const PodCounter* counter) { return counter->counts_.empty(); };
  for (const auto& [id, shape] : shapes_) {
    auto& counters = shape->counters;
    counters.erase(std::remove_if(counters.begin(), counters.end(), unused), counters.end());
  }
  absl::erase_if(counters_by_key_, [&](const auto& entry) { return unused(entry.second); });
  std::erase_if(counters_, [&](const auto& counter) { return unused(counter.get()); });
  selectors_.Clear();
  counts_ = 0;
  for (uint32_t id = 0; id < counters_.size(); ++id) {
    selectors_.Add(id, counters_[id]->selectors_.front());
    counts_ += counters_[id]->counts_.size();
  }
  drop_at_ = std::max<size_t>(256, 2 * counts_);
}

}  // namespace koord::scheduler
