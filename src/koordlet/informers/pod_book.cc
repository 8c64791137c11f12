#include "koordlet/informers/pod_book.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "api/extended_resources.h"
#include "api/keys.h"
#include "base/cpu_set.h"
#include "base/log.h"

namespace koord::koordlet {
namespace {

const kube::Container* FindContainer(const std::vector<kube::Container>& containers,
                                     std::string_view name) {
  const auto it = std::find_if(containers.begin(), containers.end(),
                               [&](const kube::Container& each) { return each.name == name; });
  return it == containers.end() ? nullptr : &*it;
}

// Without its runtime; also of runtimes whose cgroups we cannot find.
std::string BareId(std::string_view id) {
  const size_t at = id.find("://");
  return std::string(at == std::string_view::npos ? id : id.substr(at + 3));
}

void AddContainers(const std::vector<kube::ContainerStatus>& statuses,
                   const std::vector<kube::Container>& specs, bool is_init,
                   const CgroupLayout& layout, NodePod& pod) {
  for (const kube::ContainerStatus& status : statuses) {
    NodeContainer container;
    container.spec = FindContainer(specs, status.name);
    container.status = &status;
    container.is_init = is_init;
    container.is_running = status.state.running.has_value();
    container.id = BareId(status.container_id);
    if (!container.id.empty()) {
      StatusOr<CgroupDir> dir = layout.ContainerDir(pod.dir, status.container_id);
      if (dir.ok()) container.dir = *std::move(dir);
    }
    pod.containers.push_back(std::move(container));
  }
}

// Batch and mid resources count without the peak of init containers: that is how they are granted.
constexpr std::string_view kSummedResources[] = {api::kBatchCpu, api::kBatchMemory, api::kMidCpu,
                                                 api::kMidMemory};

void SumExtended(const kube::PodSpec& spec, kube::ResourceList kube::ResourceRequirements::*which,
                 kube::ResourceList& list) {
  for (std::string_view name : kSummedResources) {
    std::optional<kube::Quantity> sum;
    const auto add = [&](const kube::Container& container) {
      const kube::ResourceList& stated = container.resources.*which;
      const auto it = stated.find(name);
      if (it == stated.end() || it->second.Sign() <= 0) return;
      sum = sum ? *sum + it->second : it->second;
    };
    for (const kube::Container& each : spec.containers) add(each);
    for (const kube::Container& each : spec.init_containers) {
      if (kube::IsSidecar(each)) add(each);
    }
    const auto it = list.find(name);
    if (it != list.end()) list.erase(it);
    if (sum) list.emplace(name, *sum);
  }
}

// The annotation's content, or nothing where it is absent or bad.
template <class T>
std::optional<T> Readable(StatusOr<std::optional<T>> read, std::string_view key, const NodePod& pod,
                          PodPolicy* policy) {
  if (read.ok()) return *std::move(read);
  if (policy != nullptr) policy->Report(*pod.pod, key, Message(read.status()));
  return std::nullopt;
}

void ReadResourceStatus(NodePod& pod, PodPolicy* policy) {
  const kube::Annotations& annotations = pod.pod->metadata.annotations;
  pod.resource_status =
      Readable(api::ResourceStatusOf(annotations), api::kAnnotationResourceStatus, pod, policy);
  if (!pod.resource_status) return;
  StatusOr<CpuSet> cpus = CpuSet::Parse(pod.resource_status->cpuset);
  if (cpus.ok()) {
    pod.cpuset = *std::move(cpus);
    return;
  }
  if (policy != nullptr) {
    policy->Report(*pod.pod, api::kAnnotationResourceStatus,
                   fmt::format("cpuset: {}", Message(cpus.status())));
  }
  pod.resource_status->cpuset.clear();
}

void ReadAnnotations(NodePod& pod, PodPolicy* policy) {
  const kube::Annotations& annotations = pod.pod->metadata.annotations;
  ReadResourceStatus(pod, policy);
  pod.cpu_burst =
      Readable(api::CpuBurstConfigOf(annotations), api::kAnnotationCpuBurst, pod, policy);
  pod.cpu_qos = Readable(api::CpuQosOf(annotations), api::kAnnotationCpuQos, pod, policy);
  pod.memory_qos = Readable(api::MemoryQosOf(annotations), api::kAnnotationMemoryQos, pod, policy);
}

api::QosClass DefaultClass(kube::PodQos qos) {
  switch (qos) {
    case kube::PodQos::kGuaranteed:
      return api::QosClass::kLsr;
    case kube::PodQos::kBurstable:
      return api::QosClass::kLs;
    case kube::PodQos::kBestEffort:
      return api::QosClass::kBe;
  }
  return api::QosClass::kNone;
}

void Classify(NodePod& pod, PodPolicy* policy) {
  pod.kube_qos = kube::PodQosOf(*pod.pod);
  pod.raw_qos = api::RawQosClass(pod.pod->metadata.labels);
  if (policy != nullptr && !policy->MayHaveClass(*pod.pod, pod.raw_qos)) {
    policy->Report(*pod.pod, api::kLabelQosClass, "not for pods of this namespace");
    pod.raw_qos = api::QosClass::kNone;
  }
  pod.qos = pod.raw_qos != api::QosClass::kNone ? pod.raw_qos : DefaultClass(pod.kube_qos);
  pod.band = api::PriorityBandOf(*pod.pod);
  const std::string& phase = pod.pod->status.phase;
  pod.is_active = phase == "Pending" || phase == "Running";
}

// What becomes part of a path.
bool IsPlainName(std::string_view name) {
  const auto is_plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '_';
  };
  return !name.empty() && name.size() <= 128 && std::all_of(name.begin(), name.end(), is_plain);
}

// The kubelet names the cgroup of a static pod after the file that the pod comes from; its image in
// the API server has another uid.
std::string_view CgroupUid(const kube::Pod& pod) {
  const auto mirror = pod.metadata.annotations.find("kubernetes.io/config.mirror");
  if (mirror == pod.metadata.annotations.end() || !IsPlainName(mirror->second)) {
    return pod.metadata.uid;
  }
  const auto& owners = pod.metadata.owner_references;
  const bool of_node = std::any_of(owners.begin(), owners.end(),
                                   [](const auto& owner) { return owner.kind == "Node"; });
  return of_node ? std::string_view(mirror->second) : pod.metadata.uid;
}

}  // namespace

