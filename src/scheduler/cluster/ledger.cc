#include "scheduler/cluster/ledger.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

#include "base/log.h"
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
  PodInfo::Resized charge;
  charge.requests = resources.AmountsIn(kube::PodRequests(pod, kFrom), charge.names);
  charge.non_zero_cpu = kube::AmountOf(non_zero, kube::kCpu).MilliValue();
  charge.non_zero_memory = kube::AmountOf(non_zero, kube::kMemory).Value();
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

bool Same(const Holdings* a, const Holdings* b) {
  return a == nullptr || b == nullptr ? a == b : *a == *b;
}

}  // namespace

Ledger::Ledger() : shapes_(resources_), nodes_(resources_) {}

NodeRow Ledger::SetNode(std::shared_ptr<const kube::Node> node, NodeChanges* changes) {
  EnsureNoSavepoint();
  const std::string& name = node->metadata.name;
  const auto known = nodes_.Find(name);
  const NodeRow row = known ? *known : nodes_.AddRow(name);
  const NodeChanges what = nodes_.SetNode(row, node);
  if (changes != nullptr) *changes = what;
  for (LedgerListener* listener : listeners_) {
    if (!known) {
      listener->OnNodeAdded(row);
    } else if (what.any()) {
      listener->OnNodeChanged(row, what);
    }
  }
  if (!known) ChargeThoseSetAsideFor(name, row);
  return row;
}

void Ledger::RemoveNode(std::string_view name) {
  EnsureNoSavepoint();
  const auto row = nodes_.Find(name);
  if (!row) return;
  while (!nodes_.pods(*row).empty()) {
    PodInfo& pod = *pods_.find(nodes_.pods(*row).back()->uid())->second;
    Release(pod);
    SetAside(pod, nodes_.name(*row));
  }
  for (LedgerListener* listener : listeners_) listener->OnNodeRemoved(*row);
  nodes_.RemoveNode(*row);
}

// ---- Pods and the room that they hold

void Ledger::Charge(PodInfo& pod, NodeRow row) {
  nodes_.AddPod(pod, row);
  for (LedgerListener* listener : listeners_) listener->OnPodAdded(pod);
}

void Ledger::Release(PodInfo& pod) {
  for (LedgerListener* listener : listeners_) listener->OnPodRemoved(pod);
  nodes_.RemovePod(pod);
}

void Ledger::SetAside(PodInfo& pod, const std::string& node) {
  std::vector<PodInfo*>& others = set_aside_[node];
  pod.missing_node = std::make_unique<const std::string>(node);
  pod.place = static_cast<uint32_t>(others.size());
  others.push_back(&pod);
  for (LedgerListener* listener : listeners_) listener->OnPodSetAside(pod);
}

void Ledger::TakeBack(PodInfo& pod) {
  for (LedgerListener* listener : listeners_) listener->OnPodTakenBack(pod);
  const auto at = set_aside_.find(*pod.missing_node);
  std::vector<PodInfo*>& others = at->second;
  others[pod.place] = others.back();
  others[pod.place]->place = pod.place;
  others.pop_back();
  if (others.empty()) set_aside_.erase(at);
  pod.missing_node.reset();
}

void Ledger::ChargeThoseSetAsideFor(const std::string& node, NodeRow row) {
  const auto at = set_aside_.find(node);
  if (at == set_aside_.end()) return;
  const std::vector<PodInfo*> pods = std::move(at->second);
  set_aside_.erase(at);
  for (PodInfo* pod : pods) {
    for (LedgerListener* listener : listeners_) listener->OnPodTakenBack(*pod);
    pod->missing_node.reset();
    Charge(*pod, row);
  }
}

StatusOr<const PodInfo*> Ledger::Assume(std::shared_ptr<const kube::Pod> pod, ShapePtr shape,
                                        NodeRow row, std::unique_ptr<Holdings> held) {
  if (Find(pod->metadata.uid) != nullptr) {
    return FailedPrecondition("pod {}({}) is in the cache, so can't be assumed",
                              KeyOf(pod->metadata).ToString(), pod->metadata.uid);
  }
  if (Reserves(*pod)) {
    if (held == nullptr) held = std::make_unique<Holdings>();
    held->reserves = ReservedBy(*pod);
  }
  if (held != nullptr) Normalize(*held);
  if (held != nullptr && held->empty()) held.reset();
  return &Add(std::move(pod), std::move(shape), nodes_.name(row), std::move(held), true);
}

PodInfo& Ledger::Add(std::shared_ptr<const kube::Pod> pod, ShapePtr shape, const std::string& node,
                     std::unique_ptr<const Holdings> held, bool assumed) {
  auto info = std::make_unique<PodInfo>();
  info->resized = ResizedCharge(*pod, *shape, resources_);
  info->pod = std::move(pod);
  info->shape = std::move(shape);
  info->held = std::move(held);
  info->assumed = assumed;
  if (savepoints_ != 0) undo_.push_back({.added = info->uid()});
  return Put(std::move(info), node);
}

PodInfo& Ledger::Put(std::unique_ptr<PodInfo> info, const std::string& node) {
  PodInfo& added = *info;
  pods_.emplace(added.uid(), std::move(info));
  assumed_ += added.assumed ? 1 : 0;
  if (const auto row = nodes_.Find(node)) {
    Charge(added, *row);
  } else {
    SetAside(added, node);
  }
  return added;
}

