#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/objects/node.h"
#include "kube/objects/pod.h"
#include "scheduler/cluster/pod_shape.h"

// Changes to a pod that take away something that keeps it off a node. None of them is known to help
// before the filters have looked at the pod as it would be then.
namespace koord::scheduler {

struct PodEdit {
  std::string text;  // "lower the cpu request to 1500m"
  std::function<void(kube::Pod&)> apply;
};

// So that all of the pod's containers together ask for `to` (in milli-cores, else in units).
// Nothing if that would be nothing, or cannot be reached by asking for less.
std::optional<PodEdit> LowerRequest(const kube::Pod& pod, const std::string& resource, int64_t to);
// The same with limits that are no more than that, for those who go by limits.
std::optional<PodEdit> LowerRequestAndLimit(const kube::Pod& pod, const std::string& resource,
                                            int64_t to);
PodEdit Tolerate(const kube::Taint& taint);
// What the pod would be like if the node were not cordoned.
PodEdit Uncordon(const std::string& node);
// The pairs of its nodeSelector that the node does not have and, if that is not all, the rest of
// what it requires of nodes.
std::vector<PodEdit> LoosenNodeAffinity(const kube::Pod& pod, const kube::Node& node);
PodEdit GiveUpHostPort(const HostPort& port);
std::vector<PodEdit> LoosenSpreading(const kube::Pod& pod);
PodEdit DropRequiredPodAffinity();
PodEdit DropRequiredPodAntiAffinity();

// An amount as a person would write it.
std::string AmountText(std::string_view resource, int64_t amount);
// The nearest amount that is short to write, at most or at least this one: bytes in whole Mi.
int64_t RoundedDown(std::string_view resource, int64_t amount);
int64_t RoundedUp(std::string_view resource, int64_t amount);

// "key=value:NoSchedule"
std::string TaintText(const kube::Taint& taint);

}  // namespace koord::scheduler
