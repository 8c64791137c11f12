#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "kube/objects/namespace.h"
#include "kube/objects/pod_affinity.h"
#include "kube/selectors.h"
#include "scheduler/cluster/object_cache.h"

namespace koord::scheduler {

using NamespaceCache = ObjectCache<kube::Namespace>;

// Most selectors ask for one namespace and for some label to have one value. Pods and selectors are
// filed under these, by their hash: what is found in a place may still not match.
using LabelPlaceId = uint64_t;
inline constexpr std::string_view kAnywhere = "*";  // instead of a namespace
LabelPlaceId LabelPlace(std::string_view ns, std::string_view key, std::string_view value);

// All places of a pod: visit(place), for every selector that matches it exactly one of them.
template <class Visit>
void ForEachLabelPlace(std::string_view ns, const kube::Labels& labels, Visit visit) {
  for (const std::string_view where : {ns, kAnywhere}) {
    visit(LabelPlace(where, "", ""));
    for (const auto& [key, value] : labels) visit(LabelPlace(where, key, value));
  }
}

// Which pods a term or a constraint is about: those of some namespaces whose labels match.
class PodSelector {
 public:
  // The pods of one namespace; without a matcher none of them.
  PodSelector(std::string ns, std::optional<kube::LabelMatcher> labels);
  // What an affinity term of a pod in this namespace means.
  static StatusOr<PodSelector> Of(const kube::PodAffinityTerm& term,
                                  const std::string& owner_namespace);

  // A namespace that is not known has no labels.
  bool Matches(const std::string& ns, const kube::Labels& labels,
               const NamespaceCache& namespaces) const;
  // What it matches may change with the labels of a namespace.
  bool reads_namespaces() const { return namespace_labels_ && !namespace_labels_->empty(); }

  // The same text for selectors that say the same.
  const std::string& key() const { return key_; }

  // The places that its pods are in: visit(place). No pod is in two of them.
  template <class Visit>
  void ForEachPlace(Visit visit) const {
    if (!labels_) return;
    const auto [key, value] = RequiredLabel();
    if (namespace_labels_) return visit(LabelPlace(kAnywhere, key, value));
    for (const std::string& ns : namespaces_) visit(LabelPlace(ns, key, value));
  }

 private:
  // A label that all its pods have, and its value; "" if there is none.
  std::pair<std::string_view, std::string_view> RequiredLabel() const;

  PodSelector(std::vector<std::string> namespaces,
              std::optional<kube::LabelMatcher> namespace_labels,
              std::optional<kube::LabelMatcher> labels);

  std::vector<std::string> namespaces_;  // sorted
  std::optional<kube::LabelMatcher> namespace_labels_;
  std::optional<kube::LabelMatcher> labels_;
  std::string key_;
};

// Finds the few of many selectors that may match a pod.
class SelectorIndex {
 public:
  void Add(uint32_t id, const PodSelector& selector) {
    selector.ForEachPlace([&](LabelPlaceId place) { ids_[place].push_back(id); });
  }
  void Clear() { ids_.clear(); }

  // visit(id) for every selector that matches, and some that do not; each at most once.
  template <class Visit>
  void ForEachCandidate(std::string_view ns, const kube::Labels& labels, Visit visit) const {
    if (ids_.empty()) return;
    ForEachLabelPlace(ns, labels, [&](LabelPlaceId place) {
      const auto found = ids_.find(place);
      if (found == ids_.end()) return;
      for (const uint32_t id : found->second) visit(id);
    });
  }

 private:
  absl::flat_hash_map<LabelPlaceId, std::vector<uint32_t>> ids_;
};

}  // namespace koord::scheduler
