#include "localcluster/nodes/machines.h"

#include "kube/objects/pod_resources.h"
#include "localcluster/nodes/node_objects.h"

namespace koord::localcluster {

std::optional<std::string> Machine::Take(const kube::Pod& pod, std::string_view range) {
  if (Has(pod.metadata.uid)) return std::nullopt;
  for (uint32_t n = 1;; ++n) {
    std::optional<std::string> address = AddressIn(range, n);
    if (!address) return std::nullopt;
    if (addresses_.contains(*address)) continue;
    Add(pod, *address);
    return address;
  }
}

void Machine::Remember(const kube::Pod& pod) {
  if (!Has(pod.metadata.uid)) Add(pod, pod.status.pod_ip);
}

void Machine::Add(const kube::Pod& pod, std::string address) {
  Taken taken{.requests = kube::PodRequests(pod), .address = std::move(address)};
  kube::AddTo(used_, taken.requests);
  addresses_.insert(taken.address);
  taken_.emplace(pod.metadata.uid, std::move(taken));
}

void Machine::Release(const std::string& uid) {
  const auto taken = taken_.find(uid);
  if (taken == taken_.end()) return;
  kube::SubtractFrom(used_, taken->second.requests);
  addresses_.erase(taken->second.address);
  taken_.erase(taken);
}

Machines::Machines(const std::vector<PlannedNode>& planned) {
  uint32_t number = 1;
  for (const PlannedNode& node : planned) machines_.emplace(node.name, Machine(number++, node));
}

Machine* Machines::Find(const std::string& node) {
  const auto machine = machines_.find(node);
  return machine == machines_.end() ? nullptr : &machine->second;
}

Machine& Machines::Adopt(const std::string& node) {
  return machines_.emplace(node, Machine(next_adopted_++, std::nullopt)).first->second;
}

void Machines::Reset(const std::string& node) {
  const auto machine = machines_.find(node);
  if (machine == machines_.end()) return;
  if (!machine->second.plan()) {
    machines_.erase(machine);
  } else {
    machine->second = Machine(machine->second.number(), machine->second.plan());
  }
}

}  // namespace koord::localcluster
