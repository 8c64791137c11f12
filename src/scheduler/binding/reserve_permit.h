#pragma once
#include <vector>

#include "scheduler/binding/waiting_pods.h"
#include "scheduler/framework/plugin_lineup.h"

// The extension points between the choice of a node and the binding.
namespace koord::scheduler {

// Asks the Reserve plugins in order, until one fails. Whatever comes of it, RunUnreserve gives back
// what they have reserved.
Verdict RunReserve(const PluginLineup& profile, Attempt& attempt);
// All Reserve plugins, last first: also those that were not asked to reserve.
void RunUnreserve(const PluginLineup& profile, Attempt& attempt);

// Asks the Permit plugins in order, until one fails. On success, `waits` has those whose word the
// pod must wait for.
Verdict RunPermit(const PluginLineup& profile, Attempt& attempt,
                  std::vector<WaitingPods::Wait>& waits);

}  // namespace koord::scheduler
