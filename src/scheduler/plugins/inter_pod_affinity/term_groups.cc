#include "scheduler/plugins/inter_pod_affinity/term_groups.h"

#include <fmt/format.h>

#include <algorithm>

namespace koord::scheduler {
namespace {

constexpr size_t kLongestLog = 16384;
constexpr size_t kUnusedAllowed = 256;

}  // namespace

TermGroups::TermGroups(const NodeTable& nodes, int32_t hard_affinity_weight)
    : nodes_(nodes), hard_affinity_weight_(hard_affinity_weight) {
  for (NodeRow row{0}; row < nodes.rows(); ++row) {
    for (const PodInfo* pod : nodes.pods(row)) Add(*pod);
  }
}

void TermGroups::Book(const PodInfo& pod, int sign) {
  if (!pod.shape->has_pod_affinity) return;
  if (idle_shapes_ > kUnusedAllowed) Compact();
  ShapeTerms& terms = TermsOf(*pod.shape);
  for (const GroupId id : terms.groups) {
    auto& rows = groups_[id].rows;
    const auto at = rows.try_emplace(pod.row, 0).first;
    at->second += sign;
    if (at->second == 0) rows.erase(at);
    Log({id, pod.row, sign});
  }
  if (terms.pods == 0) --idle_shapes_;
  terms.pods += static_cast<size_t>(sign);
  if (terms.pods != 0) return;
  ReleaseGroups(terms);
  shapes_.erase(pod.shape->id);
  if (unused_groups_ > std::max(kUnusedAllowed, groups_.size() / 2)) Compact();
}

std::span<const GroupId> TermGroups::GroupsOf(const PodShape& shape) {
  if (!shape.has_pod_affinity) return {};
  return TermsOf(shape).groups;
}

TermGroups::ShapeTerms& TermGroups::TermsOf(const PodShape& shape) {
  const auto found = shapes_.find(shape.id);
  if (found != shapes_.end()) return found->second;
  ++idle_shapes_;
  ShapeTerms& terms = shapes_[shape.id];
  const kube::Affinity& affinity = *shape.spec().affinity;
  if (const auto& near = affinity.pod_affinity) {
    if (hard_affinity_weight_ != 0) {
      for (const auto& term : near->required) {
        AddTerm(terms, shape, term, false, hard_affinity_weight_);
      }
    }
    for (const auto& each : near->preferred) {
      AddTerm(terms, shape, each.pod_affinity_term, false, each.weight);
    }
  }
  if (const auto& apart = affinity.pod_anti_affinity) {
    for (const auto& term : apart->required) AddTerm(terms, shape, term, true, 0);
    for (const auto& each : apart->preferred) {
      AddTerm(terms, shape, each.pod_affinity_term, false, -int64_t{each.weight});
    }
  }
  return terms;
}

// A term that makes no sense means no pod.
void TermGroups::AddTerm(ShapeTerms& terms, const PodShape& shape,
                         const kube::PodAffinityTerm& term, bool forbids, int64_t weight) {
  StatusOr<PodSelector> selector = PodSelector::Of(term, shape.ns());
  if (!selector.ok()) return;
  std::string content = fmt::format("{} {} {}\n{}", forbids ? "forbids" : "prefers", weight,
                                    term.topology_key, selector->key());
  const auto [at, is_new] = by_content_.try_emplace(content, static_cast<GroupId>(groups_.size()));
  const GroupId id = at->second;
  if (is_new) {
    read_namespaces_ = read_namespaces_ || selector->reads_namespaces();
    selectors_.Add(id, *selector);
    groups_.push_back({.selector = *std::move(selector),
                       .key = nodes_.Label(term.topology_key),
                       .forbids = forbids,
                       .weight = weight,
                       .content = std::move(content)});
  } else if (groups_[id].shapes == 0) {
    --unused_groups_;
  }
  ++groups_[id].shapes;
  terms.groups.push_back(id);
}

void TermGroups::ReleaseGroups(const ShapeTerms& terms) {
  for (const GroupId id : terms.groups) {
    if (--groups_[id].shapes == 0) ++unused_groups_;
  }
}

void TermGroups::Log(const Change& change) {
  if (log_.size() >= kLongestLog) {
    constexpr size_t kDropped = kLongestLog / 2;
    log_.erase(log_.begin(), log_.begin() + kDropped);
    log_start_ += kDropped;
  }
  log_.push_back(change);
}

// Forgets shapes without pods and groups without shapes; the others get new numbers.
void TermGroups::Compact() {
  absl::erase_if(shapes_, [&](const auto& entry) {
    if (entry.second.pods != 0) return false;
    ReleaseGroups(entry.second);
    return true;
  });
  std::vector<GroupId> moved_to(groups_.size());
  std::vector<Group> used;
  for (GroupId id = 0; id < groups_.size(); ++id) {
    if (groups_[id].shapes == 0) continue;
    moved_to[id] = static_cast<GroupId>(used.size());
    used.push_back(std::move(groups_[id]));
  }
  for (auto& [id, terms] : shapes_) {
    for (GroupId& group : terms.groups) group = moved_to[group];
  }
  groups_ = std::move(used);
  by_content_.clear();
  selectors_.Clear();
  read_namespaces_ = false;
  for (GroupId id = 0; id < groups_.size(); ++id) {
    by_content_.emplace(groups_[id].content, id);
    selectors_.Add(id, groups_[id].selector);
    read_namespaces_ = read_namespaces_ || groups_[id].selector.reads_namespaces();
  }
  unused_groups_ = idle_shapes_ = 0;
  log_start_ = log_end();
  log_.clear();
  ++generation_;
}

}  // namespace koord::scheduler
