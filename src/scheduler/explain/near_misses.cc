#include "scheduler/explain/near_misses.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"

namespace koord::scheduler {
namespace {

// More than these would not be read, nor tried in a reasonable time.
constexpr size_t kNamedLacks = 20;
constexpr int kTriedNodes = 32;

constexpr std::string_view kInsufficient = "Insufficient ";
constexpr std::string_view kTooManyPods = "Too many pods";

// "node(s) had no available disk" -> "had no available disk"
std::string AboutOneNode(std::string_view reason) {
  constexpr std::string_view kNodes = "node(s) ";
  return std::string(reason.starts_with(kNodes) ? reason.substr(kNodes.size()) : reason);
}

// A node with one of these is in trouble: no pod gets better by going there all the same.
bool MarksTrouble(const kube::Taint& taint) { return taint.key.starts_with("node.kubernetes.io/"); }

}  // namespace

NearMisses::NearMisses(Scheduler& scheduler, Pipeline& pipeline, const Scheduler::PodPtr& pod,
                       ShapePtr shape, const PodInfo* held)
    : scheduler_(scheduler),
      pipeline_(pipeline),
      nodes_(scheduler.ledger().nodes()),
      pod_(pod),
      shape_(std::move(shape)),
      held_(held) {
  CompiledQuery& query = pipeline_.QueryFor(shape_);
  for (NodeRow row{0}; row < nodes_.rows(); ++row) {
    if (!nodes_.IsLive(row)) continue;
    Miss miss = Look(query, row);
    if (miss.distance > 0) misses_.push_back(std::move(miss));
  }
  std::ranges::stable_sort(misses_, {}, &Miss::distance);
}

// Without the pod itself, if that is where it is.
RowDelta NearMisses::DeltaOf(NodeRow row) const {
  RowDelta delta;
  if (held_ != nullptr && held_->row == row) delta.removed.push_back(held_);
  return delta;
}

NearMisses::Miss NearMisses::Look(CompiledQuery& query, NodeRow row) const {
  Miss miss{.row = row, .edits = std::vector<PodEdit>()};
  const RowDelta own = DeltaOf(row);
  const RowView view{row, own.empty() ? nullptr : &own};
  for (const RowDiagnosis& rejection : query.Rejections(view, pod_->metadata.uid)) {
    std::vector<std::string> reasons;
    for (const ReasonId id : rejection.verdict.reasons) {
      scheduler_.reasons().ForEachText(id,
                                       [&](std::string_view text) { reasons.emplace_back(text); });
    }
    const std::string_view plugin = pipeline_.profile().NameOfSlot(rejection.plugin);
    if (plugin == "NodeResourcesFit") {
      LookAtRoom(reasons, view, miss);
    } else {
      LookAtOthers(plugin, reasons, view, miss);
    }
  }
  return miss;
}

void NearMisses::LookAtRoom(const std::vector<std::string>& reasons, const RowView& row,
                            Miss& miss) const {
  const ResourceNames& names = scheduler_.ledger().resources();
  for (const std::string& reason : reasons) {
    if (reason == kTooManyPods) {
      miss.too_many_pods = true;
      miss.distance += 1;
    } else if (reason.starts_with(kInsufficient)) {
      const std::string resource = reason.substr(kInsufficient.size());
      const auto id = names.Find(resource);
      if (!id) continue;
      const int64_t wanted = AmountOf(shape_->requests, *id);
      const int64_t left = nodes_.allocatable(*id)[row.row] - row.Requested(nodes_, *id);
      miss.lacks.push_back({resource, wanted - left, wanted});
      miss.distance +=
          static_cast<double>(wanted - left) / static_cast<double>(std::max<int64_t>(wanted, 1));
    }
  }
}

void NearMisses::LookAtOthers(std::string_view plugin, const std::vector<std::string>& reasons,
                              const RowView& row, Miss& miss) const {
  const kube::Node& node = nodes_.node(row.row);
  for (const std::string& reason : reasons) {
    if (plugin == "TaintToleration") {
      for (const kube::Taint& taint : node.spec.taints) {
        if (kube::FindUntolerated({&taint, 1}, pod_->spec.tolerations) == nullptr) continue;
        if (taint.key == kube::kTaintNodeUnschedulable && node.spec.unschedulable) continue;
        miss.others.push_back(fmt::format("has the taint {}", TaintText(taint)));
        miss.distance += 1;
      }
    } else {
      miss.others.push_back(plugin == "NodeUnschedulable" ? "is cordoned" : AboutOneNode(reason));
      miss.distance += 1;
    }
    if (plugin == "LoadAwareScheduling") {
      miss.busy = BusyResource(reason);
      if (miss.busy) continue;
    }
    std::vector<PodEdit> edits = EditsFor(plugin, reason, row);
    if (edits.empty()) {
      miss.edits.reset();
    } else if (miss.edits) {
      std::ranges::move(edits, std::back_inserter(*miss.edits));
    }
  }
}

std::optional<std::string> NearMisses::BusyResource(std::string_view reason) const {
  const std::string used = AboutOneNode(reason);  // "cpu usage exceed threshold"
  if (used.find("usage exceed threshold") == used.npos) return {};
  const std::string resource = used.substr(0, used.find(' '));
  const ResourceNames& names = scheduler_.ledger().resources();
  for (const std::string& asked :
       {resource, "kubernetes.io/batch-" + resource, "kubernetes.io/mid-" + resource}) {
    const auto id = names.Find(asked);
    if (id && AmountOf(shape_->requests, *id) > 0) return asked;
  }
  return {};
}

std::vector<PodEdit> NearMisses::EditsFor(std::string_view plugin, std::string_view reason,
                                          const RowView& row) const {
  const kube::Node& node = nodes_.node(row.row);
  std::vector<PodEdit> edits;
  if (plugin == "NodeUnschedulable") {
    edits.push_back(Uncordon(node.metadata.name));
  } else if (plugin == "TaintToleration") {
    for (const kube::Taint& taint : node.spec.taints) {
      if (kube::FindUntolerated({&taint, 1}, pod_->spec.tolerations) == nullptr) continue;
      if (taint.key == kube::kTaintNodeUnschedulable && node.spec.unschedulable) {
        edits.push_back(Uncordon(node.metadata.name));
      } else if (MarksTrouble(taint)) {
        return {};
      } else {
        edits.push_back(Tolerate(taint));
      }
    }
  } else if (plugin == "NodeAffinity" && reason.find("Pod's") != std::string_view::npos) {
    edits = LoosenNodeAffinity(*pod_, node);
  } else if (plugin == "NodePorts") {
    for (const HostPort& port : shape_->host_ports) {
      bool taken = false;
      row.ForEachPod(nodes_, [&](const PodInfo& pod) {
        taken = taken || std::ranges::any_of(pod.shape->host_ports, [&](const HostPort& other) {
                  return Conflict(port, other);
                });
      });
      if (taken) edits.push_back(GiveUpHostPort(port));
    }
  } else if (plugin == "PodTopologySpread") {
    edits = LoosenSpreading(*pod_);
  } else if (plugin == "InterPodAffinity") {
    if (reason == "node(s) didn't match pod affinity rules") {
      edits.push_back(DropRequiredPodAffinity());
    } else if (reason == "node(s) didn't match pod anti-affinity rules") {
      edits.push_back(DropRequiredPodAntiAffinity());
    }
  }
  return edits;
}

std::string NearMisses::Describe(const Miss& miss) const {
  std::vector<std::string> lacks;
  if (miss.too_many_pods) lacks.emplace_back("room for another pod");
  for (const Lack& lack : miss.lacks) {
    if (lacks.size() == kNamedLacks) {
      lacks.push_back(fmt::format("{} more", miss.lacks.size() - kNamedLacks));
      break;
    }
    lacks.push_back(fmt::format(
        "{} {}", AmountText(lack.resource, RoundedUp(lack.resource, lack.missing)), lack.resource));
  }
  std::vector<std::string> parts;
  if (!lacks.empty()) parts.push_back(fmt::format("lacks {}", Join(lacks, " and ")));
  parts.insert(parts.end(), miss.others.begin(), miss.others.end());
  return fmt::format("{} {}", nodes_.name(miss.row), Join(parts, ", "));
}

std::vector<Explanation::NearMiss> NearMisses::Nearest(size_t count) const {
  std::vector<Explanation::NearMiss> nearest;
  for (const Miss& miss : misses_) {
    if (nearest.size() == count) break;
    Explanation::NearMiss& near = nearest.emplace_back();
    near.node = nodes_.name(miss.row);
    if (miss.too_many_pods) near.lacks.emplace("pods", "1");
    for (const Lack& lack : miss.lacks) {
      near.lacks.emplace(lack.resource,
                         AmountText(lack.resource, RoundedUp(lack.resource, lack.missing)));
    }
    near.others = miss.others;
    near.text = Describe(miss);
  }
  return nearest;
}

// ---- What would help

bool NearMisses::Fits(const std::vector<PodEdit>& edits, NodeRow row, RowDelta delta) const {
  auto edited = std::make_shared<kube::Pod>(*pod_);
  for (const PodEdit& edit : edits) edit.apply(*edited);
  const ShapePtr shape = scheduler_.ShapeOf(edited);
  return pipeline_.Fits(*edited, shape, {row, delta.empty() ? nullptr : &delta});
}

std::optional<std::vector<PodEdit>> NearMisses::EditsOf(const Miss& miss) const {
  if (miss.too_many_pods || !miss.edits) return {};
  std::vector<PodEdit> edits;
  for (const Lack& lack : miss.lacks) {
    if (lack.resource == miss.busy) continue;  // by how much is found out by trying
    auto lower =
        LowerRequest(*pod_, lack.resource, RoundedDown(lack.resource, lack.wanted - lack.missing));
    if (!lower) return {};
    edits.push_back(*std::move(lower));
  }
  // A cordon may stand in the way twice, as a taint too.
  for (const PodEdit& edit : *miss.edits) {
    if (std::ranges::find(edits, edit.text, &PodEdit::text) == edits.end()) edits.push_back(edit);
  }
  return edits;
}

std::optional<PodEdit> NearMisses::LowerUntilItFits(const Miss& miss,
                                                    const std::vector<PodEdit>& edits) const {
  const std::string& resource = *miss.busy;
  const auto lack = std::ranges::find(miss.lacks, resource, &Lack::resource);
  int64_t too_little = 0;
  int64_t too_much =
      lack != miss.lacks.end()
          ? lack->wanted - lack->missing + 1
          : AmountOf(shape_->requests, *scheduler_.ledger().resources().Find(resource));
  const RowDelta own = DeltaOf(miss.row);
  std::optional<PodEdit> most;
  while (too_much - too_little > 1) {
    const int64_t middle = too_little + (too_much - too_little) / 2;
    auto lower = LowerRequestAndLimit(*pod_, resource, RoundedDown(resource, middle));
    std::vector<PodEdit> all = edits;
    if (lower) all.push_back(*lower);
    const bool fits = lower && Fits(all, miss.row, own);
    (fits || !lower ? too_little : too_much) = middle;
    if (fits) most = std::move(lower);
  }
  return most;
}

std::optional<Explanation::Change> NearMisses::ChangeOfPod(const Miss& miss,
                                                           std::vector<PodEdit> edits) const {
  if (miss.busy) {
    auto lower = LowerUntilItFits(miss, edits);
    if (!lower) return {};
    edits.insert(edits.begin(), *std::move(lower));
  }
  const RowDelta own = DeltaOf(miss.row);
  if (!Fits(edits, miss.row, own)) return {};
  for (size_t i = 0; i < edits.size() && edits.size() > 1;) {
    std::vector<PodEdit> fewer = edits;
    fewer.erase(fewer.begin() + static_cast<ptrdiff_t>(i));
    if (Fits(fewer, miss.row, own)) {
      edits = std::move(fewer);
    } else {
      ++i;
    }
  }
  Explanation::Change change{.node = nodes_.name(miss.row), .edits = {}, .text = {}};
  for (const PodEdit& edit : edits) change.edits.push_back(edit.text);
  change.text = fmt::format("{}: then {} can take it", Join(change.edits, " and "), change.node);
  return change;
}

bool NearMisses::CanBeFreed(const Miss& miss) const {
  if (miss.too_many_pods || miss.lacks.empty() || !miss.others.empty()) return false;
  return std::ranges::all_of(miss.lacks, [&](const Lack& lack) {
    const ResourceId id = *scheduler_.ledger().resources().Find(lack.resource);
    return lack.wanted <= nodes_.allocatable(id)[miss.row];  // at least by the empty node
  });
}

std::optional<Explanation::Change> NearMisses::RoomToFree(const Miss& miss) const {
  RowDelta delta = DeltaOf(miss.row);
  Explanation::Change change{.node = nodes_.name(miss.row), .edits = {}, .text = {}};
  for (const Lack& lack : miss.lacks) {
    const ResourceId id = *scheduler_.ledger().resources().Find(lack.resource);
    const int64_t amount = RoundedUp(lack.resource, lack.missing);
    AddTo(delta.released, {{id, amount}});
    change.edits.push_back(
        fmt::format("free {} {}", AmountText(lack.resource, amount), lack.resource));
  }
  if (!Fits({}, miss.row, std::move(delta))) return {};
  change.text = fmt::format("{} on {}", Join(change.edits, " and "), change.node);
  return change;
}

std::vector<Explanation::Change> NearMisses::SmallestChanges() const {
  std::optional<Explanation::Change> of_pod;
  std::optional<Explanation::Change> of_node;
  int tried_pods = 0;
  int tried_nodes = 0;
  // Nodes of which nothing can be hoped cost nothing, however many of them are the nearest.
  for (const Miss& miss : misses_) {
    if (!of_pod && tried_pods < kTriedNodes) {
      if (auto edits = EditsOf(miss)) {
        ++tried_pods;
        of_pod = ChangeOfPod(miss, *std::move(edits));
      }
    }
    if (!of_node && tried_nodes < kTriedNodes && CanBeFreed(miss)) {
      ++tried_nodes;
      of_node = RoomToFree(miss);
    }
  }
  std::vector<Explanation::Change> changes;
  if (of_pod) changes.push_back(*std::move(of_pod));
  if (of_node) changes.push_back(*std::move(of_node));
  return changes;
}

}  // namespace koord::scheduler
