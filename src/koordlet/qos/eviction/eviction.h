#pragma once
#include <absl/container/btree_map.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "koordlet/qos/framework/qos_strategy.h"

// How several reasons to evict are served by as few evictions as possible.
namespace koord::koordlet {

// By the names of resources: milli-cores and bytes. Names outlive the amounts (they are constants).
using Amounts = absl::btree_map<std::string_view, int64_t>;

struct Victim {
  const NodePod* pod = nullptr;
  Amounts frees;
};

// One reason to evict.
struct EvictionTask {
  // What is counted as freed: what pods really use, or what they have asked for.
  enum class Counts : uint8_t { kUsed, kRequested };

  std::string_view feature;  // the gate's name
  Counts counts = Counts::kUsed;
  Amounts release;
  std::vector<Victim> victims;  // in this order
};

// Evicts until every task has what it wants or no victims any more. A pod that leaves counts for
// all tasks at once, and for each resource once. Returns the uids of pods that were told to go just
// now.
std::vector<std::string> Evict(std::span<const EvictionTask> tasks, PodEvictor& evictor);

// Lets evictions take effect before anybody counts again.
class CoolTime {
 public:
  CoolTime(Duration span, const Clock& clock, const PodEvictor& evictor)
      : span_(span), clock_(clock), evictor_(evictor) {}

  // From now on, as after an eviction.
  void Start(std::vector<std::string> evicted = {});
  // Evictions that were all refused free nothing, so that there is nothing to wait for.
  bool Over() const;

 private:
  const Duration span_;
  const Clock& clock_;
  const PodEvictor& evictor_;
  std::vector<std::string> evicted_;
  std::optional<SteadyTime> since_;
};

}  // namespace koord::koordlet
