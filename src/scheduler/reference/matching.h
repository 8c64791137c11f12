#pragma once
#include "scheduler/reference/plain_cluster.h"

// Which nodes a pod may be on at all; several rules ask.
namespace koord::scheduler::reference {

// Its nodeSelector and its required node affinity.
bool MatchesRequiredNodes(const PlainPod& pod, const PlainNode& node);
bool MatchesSelector(const kube::NodeSelector& selector, const PlainNode& node);
// Of effect NoSchedule or NoExecute.
bool HasUntoleratedTaint(const PlainPod& pod, const PlainNode& node);

}  // namespace koord::scheduler::reference
