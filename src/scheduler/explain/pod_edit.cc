#include "scheduler/explain/pod_edit.h"

#include <fmt/format.h>

#include <algorithm>

#include "kube/objects/pod_resources.h"
#include "kube/quantity.h"

namespace koord::scheduler {
namespace {

constexpr int64_t kMi = 1 << 20;

bool IsBytes(std::string_view resource) {
  return resource == kube::kMemory || resource.ends_with("memory") ||
         resource == kube::kEphemeralStorage || resource.starts_with(kube::kHugePagesPrefix);
}

int64_t AmountIn(const kube::ResourceList& list, std::string_view resource) {
  const kube::Quantity amount = kube::AmountOf(list, resource);
  return resource == kube::kCpu ? amount.MilliValue() : amount.Value();
}

kube::Quantity QuantityOf(std::string_view resource, int64_t amount) {
  return resource == kube::kCpu ? kube::Quantity::FromMilli(amount) : kube::Quantity(amount);
}

void SetLimit(kube::ResourceRequirements& resources, const std::string& resource, int64_t amount) {
  resources.limits[resource] = QuantityOf(resource, amount);
}

// Also of what may not be asked for without a limit that is the same.
void SetRequest(kube::ResourceRequirements& resources, const std::string& resource,
                int64_t amount) {
  const bool extended = resource.find('/') != std::string::npos;
  if (extended && resources.limits.contains(resource)) SetLimit(resources, resource, amount);
  resources.requests[resource] = QuantityOf(resource, amount);
}

int64_t RequestOf(const kube::Container& container, const std::string& resource) {
  return AmountIn(container.resources.requests, resource);
}

// Takes from the containers that run together, from the largest first.
void LowerTogether(std::vector<kube::Container>& containers, const std::string& resource,
                   int64_t by) {
  std::vector<kube::Container*> largest_first;
  for (kube::Container& container : containers) largest_first.push_back(&container);
  std::ranges::stable_sort(largest_first, std::greater<>(), [&](const kube::Container* container) {
    return RequestOf(*container, resource);
  });
  for (kube::Container* container : largest_first) {
    const int64_t request = RequestOf(*container, resource);
    const int64_t less = std::min(by, request);
    if (less <= 0) return;
    SetRequest(container->resources, resource, request - less);
    by -= less;
  }
}

void Lower(kube::Pod& pod, const std::string& resource, int64_t to) {
  const int64_t of_containers = to - AmountIn(pod.spec.overhead, resource);
  if (pod.spec.resources && pod.spec.resources->requests.contains(resource)) {
    SetRequest(*pod.spec.resources, resource, of_containers);
    return;
  }
  for (kube::Container& container : pod.spec.init_containers.Mutable()) {
    if (RequestOf(container, resource) > of_containers) {
      SetRequest(container.resources, resource, of_containers);
    }
  }
  const int64_t now = AmountIn(kube::PodRequests(pod), resource);
  LowerTogether(pod.spec.containers.Mutable(), resource, now - to);
}

// No container may have more than it asks for. False: none may.
bool CapLimits(kube::Pod& pod, const std::string& resource) {
  bool any = false;
  for (auto* containers : {&pod.spec.containers.Mutable(), &pod.spec.init_containers.Mutable()}) {
    for (kube::Container& container : *containers) {
      const int64_t request = RequestOf(container, resource);
      if (AmountIn(container.resources.limits, resource) <= request) continue;
      SetLimit(container.resources, resource, request);
      any = true;
    }
  }
  return any;
}

}  // namespace

std::string AmountText(std::string_view resource, int64_t amount) {
  if (resource == kube::kCpu) return kube::Quantity::FromMilli(amount).ToString();
  if (!IsBytes(resource)) return kube::Quantity(amount).ToString();
  return kube::Quantity(amount, kube::Quantity::Format::kBinarySi).ToString();
}

int64_t RoundedDown(std::string_view resource, int64_t amount) {
  return IsBytes(resource) && amount > kMi ? amount / kMi * kMi : amount;
}

int64_t RoundedUp(std::string_view resource, int64_t amount) {
  return IsBytes(resource) && amount > kMi ? (amount + kMi - 1) / kMi * kMi : amount;
}

std::string TaintText(const kube::Taint& taint) {
  return fmt::format("{}{}{}:{}", taint.key, taint.value.empty() ? "" : "=", taint.value,
                     taint.effect);
}

std::optional<PodEdit> LowerRequest(const kube::Pod& pod, const std::string& resource, int64_t to) {
  if (to <= AmountIn(pod.spec.overhead, resource)) return {};
  kube::Pod lowered = pod;
  Lower(lowered, resource, to);
  if (AmountIn(kube::PodRequests(lowered), resource) > to) return {};
  return PodEdit{fmt::format("lower the {} request to {}", resource, AmountText(resource, to)),
                 [resource, to](kube::Pod& edited) { Lower(edited, resource, to); }};
}

std::optional<PodEdit> LowerRequestAndLimit(const kube::Pod& pod, const std::string& resource,
                                            int64_t to) {
  auto lower = LowerRequest(pod, resource, to);
  if (!lower) return {};
  kube::Pod edited = pod;
  lower->apply(edited);
  if (!CapLimits(edited, resource)) return lower;
  return PodEdit{
      fmt::format("lower the {} request and limit to {}", resource, AmountText(resource, to)),
      [resource, lower = std::move(lower->apply)](kube::Pod& changed) {
        lower(changed);
        CapLimits(changed, resource);
      }};
}

PodEdit Tolerate(const kube::Taint& taint) {
  return {fmt::format("tolerate the taint {}", TaintText(taint)), [taint](kube::Pod& pod) {
            kube::Toleration toleration;
            toleration.key = taint.key;
            toleration.op = "Equal";
            toleration.value = taint.value;
            toleration.effect = taint.effect;
            pod.spec.tolerations.Mutable().push_back(std::move(toleration));
          }};
}

// Filters know of a cordon by its taint alone: it is not there for a pod that tolerates it.
PodEdit Uncordon(const std::string& node) {
  kube::Taint cordon;
  cordon.key = kube::kTaintNodeUnschedulable;
  cordon.effect = kube::kNoSchedule;
  return {fmt::format("uncordon node {}", node), Tolerate(cordon).apply};
}

std::vector<PodEdit> LoosenNodeAffinity(const kube::Pod& pod, const kube::Node& node) {
  std::vector<PodEdit> edits;
  kube::PodSpec left = pod.spec;
  for (const auto& [key, value] : pod.spec.node_selector) {
    const std::string* has = kube::FindValue(node.metadata.labels, key);
    if (has != nullptr && *has == value) continue;
    left.node_selector.Mutable().erase(key);
    edits.push_back(
        {fmt::format("remove {}={} from the nodeSelector", key, value),
         [key = key](kube::Pod& edited) { edited.spec.node_selector.Mutable().erase(key); }});
  }
  if (kube::MatchesNode(left, node.metadata.name, node.metadata.labels)) return edits;
  edits.push_back({"remove the required node affinity", [](kube::Pod& edited) {
                     edited.spec.affinity->node_affinity->required.reset();
                   }});
  return edits;
}

PodEdit GiveUpHostPort(const HostPort& port) {
  return {fmt::format("give up host port {}/{}", port.port, port.protocol), [port](kube::Pod& pod) {
            for (auto* containers : {&pod.spec.containers, &pod.spec.init_containers}) {
              for (kube::Container& container : containers->Mutable()) {
                for (kube::ContainerPort& each : container.ports) {
                  const std::string_view protocol =
                      each.protocol.empty() ? std::string_view("TCP") : each.protocol;
                  if (each.host_port == port.port && protocol == port.protocol) each.host_port = 0;
                }
              }
            }
          }};
}

std::vector<PodEdit> LoosenSpreading(const kube::Pod& pod) {
  std::vector<PodEdit> edits;
  const auto& constraints = pod.spec.topology_spread_constraints.get();
  for (size_t i = 0; i < constraints.size(); ++i) {
    if (constraints[i].when_unsatisfiable != "DoNotSchedule") continue;
    edits.push_back(
        {fmt::format("set whenUnsatisfiable: ScheduleAnyway for the spread constraint on {}",
                     constraints[i].topology_key),
         [i](kube::Pod& edited) {
           edited.spec.topology_spread_constraints.Mutable()[i].when_unsatisfiable =
               "ScheduleAnyway";
         }});
  }
  return edits;
}

PodEdit DropRequiredPodAffinity() {
  return {"remove the required podAffinity",
          [](kube::Pod& pod) { pod.spec.affinity->pod_affinity->required.clear(); }};
}

PodEdit DropRequiredPodAntiAffinity() {
  return {"remove the required podAntiAffinity",
          [](kube::Pod& pod) { pod.spec.affinity->pod_anti_affinity->required.clear(); }};
}

}  // namespace koord::scheduler
