#pragma once
#include <cstdint>
#include <vector>

#include "scheduler/cluster/holdings.h"
#include "scheduler/framework/plugin.h"

namespace koord::scheduler {

// What choosing among nodes looks at.
struct PreemptionCost {
  int violations = 0;            // of disruption budgets
  int32_t highest_priority = 0;  // of a victim
  int64_t priority_sum = 0;      // of (priority + 2^31)
  size_t victims = 0;
  // Of the victims with the highest priority, when the first of them started.
  WallTime earliest_start{};

  void Add(int32_t priority, WallTime start);
};

// Whether evicting for `a` is better than for `b`: fewer broken budgets, then less important
// victims, then less of them, then those that started last.
bool IsCheaper(const PreemptionCost& a, const PreemptionCost& b);
// Whether `a`, with any further victims, is worse than `b`.
bool StaysDearer(const PreemptionCost& a, const PreemptionCost& b);

// In which order nodes are preferred. Both must agree: what stays dearer is never cheaper.
struct PreemptionOrder {
  bool (*is_cheaper)(const PreemptionCost& a, const PreemptionCost& b) = &IsCheaper;
  bool (*stays_dearer)(const PreemptionCost& a, const PreemptionCost& b) = &StaysDearer;
};

// What a victim has to pass, besides the filters, to be spared: asked while victims are given back
// to a node one by one, in the order of their importance.
class ReprieveTest {
 public:
  virtual ~ReprieveTest() = default;

  virtual void Begin() = 0;                        // all potential victims of a node are gone
  virtual void Remove(const PodInfo& victim) = 0;  // each of them, after Begin
  // The filters let it come back. True: it is back; false: it has to go.
  virtual bool GiveBack(const PodInfo& victim) = 0;
};

// What the plugins that evict pods for others have rules of their own about. The default is what
// Kubernetes does.
class PreemptionRules {
 public:
  virtual ~PreemptionRules() = default;

  // The nodes that are worth trying. Default: those that rejected the pod for a reason that
  // evictions may cure.
  virtual std::vector<NodeRow> RowsToTry(const Diagnosis& diagnosis) const;

  // Whether a pod may be evicted at all, as long as its object stays. Overrides must ask this one
  // too: a Reservation is nobody's victim.
  virtual bool MayBeEvicted(const PodInfo& pod) const { return !IsReservePod(*pod.pod); }
  // Whether pods of a shape may evict only some of the less important pods: then each is asked
  // about.
  virtual bool IsChoosy(const PodShape& /*preemptor*/) const { return false; }
  virtual bool MayEvict(const PodShape& /*preemptor*/, const PodInfo& /*victim*/) const {
    return true;
  }
  // For pods of a shape; null: the filters decide alone. Good until the next call.
  virtual ReprieveTest* TestFor(const PodShape& /*preemptor*/) { return nullptr; }
  virtual PreemptionOrder order() const { return {}; }

  // As long as this stays, what was found out about a node by these rules stays true until the node
  // changes. 0: nothing is kept.
  virtual uint64_t VersionFor(const PodShape& /*preemptor*/) const { return 1; }
};

}  // namespace koord::scheduler
