#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/numa/numa_mask.h"

// How those who know CPUs, memory and devices agree on NUMA nodes for a pod. Each provider says for
// each of its resources where it could be had; what they say is merged by the policy of the node or
// the pod.
namespace koord::model {

enum class NumaPolicy : uint8_t { kNone, kBestEffort, kRestricted, kSingleNumaNode };
// None for anything but the names that users write.
NumaPolicy ParseNumaPolicy(std::string_view text);
std::string_view ToString(NumaPolicy policy);  // "" for none

struct NumaHint {
  std::optional<NumaMask> mask;  // nothing: anywhere
  bool preferred = false;
  bool unsatisfied = false;
  int64_t score = 0;

  bool operator==(const NumaHint&) const = default;
};

// Where one resource of a pod could come from. Without hints: from nowhere.
struct ResourceHints {
  std::string resource;
  std::vector<NumaHint> hints;
};
// By ascending name. Nothing at all: the provider does not care.
using ProviderHints = std::vector<ResourceHints>;

// Prefers the hints with the fewest nodes; all of them where the policy rejects the others anyway.
void MarkPreferred(std::vector<NumaHint>& hints, NumaPolicy policy);

// Pods that want their NUMA nodes to themselves, or nearly so: a pod on one node does not share it
// with one that spans nodes, and the other way round.
struct NumaExclusivity {
  bool required = false;
  NumaMask single;  // nodes with pods that are on that node only,
  NumaMask shared;  // and with pods that span nodes

  bool Allows(const std::optional<NumaMask>& mask) const;
};

// What was agreed on.
struct NumaDecision {
  bool admitted = false;
  NumaHint best;
  std::vector<std::string> reasons;  // if not admitted
};

// `all`: the NUMA nodes of the machine.
NumaDecision MergeHints(NumaPolicy policy, NumaMask all, std::span<const ProviderHints> providers,
                        const NumaExclusivity& exclusivity);

}  // namespace koord::model
