#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/cpu_set.h"
#include "base/known_problems.h"
#include "base/metrics/metrics.h"
#include "koordlet/informers/node_pod.h"
#include "koordlet/informers/pod_filter.h"

// What a pod's author may ask of a node agent that acts as root.
namespace koord::koordlet {

struct TrustPolicy {
  // Believe whatever pods say, as upstream does.
  bool trust_pod_authors = false;
  // QoS classes ("LSE", "SYSTEM") that only pods of these namespaces may have; pods of others are
  // taken for what Kubernetes' class makes them. Classes that are not listed are open to all.
  std::map<std::string, std::vector<std::string>, std::less<>> class_namespaces;
  // Larger values of annotations are not looked at, nor kept in memory, whoever is trusted.
  size_t max_annotation_bytes = PodBudget::kAnnotation;
  // Pods that may have cache and bandwidth classes of their own: processors have 4 to 16 in all.
  int max_resctrl_pods = 4;
  int max_resctrl_pods_per_namespace = 2;
  // Values below what the kubelet gives a pod's class protect it from the OOM killer.
  bool allow_lower_oom_score = false;
};

// Whether pods of a class may have CPUs of their own: LSE and LSR ones, guaranteed ones without a
// label, and where the node binds all pods also LS ones.
bool MayHaveCpus(api::QosClass label, kube::PodQos kube_qos, bool node_binds_all_pods);

// What the node grants at most.
struct PodBounds {
  std::string node_name = {};  // pods of others are not ours; empty: not known
  CpuSet cpus;                 // empty: not known yet, nothing is refused for it
  CpuSet kept_cpus = {};       // of these, which nobody gets by an annotation
  bool binds_all_pods = false;
  api::CpuBurstConfig cpu_burst;  // of the NodeSLO; what is unset bounds nothing

  bool operator==(const PodBounds&) const = default;
};

// Takes from pods what their authors may not have, and says so once for each pod and key.
//
// - resource-status: CPUs only for LSE and LSR pods (and LS ones where the node binds all), only
//   CPUs that the node has and grants, and only those that no pod before it has.
// - cpuBurst: percentages and period at most those of the NodeSLO. Whether to burst at all is the
//   pod's own choice.
// - memoryQOS: percentages from 0 to 100 and everything else in the range of its file, so that a
//   pod protects no more memory than it has requested.
// - cpuQOS: an identity that the kernel knows.
class PodPolicy {
 public:
  // `registry` may be null.
  explicit PodPolicy(TrustPolicy trust, metrics::Registry* registry = nullptr);

  const TrustPolicy& trust() const { return trust_; }

  // Drops annotations that are too large; the same pod if there are none.
  std::shared_ptr<const kube::Pod> Slim(std::shared_ptr<const kube::Pod> pod);
  bool MayHaveClass(const kube::Pod& pod, api::QosClass qos) const;
  // Of a pod whose annotations have been read. What is refused is as if it were not there.
  void Enforce(const PodBounds& bounds, NodePod& pod);

  // Lets each CPU have one owner, the oldest pod that names it.
  void GrantCpus(const PodBounds& bounds, std::vector<NodePod>& pods);

  // Counts and logs something that was refused or cut down; also for those who read further
  // annotations themselves.
  void Report(const kube::Pod& pod, std::string_view key, std::string_view what);

 private:
  void RefuseCpus(NodePod& pod, std::string_view problem);
  void CheckResourceStatus(const PodBounds& bounds, NodePod& pod);
  void CheckCpuBurst(const PodBounds& bounds, NodePod& pod);
  void CheckCpuQos(NodePod& pod);
  void CheckMemoryQos(NodePod& pod);

  const TrustPolicy trust_;
  metrics::Counters* refused_ = nullptr;
  KnownProblems known_problems_;
};

}  // namespace koord::koordlet