void Ledger::Drop(Pods::iterator at) {
  if (savepoints_ == 0) {
    Take(at);
    return;
  }
  Undo step{.node = NodeOf(*at->second), .place = at->second->place};
  step.removed = Take(at);
  undo_.push_back(std::move(step));
}

std::unique_ptr<PodInfo> Ledger::Take(Pods::iterator at) {
  PodInfo& pod = *at->second;
  assumed_ -= pod.assumed ? 1 : 0;
  pod.missing_node ? TakeBack(pod) : Release(pod);
  std::unique_ptr<PodInfo> taken = std::move(at->second);
  pods_.erase(at);
  return taken;
}

// What is true of the cluster would be taken back with what was only tried.
void Ledger::EnsureNoSavepoint() const {
  if (savepoints_ != 0) std::abort();
}

void Ledger::RollBack(const Savepoint& savepoint) {
  while (undo_.size() > savepoint.steps) UndoLast();
  savepoints_ = savepoint.depth;
}

void Ledger::Keep(const Savepoint& savepoint) {
  savepoints_ = savepoint.depth;
  if (savepoints_ == 0) undo_.clear();
}

void Ledger::UndoLast() {
  Undo step = std::move(undo_.back());
  undo_.pop_back();
  if (step.removed == nullptr) {
    Take(pods_.find(step.added));
  } else {
    PodInfo& pod = Put(std::move(step.removed), step.node);
    if (!pod.missing_node) nodes_.MovePod(pod, step.place);
  }
}

bool Ledger::Forget(std::string_view uid) {
  const auto at = pods_.find(uid);
  if (at == pods_.end() || !at->second->assumed) return false;
  Drop(at);
  return true;
}

const std::string& Ledger::NodeOf(const PodInfo& pod) const {
  return pod.missing_node ? *pod.missing_node : nodes_.name(pod.row);
}

// What makes no sense is said when it is new.
std::unique_ptr<Holdings> Ledger::ReadHoldings(const kube::Pod& pod, const PodInfo* known) {
  std::vector<std::string> problems;
  std::unique_ptr<Holdings> held = HoldingsOf(pod, resources_, problems);
  if (known != nullptr && SayTheSame(*known->pod, pod)) return held;
  for (const std::string& problem : problems) {
    LOG_WARNING("What a pod was given is not understood and counts for nothing",
                {"pod", KeyOf(pod.metadata).ToString()}, {"annotation", problem});
  }
  return held;
}

bool Ledger::IsSame(const PodInfo& known, const kube::Pod& pod, const ShapePtr& shape,
                    const Holdings* held) {
  return NodeOf(known) == pod.spec.node_name && known.shape == shape &&
         Same(known.held.get(), held) && known.terminating() == IsBeingDeleted(pod.metadata) &&
         SameCharge(known, ResizedCharge(pod, *shape, resources_).get());
}

void Ledger::SetPod(std::shared_ptr<const kube::Pod> pod) {
  EnsureNoSavepoint();
  ShapePtr shape = shapes_.Of(pod);
  const auto at = pods_.find(pod->metadata.uid);
  std::unique_ptr<Holdings> held =
      ReadHoldings(*pod, at == pods_.end() ? nullptr : at->second.get());
  if (at != pods_.end()) {
    PodInfo& known = *at->second;
    if (IsSame(known, *pod, shape, held.get())) {
      assumed_ -= known.assumed ? 1 : 0;
      known.assumed = false;
      known.pod = std::move(pod);
      if (known.missing_node) return;
      for (LedgerListener* listener : listeners_) listener->OnPodRefreshed(known);
      return;
    }
    Drop(at);
  }
  const std::string& node = pod->spec.node_name;
  Add(pod, std::move(shape), node, std::move(held), false);
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
  for (NodeRow row{0}; row < nodes_.rows(); ++row) {
    if (!nodes_.IsLive(row)) continue;
    std::vector<std::string> amounts;  // by name: ids differ between runs
    for (ResourceId id = 0; id < resources_.size(); ++id) {
      if (const int64_t amount = nodes_.requested(id)[row]; amount != 0) {
        amounts.push_back(fmt::format("{}={}", resources_.NameOf(id), amount));
      }
    }
    std::ranges::sort(amounts);
    lines.push_back(fmt::format("node {} pods={} {} nonzero={}/{}", nodes_.name(row),
                                nodes_.pod_counts()[row], fmt::join(amounts, " "),
                                nodes_.non_zero_cpu()[row], nodes_.non_zero_memory()[row]));
  }
  for (const auto& [uid, pod] : pods_) {
    lines.push_back(fmt::format("pod {} {} on {}{}", uid, KeyOf(pod->pod->metadata).ToString(),
                                NodeOf(*pod), pod->missing_node ? ", which is missing" : ""));
    if (pod->held != nullptr) {
      lines.back() += fmt::format(", holds {}", ToString(*pod->held, resources_));
    }
  }
  std::ranges::sort(lines);
  return fmt::format("{}\n", fmt::join(lines, "\n"));
}

}  // namespace koord::scheduler
