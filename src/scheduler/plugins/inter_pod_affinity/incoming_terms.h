#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "scheduler/cluster/pod_shape.h"
#include "scheduler/topology/pod_selector.h"

namespace koord::scheduler {

// A term of a pod that looks for a node.
struct IncomingTerm {
  PodSelector selector;
  std::string key;
  int32_t weight = 0;  // of preferred ones; negative for anti-affinity
};

// All affinity terms of a pod, in the order of its spec.
struct IncomingTerms {
  std::vector<IncomingTerm> required;
  std::vector<IncomingTerm> forbidden;
  std::vector<IncomingTerm> preferred;

  // Fails if a selector cannot be understood.
  static StatusOr<IncomingTerms> Of(const kube::Pod& pod);

  // The pod would do for all its required terms itself.
  bool RequiredMatch(const kube::Pod& pod, const NamespaceCache& namespaces) const;
};

}  // namespace koord::scheduler
