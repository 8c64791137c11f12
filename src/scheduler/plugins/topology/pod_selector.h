#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "kube/objects/namespace.h"
#include "kube/objects/pod_affinity.h"
#include "kube/selectors.h"
#include "scheduler/framework/object_cache.h"

namespace koord::scheduler {

using NamespaceCache = ObjectCache<kube::Namespace>;

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

  // The only namespaces that it looks at; null if there may be others.
  const std::vector<std::string>* only_namespaces() const {
    return namespace_labels_ ? nullptr : &namespaces_;
  }

  // The same text for selectors that say the same.
  const std::string& key() const { return key_; }

 private:
  friend class SelectorIndex;

  PodSelector(std::vector<std::string> namespaces,
              std::optional<kube::LabelMatcher> namespace_labels,
              std::optional<kube::LabelMatcher> labels);

  std::vector<std::string> namespaces_;  // sorted
  std::optional<kube::LabelMatcher> namespace_labels_;
  std::optional<kube::LabelMatcher> labels_;
  std::string key_;
};

// Finds the few of many selectors that may match a pod: most ask for one namespace and for some
// label to have one value, and are filed under these.
class SelectorIndex {
 public:
  void Add(uint32_t id, const PodSelector& selector);
  void Clear() { ids_.clear(); }

  // visit(id) for every selector that matches, and some that do not; each at most once.
  template <class Visit>
  void ForEachCandidate(std::string_view ns, const kube::Labels& labels, Visit visit) const {
    if (ids_.empty()) return;
    const auto look = [&](uint64_t place) {
      const auto found = ids_.find(place);
      if (found == ids_.end()) return;
      for (const uint32_t id : found->second) visit(id);
    };
    for (const std::string_view where : {ns, kAnywhere}) {
      look(Place(where, "", ""));
      for (const auto& [key, value] : labels) look(Place(where, key, value));
    }
  }

 private:
  static constexpr std::string_view kAnywhere = "*";
  static uint64_t Place(std::string_view ns, std::string_view key, std::string_view value);

  absl::flat_hash_map<uint64_t, std::vector<uint32_t>> ids_;
};

}  // namespace koord::scheduler
