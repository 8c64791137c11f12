#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/cpu_annotations.h"
#include "api/qos.h"
#include "koordlet/host/cgroup_layout.h"
#include "koordlet/host/limit.h"
#include "koordlet/informers/node_pod.h"
#include "koordlet/informers/pod_policy.h"
#include "kube/objects/pod.h"

// Pods and containers as hooks see them, wherever the news of them came from.
namespace koord::koordlet::hooks {

// Who asks: some answers differ, since only a runtime that is about to create a container can be
// told to leave something out.
enum class HookMode : uint8_t { kReconciler, kProxy, kNri };

// What is asked for by Kubernetes' own means; none: nothing is said.
struct OriginalResources {
  std::optional<int64_t> shares;
  std::optional<Limit> quota;
  std::optional<Limit> memory;
};

// Batch resources by container.
using BatchRequirements = std::map<std::string, kube::ResourceRequirements, std::less<>>;

// A pod, worked out once for each of its versions.
struct HookPod {
  HookMode mode = HookMode::kReconciler;
  std::string ns;
  std::string name;
  std::string uid;
  kube::Labels labels;
  kube::Annotations annotations;  // those with a meaning
  CgroupDir dir;                  // its cgroup
  kube::PodQos kube_qos = kube::PodQos::kBestEffort;
  api::QosClass label_qos = api::QosClass::kNone;  // what the label says, if it may

  // scheduling.koordinator.sh/resource-status; an error where it is malformed.
  StatusOr<std::optional<api::ResourceStatus>> resource_status =
      std::optional<api::ResourceStatus>();
  // Its CPUs, as long as the node's policy agrees to them (see CpusetGrants).
  std::optional<std::string> cpuset;

  // By the spec alone, which nobody changes once the pod is there: an annotation that repeats it
  // would let authors set their own limits.
  BatchRequirements batch;       // of those containers that count for the pod as a whole
  BatchRequirements init_batch;  // of init containers
  OriginalResources original;

  // Outside of the reconciler nobody knows the object.
  std::shared_ptr<const kube::Pod> object;

  // The class that conditions look at: with CPUs of its own, a pod without label counts as LSR.
  api::QosClass qos() const {
    return label_qos == api::QosClass::kNone && cpuset ? api::QosClass::kLsr : label_qos;
  }
  std::string key() const { return ns + '/' + name; }
};

struct HookContainer {
  const HookPod* pod = nullptr;
  std::string name;
  std::string id;  // as the runtime calls it; empty: not created yet
  CgroupDir dir;   // its cgroup; the root without an id
  bool is_sandbox = false;
  bool is_init = false;
  OriginalResources original;
  std::optional<kube::ResourceRequirements> batch;
};

// What another party says of a pod that is about to run.
struct SandboxDescription {
  HookMode mode = HookMode::kProxy;
  std::string ns;
  std::string name;
  std::string uid;
  kube::Labels labels;
  kube::Annotations annotations;
  std::string cgroup_parent;  // as the kubelet writes it, with or without slashes at its ends
};
struct ContainerDescription {
  std::string name;
  std::string id;
  OriginalResources original;
};

HookPod MakeHookPod(const NodePod& pod);
// Nobody has looked at these labels and annotations yet: `policy` says what counts. A runtime does
// not tell the spec; it is that of `known`, the pod as the kubelet lists it. Null: not listed yet,
// and then the reconciler sets what follows from the spec as soon as it is.
HookPod MakeHookPod(SandboxDescription description, PodPolicy& policy, const NodePod* known);

// The containers of `node_pod` that have a cgroup and may be touched: not those of sandboxed
// runtimes, nor any that the spec does not know.
std::vector<HookContainer> MakeHookContainers(const HookPod& pod, const NodePod& node_pod);
HookContainer MakeHookContainer(const HookPod& pod, ContainerDescription description,
                                const CgroupLayout& layout, std::string_view default_runtime);

// The kubelet's limit of CPU time for the pod as a whole: none unless every container has one.
std::optional<Limit> OriginalPodQuota(const kube::PodSpec& pod);

}  // namespace koord::koordlet::hooks
