#pragma once
#include "scheduler/core/scheduler.h"
#include "scheduler/explain/decision_log.h"
#include "scheduler/explain/explanation.h"

namespace koord::scheduler {

// Finds out where a pod stands and how every node looks to it. Takes about as long as placing a
// pod of a shape that was never seen, and changes nothing: the scheduler goes on as if nobody had
// asked. `pod` must be as the scheduler was told of it.
//
// A pod that has a node is looked at as if it were to be placed again: on its own node it does not
// stand in its own way, but scores count it there.
Explanation Explain(Scheduler& scheduler, const Scheduler::PodPtr& pod,
                    const DecisionLog* decisions = nullptr);

}  // namespace koord::scheduler
