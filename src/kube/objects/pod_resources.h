#pragma once
#include <string_view>

#include "kube/objects/pod.h"

// How much a pod asks for, by Kubernetes' rules: its containers together, or the peak of its init
// containers if that is more; sidecars count with both; what is stated for the pod as a whole
// replaces that; overhead comes on top.
namespace koord::kube {

enum class RequestsFrom {
  kSpec,
  // Of a pod that runs: the most of what is asked for, promised and in effect, so that a container
  // that is being resized in place is never counted too low.
  kSpecAndStatus,
};

ResourceList PodRequests(const Pod& pod, RequestsFrom from = RequestsFrom::kSpec);

// The same with 100m of cpu and 200Mi of memory for each container that does not say what it needs:
// for spreading pods that ask for nothing.
ResourceList NonZeroPodRequests(const Pod& pod, RequestsFrom from = RequestsFrom::kSpec);

// The same with limits; overhead is added only to what is limited.
ResourceList PodLimits(const Pod& pod);

// Kubernetes' own classes; Koordinator's stand in api/qos.h.
enum class PodQos { kBestEffort, kBurstable, kGuaranteed };

std::string_view ToString(PodQos qos);
// What the status says, or what follows from cpu and memory where it says nothing.
PodQos PodQosOf(const Pod& pod);
PodQos ComputePodQos(const PodSpec& pod);

}  // namespace koord::kube