NodePod MakeNodePod(std::shared_ptr<const kube::Pod> source, const CgroupLayout& layout,
                    PodPolicy* policy, const PodBounds& bounds) {
  NodePod pod;
  pod.pod = policy != nullptr ? policy->Slim(std::move(source)) : std::move(source);
  Classify(pod, policy);
  pod.dir = layout.PodDir(pod.kube_qos, CgroupUid(*pod.pod));
  const kube::PodSpec& spec = pod.pod->spec;
  AddContainers(pod.pod->status.container_statuses, spec.containers, false, layout, pod);
  AddContainers(pod.pod->status.init_container_statuses, spec.init_containers, true, layout, pod);
  pod.requests = kube::PodRequests(*pod.pod);
  pod.limits = kube::PodLimits(*pod.pod);
  SumExtended(spec, &kube::ResourceRequirements::requests, pod.requests);
  SumExtended(spec, &kube::ResourceRequirements::limits, pod.limits);
  ReadAnnotations(pod, policy);
  if (policy != nullptr) policy->Enforce(bounds, pod);
  return pod;
}

PodBook::PodBook(CgroupLayout layout, TrustPolicy trust, metrics::Registry* registry)
    : layout_(layout), policy_(std::move(trust), registry) {}

bool PodBook::SetBounds(PodBounds bounds) {
  if (bounds == bounds_) return false;
  bounds_ = std::move(bounds);
  stale_ = true;
  return true;
}

std::shared_ptr<const NodePods> PodBook::Refresh() {
  return Update(std::vector<std::shared_ptr<const kube::Pod>>(last_));
}

std::shared_ptr<const NodePods> PodBook::Update(
    const std::vector<std::shared_ptr<const kube::Pod>>& pods) {
  if (answer_ != nullptr && !stale_ && pods == last_) return answer_;
  StringMap<Entry> before = std::exchange(entries_, {});
  auto updated = std::make_shared<NodePods>();
  updated->reserve(pods.size());
  for (const auto& source : pods) {
    const std::string& uid = source->metadata.uid;
    if (entries_.contains(uid)) continue;  // a list that names a pod twice
    if (!IsPlainName(uid)) {
      policy_.Report(*source, "metadata.uid", "no uid: " + Quote(uid, 64));
      continue;
    }
    const std::string& node = source->spec.node_name;
    if (!bounds_.node_name.empty() && !node.empty() && node != bounds_.node_name) {
      policy_.Report(*source, "spec.nodeName", "bound to another node: " + Quote(node, 64));
      continue;
    }
    const auto it = before.find(uid);
    const bool same = !stale_ && it != before.end() && it->second.source == source;
    NodePod pod =
        same ? std::move(it->second.pod) : MakeNodePod(source, layout_, &policy_, bounds_);
    updated->push_back(pod);
    entries_.emplace(uid, Entry{source, std::move(pod)});
  }
  std::sort(updated->begin(), updated->end(), [](const NodePod& a, const NodePod& b) {
    return std::tie(a.pod->metadata.ns, a.pod->metadata.name, a.uid()) <
           std::tie(b.pod->metadata.ns, b.pod->metadata.name, b.uid());
  });
  policy_.GrantCpus(bounds_, *updated);
  stale_ = false;
  last_ = pods;
  answer_ = std::move(updated);
  return answer_;
}

}  // namespace koord::koordlet
