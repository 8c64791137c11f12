#pragma once
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "scheduler/framework/pod_query.h"
#include "scheduler/plugins/inter_pod_affinity/term_groups.h"

namespace koord::scheduler {

// What the terms of running pods mean for one incoming pod: per topology key and value, how many
// forbid it and what all others add up to. Follows the groups from where it last was. Terms of pods
// that are absent for the incoming one mean nothing to it.
class TermSums {
 public:
  struct Key {
    LabelPtr column;
    std::vector<int32_t> forbidding = {};  // by value
    std::vector<int64_t> worth = {};
    int64_t forbidden_values = 0;  // with a positive number
    int64_t worth_terms = 0;       // that the sums are made of
  };

  // `weighs`: terms that forbid nothing matter too.
  TermSums(const PodShape& pod, bool weighs) : pod_(pod), weighs_(weighs) {}

  void Refresh(TermGroups& groups, const NamespaceCache& namespaces, const PodQuery& query);

  const std::vector<Key>& keys() const { return keys_; }
  // Of a group that means the pod: the place of its key in keys(); -1 of others.
  int KeyOf(GroupId group) const {
    return group < places_.size() ? static_cast<int>(places_[group]) - 1 : -1;
  }
  bool forbids() const { return forbidden_values_ != 0; }
  bool weighs() const { return worth_terms_ != 0; }
  // Moves whenever the pod could be told something else of some row.
  uint64_t version() const { return version_; }

 private:
  void FollowGroups(const TermGroups& groups, const NamespaceCache& namespaces);
  void FollowAbsent(TermGroups& groups, const PodQuery& query);
  void Rebuild(const TermGroups& groups, const NodeTable& nodes, const NamespaceCache& namespaces);
  void AddGroup(GroupId id, const TermGroups::Group& group, const NamespaceCache& namespaces);
  void Add(const TermGroups::Group& group, Key& key, NodeRow row, int32_t by);
  size_t PlaceOf(const LabelPtr& column);

  const PodShape& pod_;
  const bool weighs_;
  uint64_t generation_ = 0;
  uint64_t topology_version_ = 0;
  uint64_t namespaces_version_ = 0;
  uint64_t position_ = 0;
  std::vector<uint32_t> places_;  // by group: 1 + the place of its key, 0: does not mean the pod
  std::vector<Key> keys_;
  std::optional<uint64_t> absent_version_;  // of those that are taken off; nothing: none yet
  std::vector<std::pair<GroupId, NodeRow>> taken_off_;
  int64_t forbidden_values_ = 0;
  int64_t worth_terms_ = 0;
  uint64_t version_ = 0;
};

}  // namespace koord::scheduler
