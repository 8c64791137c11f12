#include "localcluster/apiserver/write/service_addresses.h"

#include <set>
#include <string>

#include "localcluster/apiserver/core/errors.h"
#include "localcluster/apiserver/core/versions.h"
#include "localcluster/apiserver/registry/json_edit.h"

namespace koord::apiserver {
namespace {

constexpr int kFirstNodePort = 30000;
constexpr int kNodePorts = 2768;
constexpr int kRandomPicks = 1000;

struct Taken {
  std::set<std::string, std::less<>> ips;
  std::set<int64_t> node_ports;
};

Taken FindTaken(const Core& core, bool ports) {
  Taken taken;
  core.store
      .Range("services", "", "", 0,
             [&](const EntryPtr& entry) {
               taken.ips.emplace(IndexedField(*entry, "spec.clusterIP"));
               if (!ports) return true;
               const auto service = kube::ParseJson(entry->value);
               const json::array* list =
                   service.ok() ? kube::FindArray(*service, {"spec", "ports"}) : nullptr;
               if (list == nullptr) return true;
               for (const Json& port : *list) {
                 taken.node_ports.insert(kube::FindInt(port, {"nodePort"}));
               }
               return true;
             })
      .IgnoreError();
  return taken;
}

// From 10.96.0.0/12, as most clusters have it; its first addresses are reserved.
std::string RandomIp(Random& random) {
  const uint64_t host = 256 + random.Below((1 << 20) - 512);
  return fmt::format("10.{}.{}.{}", 96 + (host >> 16), (host >> 8) & 255, host & 255);
}

Status AssignIp(Core& core, const Taken& taken, json::object& spec) {
  std::string ip(StringAt(spec, "clusterIP"));
  for (int attempt = 0; ip.empty() && attempt < kRandomPicks; ++attempt) {
    const std::string candidate = RandomIp(core.random);
    if (!taken.ips.contains(candidate)) ip = candidate;
  }
  if (ip.empty())
    return Error(500, "InternalError", "Internal error occurred: no cluster IP is free");
  spec["clusterIP"] = ip;
  SetIfUnset(spec, "clusterIPs", json::array{ip});
  return absl::OkStatus();
}

Status AssignNodePorts(Core& core, Taken& taken, json::object& spec) {
  Json* ports = spec.if_contains("ports");
  if (ports == nullptr || !ports->is_array()) return absl::OkStatus();
  for (Json& port : ports->get_array()) {
    if (kube::FindInt(port, {"nodePort"}) != 0) continue;
    int64_t chosen = 0;
    for (int attempt = 0; chosen == 0 && attempt < kRandomPicks; ++attempt) {
      const auto candidate = kFirstNodePort + static_cast<int64_t>(core.random.Below(kNodePorts));
      if (taken.node_ports.insert(candidate).second) chosen = candidate;
    }
    if (chosen == 0) {
      return Error(500, "InternalError", "Internal error occurred: no node port is free");
    }
    kube::At(port, {"nodePort"}) = chosen;
  }
  return absl::OkStatus();
}

}  // namespace

Status AssignServiceAddresses(Core& core, Json& service) {
  json::object* spec = kube::At(service, {"spec"}).if_object();
  if (spec == nullptr) return absl::OkStatus();
  const std::string type(StringAt(*spec, "type"));
  if (type == "ExternalName") return absl::OkStatus();
  const bool ports = type == "NodePort" || type == "LoadBalancer";
  Taken taken = FindTaken(core, ports);
  if (IsUnset(*spec, "clusterIP") || IsUnset(*spec, "clusterIPs")) {
    RETURN_IF_ERROR(AssignIp(core, taken, *spec));
  }
  return ports ? AssignNodePorts(core, taken, *spec) : absl::OkStatus();
}

}  // namespace koord::apiserver
