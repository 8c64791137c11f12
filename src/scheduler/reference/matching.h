#pragma once
#include "scheduler/reference/plain_cluster.h"

// Which nodes a pod may be on at all; or beside whom; several rules ask.
namespace koord::scheduler::reference {

// Its nodeSelector and its required node affinity.
bool MatchesRequiredNodes(const PlainPod& pod, const PlainNode& node);
bool MatchesSelector(const kube::NodeSelector& selector, const PlainNode& node);
bool IsTolerated(const std::vector<kube::Toleration>& tolerations, const kube::Taint& taint);
// Of effect NoSchedule or NoExecute.
bool HasUntoleratedTaint(const PlainPod& pod, const PlainNode& node);
// Both cannot be on one node because of the ports that they use there.
bool PortsConflict(const PlainPod& a, const PlainPod& b);

}  // namespace koord::scheduler::reference
