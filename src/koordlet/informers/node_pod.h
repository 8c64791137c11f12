#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/cpu_annotations.h"
#include "api/koordlet_annotations.h"
#include "api/priority.h"
#include "api/qos.h"
#include "base/cpu_set.h"
#include "koordlet/host/cgroup_layout.h"
#include "kube/objects/pod.h"
#include "kube/objects/pod_resources.h"

namespace koord::koordlet {

struct NodeContainer {
  const kube::Container* spec = nullptr;          // points into the pod; null: not in the spec
  const kube::ContainerStatus* status = nullptr;  // points into the pod
  bool is_init = false;
  bool is_running = false;
  std::string id;  // as the runtime calls it; empty: not created yet
  CgroupDir dir;   // its cgroup; the root without an id
};

// A pod of this node with all that koordlet wants to know of it, worked out once per version of the
// object. What its author wrote into annotations has passed the node's policy (see PodPolicy):
// whoever uses it need not check it again.
struct NodePod {
  std::shared_ptr<const kube::Pod> pod;
  kube::PodQos kube_qos = kube::PodQos::kBestEffort;
  api::QosClass raw_qos = api::QosClass::kNone;       // what the label says
  api::QosClass qos = api::QosClass::kNone;           // the same, or by Kubernetes' class
  api::PriorityBand band = api::PriorityBand::kNone;  // with default
  bool is_active = false;                             // Pending or Running
  CgroupDir dir;                                      // its cgroup
  std::vector<NodeContainer> containers;  // by containerStatuses, then initContainerStatuses

  // Effective requests and limits of cpu (milli) and memory (bytes), and of the batch resources of
  // containers and sidecars; none: not stated at all.
  kube::ResourceList requests;
  kube::ResourceList limits;

  std::optional<api::ResourceStatus> resource_status;
  CpuSet cpuset;  // of resource_status
  std::optional<api::CpuBurstConfig> cpu_burst;
  std::optional<api::CpuQos> cpu_qos;
  std::optional<api::PodMemoryQos> memory_qos;

  const std::string& uid() const { return pod->metadata.uid; }
};

// Whether its containers may get more CPU for a while than their limits: best-effort pods and those
// bound to processors may not.
inline bool MayBurst(const NodePod& pod) {
  return pod.is_active && pod.raw_qos != api::QosClass::kLse &&
         pod.raw_qos != api::QosClass::kLsr && pod.raw_qos != api::QosClass::kBe;
}

using NodePods = std::vector<NodePod>;  // by namespace and name

}  // namespace koord::koordlet
