#include "localcluster/nodes/pod_runner.h"

#include <utility>

#include "kube/resources.h"
#include "localcluster/nodes/node_objects.h"
#include "localcluster/nodes/pod_admission.h"

namespace koord::localcluster {
namespace {

kube::Write PatchStatus(const kube::Pod& pod, kube::Json status) {
  return StrategicPatch(kube::kPods, pod.metadata,
                        {{"metadata", {{"uid", pod.metadata.uid}}}, {"status", std::move(status)}},
                        "status");
}

std::string_view AddressRange(const kube::Node& node, const std::string& otherwise) {
  return node.spec.pod_cidr.empty() ? std::string_view(otherwise) : node.spec.pod_cidr;
}

std::string HostAddress(const kube::Node& node, const Machine& machine) {
  const std::string_view own = kube::AddressOf(node, "InternalIP");
  return own.empty() ? NodeAddress(machine.number()) : std::string(own);
}

}  // namespace

PodRunner::PodRunner(ControllerContext& context, Machines& machines, Times times)
    : ClusterController("kubelet", context, 64), machines_(machines), times_(times) {
  Watch(informers().pods, [this](const auto& before, const auto& after) {
    if (after != nullptr) return OnPod(*after);
    Forget(*before);
    moving_.erase(KeyText(before->metadata));
  });
}

void PodRunner::OnPod(const kube::Pod& pod) {
  if (!kube::IsAssigned(pod)) return;
  Machine* machine = machines_.Find(pod.spec.node_name);
  if (machine == nullptr) return;
  if (kube::IsTerminal(pod)) {
    machine->Release(pod.metadata.uid);
  } else if (pod.status.start_time) {
    machine->Remember(pod);
  }
  Enqueue(KeyText(pod.metadata));
}

void PodRunner::Forget(const kube::Pod& pod) {
  assigned_.erase(pod.metadata.uid);
  if (Machine* machine = machines_.Find(pod.spec.node_name)) machine->Release(pod.metadata.uid);
}

void PodRunner::Revisit(const std::string& node) {
  for (const auto& pod : informers().pods.ByIndex(kube::kByNode, node)) OnPod(*pod);
}

kube::Plan PodRunner::Decide(const std::string& key) {
  moving_.erase(key);
  const auto pod = informers().pods.Get(kube::ParseKey(key));
  if (pod == nullptr || !kube::IsAssigned(*pod)) return {};
  Machine* machine = machines_.Find(pod->spec.node_name);
  if (machine == nullptr || machine->failed) return {};
  if (kube::IsBeingDeleted(pod->metadata)) {
    PodStep step = StepTerminating(*pod, times_.stop, Now());
    if (step.next && *step.next - Now() <= times_.stop) moving_.insert(key);
    return Carry(*pod, std::move(step));
  }
  if (kube::IsTerminal(*pod)) return {};
  if (!pod->status.start_time) return DecideStart(key, *pod, *machine);
  return Carry(*pod, StepRunning(*pod, Now()));
}

kube::Plan PodRunner::Carry(const kube::Pod& pod, PodStep step) {
  kube::Plan plan;
  if (!step.status.is_null()) plan.Add(PatchStatus(pod, std::move(step.status)));
  if (step.remove) plan.Add(DeleteNow(kube::kPods, pod.metadata));
  if (step.next) plan.AgainWithin(*step.next - Now());
  return plan;
}

kube::Plan PodRunner::DecideStart(const std::string& key, const kube::Pod& pod, Machine& machine) {
  kube::Plan plan;
  const SteadyTime now = context().clock().Steady();
  const SteadyTime due = assigned_.emplace(pod.metadata.uid, now).first->second + times_.start;
  if (now < due) {
    moving_.insert(key);
    plan.AgainWithin(due - now);
    return plan;
  }
  const auto node = informers().nodes.Get({"", pod.spec.node_name});
  if (node == nullptr) return plan;
  if (const auto rejection = CheckAdmission(*node, machine.used(), machine.pod_count(), pod)) {
    plan.Add(PatchStatus(pod, RejectedStatus(*rejection, Now())));
    plan.Warn(kube::kPods, pod.metadata, rejection->reason, rejection->message);
    return plan;
  }
  const auto address = machine.Take(pod, AddressRange(*node, PodRange(machine.number())));
  if (!address) return plan;
  const std::string host = HostAddress(*node, machine);
  const PodAddresses addresses{.host_ip = host, .pod_ip = pod.spec.host_network ? host : *address};
  assigned_.erase(pod.metadata.uid);
  plan.Add(PatchStatus(pod, StartedStatus(pod, addresses, Now())));
  return plan;
}

void PodRunner::OnRefused(const std::string& key, const kube::Write&, const Status&) {
  const auto pod = informers().pods.Get(kube::ParseKey(key));
  if (pod != nullptr && !pod->status.start_time) Forget(*pod);
}

}  // namespace koord::localcluster
