#include "scheduler/cluster/ledger.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "kube/objects/pod_resources.h"

namespace koord::scheduler {
namespace {

bool HasStatusResources(const kube::Pod& pod) {
  const auto has = [](const kube::ContainerStatus& status) { return status.resources.has_value(); };
  return std::ranges::any_of(pod.status.container_statuses, has) ||
         std::ranges::any_of(pod.status.init_container_statuses, has);
}

// Null where the node has put into effect what the spec asks for.
std::unique_ptr<const PodInfo::Resized> ResizedCharge(const kube::Pod& pod, const PodShape& shape,
                                                      ResourceNames& resources) {
  if (!HasStatusResources(pod)) return nullptr;
  constexpr auto kFrom = kube::RequestsFrom::kSpecAndStatus;
  const kube::ResourceList non_zero = kube::NonZeroPodRequests(pod, kFrom);
  PodInfo::Resized charge{.requests = resources.AmountsIn(kube::PodRequests(pod, kFrom)),
                          .non_zero_cpu = kube::AmountOf(non_zero, kube::kCpu).MilliValue(),
                          .non_zero_memory = kube::AmountOf(non_zero, kube::kMemory).Value()};
  DropZeros(charge.requests);
  if (charge.requests == shape.requests && charge.non_zero_cpu == shape.non_zero_cpu &&
      charge.non_zero_memory == shape.non_zero_memory) {
    return nullptr;
  }
  return std::make_unique<const PodInfo::Resized>(std::move(charge));
}

bool SameCharge(const PodInfo& pod, const PodInfo::Resized* resized) {
  if ((pod.resized == nullptr) != (resized == nullptr)) return false;
  return resized == nullptr || (pod.resized->requests == resized->requests &&
                                pod.resized->non_zero_cpu == resized->non_zero_cpu &&
                                pod.resized->non_zero_memory == resized->non_zero_memory);
}

}  // namespace

Ledger::Ledger() : shapes_(resources_), nodes_(resources_) {}

NodeRow Ledger::SetNode(std::shared_ptr<const kube::Node> node, NodeChanges* changes) {
  const NodeRow row = nodes_.RowFor(node->metadata.name);
  const bool is_new = !nodes_.IsLive(row);
  const NodeChanges what = nodes_.SetNode(row, std::move(node));
  if (changes != nullptr) *changes = what;
  for (LedgerListener* listener : listeners_) {
    if (is_new) {
      listener->OnNodeAdded(row);
    } else if (what.any()) {
      listener->OnNodeChanged(row, what);
    }
  }
  return row;
}

void Ledger::RemoveNode(std::string_view name) {
  const auto row = nodes_.Find(name);
  if (!row) return;
  for (LedgerListener* listener : listeners_) listener->OnNodeRemoved(*row);
  nodes_.ClearNode(*row);
  nodes_.FreeIfUnused(*row);
}

StatusOr<const PodInfo*> Ledger::Assume(std::shared_ptr<const kube::Pod> pod, ShapePtr shape,
                                        NodeRow row) {
  if (Find(pod->metadata.uid) != nullptr) {
    return FailedPrecondition("pod {}({}) is in the cache, so can't be assumed",
                              KeyOf(pod->metadata).ToString(), pod->metadata.uid);
  }
  return &Add(std::move(pod), std::move(shape), row, true);
}

PodInfo& Ledger::Add(std::shared_ptr<const kube::Pod> pod, ShapePtr shape, NodeRow row,
                     bool assumed) {
  auto info = std::make_unique<PodInfo>();
  info->resized = ResizedCharge(*pod, *shape, resources_);
  info->pod = std::move(pod);
  info->shape = std::move(shape);
  info->assumed = assumed;
  PodInfo& added = *info;
  pods_.emplace(added.uid(), std::move(info));
  assumed_ += assumed ? 1 : 0;
  nodes_.AddPod(added, row);
  for (LedgerListener* listener : listeners_) listener->OnPodAdded(added);
  return added;
}

void Ledger::Drop(StringMap<std::unique_ptr<PodInfo>>::iterator at) {
  PodInfo& pod = *at->second;
  const NodeRow row = pod.row;
  assumed_ -= pod.assumed ? 1 : 0;
  for (LedgerListener* listener : listeners_) listener->OnPodRemoved(pod);
  nodes_.RemovePod(pod);
  pods_.erase(at);
  nodes_.FreeIfUnused(row);
}

bool Ledger::Forget(std::string_view uid) {
  const auto at = pods_.find(uid);
  if (at == pods_.end() || !at->second->assumed) return false;
  Drop(at);
  return true;
}

void Ledger::SetPod(std::shared_ptr<const kube::Pod> pod) {
  ShapePtr shape = shapes_.Of(pod);
  const NodeRow row = nodes_.RowFor(pod->spec.node_name);
  if (const auto at = pods_.find(pod->metadata.uid); at != pods_.end()) {
    PodInfo& known = *at->second;
    const bool same = known.row == row && known.shape == shape &&
                      known.terminating() == IsBeingDeleted(pod->metadata) &&
                      SameCharge(known, ResizedCharge(*pod, *shape, resources_).get());
    if (same) {
      assumed_ -= known.assumed ? 1 : 0;
      known.assumed = false;
      known.pod = std::move(pod);
      for (LedgerListener* listener : listeners_) listener->OnPodRefreshed(known);
      return;
    }
    Drop(at);
  }
  // Dropping may have freed the row.
  Add(pod, std::move(shape), nodes_.RowFor(pod->spec.node_name), false);
}

bool Ledger::RemovePod(std::string_view uid) {
  const auto at = pods_.find(uid);
  if (at == pods_.end()) return false;
  Drop(at);
  return true;
}

const PodInfo* Ledger::Find(std::string_view uid) const {
  const auto at = pods_.find(uid);
  return at == pods_.end() ? nullptr : at->second.get();
}

std::string Ledger::Fingerprint() const {
  std::vector<std::string> lines;
  for (NodeRow row = 0; row < nodes_.rows(); ++row) {
    if (nodes_.name(row).empty()) continue;
    std::vector<std::string> amounts;  // by name: ids differ between runs
    for (ResourceId id = 0; id < resources_.size(); ++id) {
      if (const int64_t amount = nodes_.requested(id)[row]; amount != 0) {
        amounts.push_back(fmt::format("{}={}", resources_.NameOf(id), amount));
      }
    }
    std::ranges::sort(amounts);
    lines.push_back(fmt::format("node {} live={} pods={} {} nonzero={}/{}", nodes_.name(row),
                                nodes_.IsLive(row), nodes_.pod_counts()[row],
                                fmt::join(amounts, " "), nodes_.non_zero_cpu()[row],
                                nodes_.non_zero_memory()[row]));
  }
  for (const auto& [uid, pod] : pods_) {
    lines.push_back(fmt::format("pod {} {} on {}", uid, KeyOf(pod->pod->metadata).ToString(),
                                nodes_.name(pod->row)));
  }
  std::ranges::sort(lines);
  return fmt::format("{}\n", fmt::join(lines, "\n"));
}

}  // namespace koord::scheduler
