#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/string_map.h"
#include "scheduler/cluster/node_table.h"
#include "scheduler/topology/pod_selector.h"

namespace koord::scheduler {

using GroupId = uint32_t;

// The affinity terms of the pods that run, grouped: the pods of a workload have the same terms, so
// whether a term means an incoming pod is asked once for all of them.
class TermGroups {
 public:
  struct Group {
    PodSelector selector;
    LabelPtr key;
    bool forbids = false;                             // required anti-affinity
    int64_t weight = 0;                               // of all others: what it is worth to be near
    absl::flat_hash_map<NodeRow, int32_t> rows = {};  // where how many pods have the term
    uint32_t shapes = 0;                              // that have it
    std::string content = {};
  };
  // A pod with a term came or went.
  struct Change {
    GroupId group;
    NodeRow row;
    int32_t by;
  };

  // Required affinity of pods that run counts with this weight; not at all if 0.
  TermGroups(const NodeTable& nodes, int32_t hard_affinity_weight);

  void Add(const PodInfo& pod) { Book(pod, 1); }
  void Remove(const PodInfo& pod) { Book(pod, -1); }

  // The terms of a pod that need not run; one that it has twice is there twice. Known groups keep
  // their ids.
  std::span<const GroupId> GroupsOf(const PodShape& shape);

  const std::vector<Group>& groups() const { return groups_; }
  const SelectorIndex& selectors() const { return selectors_; }
  // Moves when ids get another meaning.
  uint64_t generation() const { return generation_; }
  // Some group's selector depends on the labels of namespaces.
  bool read_namespaces() const { return read_namespaces_; }

  uint64_t log_end() const { return log_start_ + log_.size(); }
  bool Remembers(uint64_t position) const { return position >= log_start_; }
  std::span<const Change> ChangesSince(uint64_t position) const {
    return std::span(log_).subspan(position - log_start_);
  }

 private:
  struct ShapeTerms {
    std::vector<GroupId> groups;
    size_t pods = 0;
  };

  void Book(const PodInfo& pod, int sign);
  ShapeTerms& TermsOf(const PodShape& shape);
  void AddTerm(ShapeTerms& terms, const PodShape& shape, const kube::PodAffinityTerm& term,
               bool forbids, int64_t weight);
  void ReleaseGroups(const ShapeTerms& terms);
  void Log(const Change& change);
  void Compact();

  const NodeTable& nodes_;
  const int32_t hard_affinity_weight_;
  absl::flat_hash_map<uint32_t, ShapeTerms> shapes_;  // by shape id
  std::vector<Group> groups_;
  StringMap<GroupId> by_content_;
  SelectorIndex selectors_;
  size_t unused_groups_ = 0;
  size_t idle_shapes_ = 0;  // known, but no pod of theirs runs
  uint64_t generation_ = 1;
  bool read_namespaces_ = false;
  std::vector<Change> log_;
  uint64_t log_start_ = 0;
};

}  // namespace koord::scheduler
