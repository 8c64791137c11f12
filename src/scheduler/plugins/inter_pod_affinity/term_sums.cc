#include "scheduler/plugins/inter_pod_affinity/term_sums.h"

#include <algorithm>

namespace koord::scheduler {

void TermSums::Refresh(TermGroups& groups, const NamespaceCache& namespaces,
                       const PodQuery& query) {
  const NodeTable& nodes = query.nodes();
  if (generation_ != groups.generation() || topology_version_ != nodes.topology_version() ||
      !groups.Remembers(position_) ||
      (groups.read_namespaces() && namespaces_version_ != namespaces.version())) {
    Rebuild(groups, nodes, namespaces);
  } else {
    FollowGroups(groups, namespaces);
  }
  if (absent_version_ != query.absent_version()) FollowAbsent(groups, query);
}

void TermSums::FollowGroups(const TermGroups& groups, const NamespaceCache& namespaces) {
  for (const auto& [id, row, by] : groups.ChangesSince(position_)) {
    if (const int key = KeyOf(id); key >= 0) {
      Add(groups.groups()[id], keys_[static_cast<size_t>(key)], row, by);
    }
  }
  position_ = groups.log_end();
  // New groups come with all that they hold by now.
  for (size_t id = places_.size(); id < groups.groups().size(); ++id) {
    AddGroup(static_cast<GroupId>(id), groups.groups()[id], namespaces);
  }
}

void TermSums::FollowAbsent(TermGroups& groups, const PodQuery& query) {
  const auto add = [&](GroupId id, NodeRow row, int32_t by) {
    const int key = KeyOf(id);
    if (key >= 0) Add(groups.groups()[id], keys_[static_cast<size_t>(key)], row, by);
  };
  for (const auto& [id, row] : std::exchange(taken_off_, {})) add(id, row, 1);
  for (const PodInfo* pod : query.absent_pods()) {
    if (!pod->shape->has_pod_affinity) continue;
    for (const GroupId id : groups.GroupsOf(*pod->shape)) {
      taken_off_.emplace_back(id, pod->row);
      add(id, pod->row, -1);
    }
  }
  absent_version_ = query.absent_version();
}

void TermSums::Rebuild(const TermGroups& groups, const NodeTable& nodes,
                       const NamespaceCache& namespaces) {
  absent_version_.reset();
  taken_off_.clear();
  generation_ = groups.generation();
  topology_version_ = nodes.topology_version();
  namespaces_version_ = namespaces.version();
  position_ = groups.log_end();
  keys_.clear();
  places_.clear();
  forbidden_values_ = worth_terms_ = 0;
  ++version_;
  std::vector<GroupId> candidates;
  groups.selectors().ForEachCandidate(pod_.ns(), pod_.labels(),
                                      [&](GroupId id) { candidates.push_back(id); });
  for (const GroupId id : candidates) AddGroup(id, groups.groups()[id], namespaces);
  places_.resize(groups.groups().size(), 0);
}

void TermSums::AddGroup(GroupId id, const TermGroups::Group& group,
                        const NamespaceCache& namespaces) {
  if (places_.size() <= id) places_.resize(id + 1, 0);
  if (!group.forbids && !weighs_) return;
  if (!group.selector.Matches(pod_.ns(), pod_.labels(), namespaces)) return;
  const size_t place = PlaceOf(group.key);
  places_[id] = static_cast<uint32_t>(place + 1);
  for (const auto& [row, pods] : group.rows) Add(group, keys_[place], row, pods);
}

size_t TermSums::PlaceOf(const LabelPtr& column) {
  const auto found = std::ranges::find(keys_, column, &Key::column);
  if (found == keys_.end()) {
    keys_.push_back({.column = column,
                     .forbidding = std::vector<int32_t>(column->values(), 0),
                     .worth = std::vector<int64_t>(column->values(), 0)});
    return keys_.size() - 1;
  }
  return static_cast<size_t>(found - keys_.begin());
}

void TermSums::Add(const TermGroups::Group& group, Key& key, NodeRow row, int32_t by) {
  const ValueId value = key.column->At(row);
  if (value == kNoValue) return;
  if (!group.forbids) {
    key.worth[value] += group.weight * by;
    key.worth_terms += by;
    worth_terms_ += by;
    ++version_;
    return;
  }
  const int before = key.forbidding[value] != 0 ? 1 : 0;
  key.forbidding[value] += by;
  const int change = (key.forbidding[value] != 0 ? 1 : 0) - before;
  if (change == 0) return;
  key.forbidden_values += change;
  forbidden_values_ += change;
  ++version_;
}

}  // namespace koord::scheduler
