#include "localcluster/apiserver/quota/quota_usage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <vector>

#include "base/duration.h"
#include "base/strings.h"
#include "kube/objects/pod_resources.h"
#include "kube/objects/storage.h"
#include "kube/time.h"

namespace koord::apiserver {
namespace {

using kube::Json;
using kube::Quantity;
using kube::ResourceList;

constexpr std::string_view kCount = "count/";
constexpr std::string_view kRequests = "requests.";
constexpr std::string_view kLimits = "limits.";
constexpr std::string_view kClassInfix = ".storageclass.storage.k8s.io/";

// Those that could be counted before `count/` came.
constexpr std::array<std::string_view, 7> kNamedByThemselves{
    "configmaps",     "persistentvolumeclaims",
    "pods",           "replicationcontrollers",
    "resourcequotas", "secrets",
    "services"};
constexpr std::array kCompute{kube::kCpu, kube::kMemory, kube::kEphemeralStorage};

template <class Words>
bool Contains(const Words& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool IsHugePages(std::string_view name) { return name.starts_with(kube::kHugePagesPrefix); }

std::string With(std::string_view prefix, std::string_view name) {
  return std::string(prefix).append(name);
}

// The names under which an amount that a pod requests counts. Whoever asks for
// kubernetes.io/batch-cpu is counted as for any other resource beyond Kubernetes' own.
void AddRequest(const std::string& name, const Quantity& amount, ResourceList& usage) {
  const bool native = Contains(kCompute, name) || IsHugePages(name);
  if (native) usage[name] = amount;
  if (native || name.find('/') != std::string::npos) usage[With(kRequests, name)] = amount;
}

void AddCompute(const ResourceList& requests, const ResourceList& limits, ResourceList& usage) {
  for (const auto& [name, amount] : requests) AddRequest(name, amount, usage);
  for (const std::string_view name : kCompute) {
    const auto limit = limits.find(name);
    if (limit != limits.end()) usage[With(kLimits, name)] = limit->second;
  }
}

void AddPod(const Json& object, WallTime now, ResourceList& usage) {
  const auto pod = kube::Decode<kube::Pod>(object);
  if (!pod.ok() || kube::IsTerminal(*pod)) return;
  const auto stops = StopsToCount(object);
  if (stops && now >= *stops) return;
  usage["pods"] = Quantity(1);
  AddCompute(kube::PodRequests(*pod, kube::RequestsFrom::kSpecAndStatus), kube::PodLimits(*pod),
             usage);
}

// Of ports that are open on every node.
int64_t NodePorts(const Json& service, std::string_view type) {
  const auto* ports = kube::FindArray(service, {"spec", "ports"});
  if (ports == nullptr || (type != "NodePort" && type != "LoadBalancer")) return 0;
  const Json* allocates = kube::Find(service, {"spec", "allocateLoadBalancerNodePorts"});
  const bool only_given =
      type == "LoadBalancer" && allocates != nullptr && *allocates == Json(false);
  if (!only_given) return static_cast<int64_t>(ports->size());
  return std::count_if(ports->begin(), ports->end(),
                       [](const Json& port) { return kube::FindInt(port, {"nodePort"}) != 0; });
}

void AddService(const Json& service, ResourceList& usage) {
  const std::string_view type = kube::FindString(service, {"spec", "type"});
  usage["services"] = Quantity(1);
  usage["services.nodeports"] = Quantity(NodePorts(service, type));
  usage["services.loadbalancers"] = Quantity(type == "LoadBalancer" ? 1 : 0);
}

void AddClaim(const Json& object, ResourceList& usage) {
  constexpr char kClassAnnotation[] = "volume.beta.kubernetes.io/storage-class";
  const auto claim = kube::Decode<kube::PersistentVolumeClaim>(object);
  if (!claim.ok()) return;
  const Quantity storage = kube::AmountOf(claim->spec.resources.requests, "storage");
  usage["persistentvolumeclaims"] = Quantity(1);
  usage["requests.storage"] = storage;
  std::string named(kube::FindString(object, {"metadata", "annotations", kClassAnnotation}));
  if (named.empty()) named = claim->spec.storage_class_name.value_or("");
  if (named.empty()) return;
  const std::string prefix = named.append(kClassInfix);
  usage[prefix + "persistentvolumeclaims"] = Quantity(1);
  usage[prefix + "requests.storage"] = storage;
}

}  // namespace

std::optional<std::string> CountedBy(std::string_view name) {
  if (name.starts_with(kCount)) return std::string(name.substr(kCount.size()));
  if (Contains(kNamedByThemselves, name)) return std::string(name);
  if (name.starts_with("services.")) return "services";
  if (name == "requests.storage" || name.find(kClassInfix) != std::string_view::npos) {
    return "persistentvolumeclaims";
  }
  if (name.starts_with(kLimits)) {
    return Contains(kCompute, name.substr(kLimits.size())) ? std::optional("pods") : std::nullopt;
  }
  std::string_view resource = name;
  if (name.starts_with(kRequests)) {
    resource.remove_prefix(kRequests.size());
    if (resource.find('/') != std::string_view::npos) return "pods";
  }
  if (Contains(kCompute, resource) || IsHugePages(resource)) return "pods";
  return {};
}

bool HasAmounts(std::string_view resource) {
  return resource == "pods" || resource == "services" || resource == "persistentvolumeclaims";
}

ResourceList QuotaUsage(std::string_view resource, const Json& object, WallTime now) {
  ResourceList usage;
  usage[With(kCount, resource)] = Quantity(1);
  if (resource == "pods") {
    AddPod(object, now, usage);
  } else if (resource == "services") {
    AddService(object, usage);
  } else if (resource == "persistentvolumeclaims") {
    AddClaim(object, usage);
  } else if (Contains(kNamedByThemselves, resource)) {
    usage[std::string(resource)] = Quantity(1);
  }
  return usage;
}

std::optional<WallTime> StopsToCount(const Json& pod) {
  const auto deleted = kube::ParseTime(kube::FindString(pod, {"metadata", "deletionTimestamp"}));
  const Json* grace = kube::Find(pod, {"metadata", "deletionGracePeriodSeconds"});
  if (!deleted || grace == nullptr || !grace->is_int64()) return {};
  return *deleted + BoundedSeconds(grace->get_int64());
}

std::optional<std::string> MissingRequests(const kube::Pod& pod, const ResourceList& names) {
  std::map<std::string, std::set<std::string>> missing;
  ResourceList of_pod;
  if (pod.spec.resources) {
    AddCompute(pod.spec.resources->requests, pod.spec.resources->limits, of_pod);
  }
  const auto check = [&](const kube::Container& container) {
    ResourceList usage = of_pod;
    AddCompute(container.resources.requests, container.resources.limits, usage);
    for (const std::string_view resource : {kube::kCpu, kube::kMemory}) {
      for (const std::string_view prefix : {std::string_view(), kRequests, kLimits}) {
        const std::string name = With(prefix, resource);
        if (names.contains(name) && !usage.contains(name)) missing[name].insert(container.name);
      }
    }
  };
  for (const kube::Container& container : pod.spec.containers) check(container);
  for (const kube::Container& container : pod.spec.init_containers) check(container);
  if (missing.empty()) return {};
  std::vector<std::string> parts;
  for (const auto& [name, containers] : missing) {
    parts.push_back(fmt::format("{} for: {}", name, fmt::join(containers, ",")));
  }
  return Join(parts, "; ");
}

}  // namespace koord::apiserver
