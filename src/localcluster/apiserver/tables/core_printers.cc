#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/strings.h"
#include "localcluster/apiserver/tables/cells.h"
#include "localcluster/apiserver/tables/human_duration.h"
#include "localcluster/apiserver/tables/printer.h"

namespace koord::apiserver {
namespace {

using kube::Json;
namespace json = kube::json;

// --- nodes

constexpr Column kNodeColumns[] = {kNameColumn,
                                   {"Status"},
                                   {"Roles"},
                                   kAgeColumn,
                                   {"Version"},
                                   Wide("Internal-IP"),
                                   Wide("External-IP"),
                                   Wide("OS-Image"),
                                   Wide("Kernel-Version"),
                                   Wide("Container-Runtime")};

std::string NodeStatusText(const Json& node) {
  const Json* ready = FindCondition(node, "Ready");
  std::string text = ready == nullptr                 ? "Unknown"
                     : ConditionIsTrue(node, "Ready") ? "Ready"
                                                      : "NotReady";
  if (kube::FindBool(node, {"spec", "unschedulable"})) text += ",SchedulingDisabled";
  return text;
}

std::string NodeRolesText(const Json& node) {
  constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
  std::set<std::string> roles;
  if (const auto* labels = kube::FindObject(node, {"metadata", "labels"})) {
    for (const auto& label : *labels) {
      const std::string_view key = label.key();
      if (key.starts_with(kPrefix) && key.size() > kPrefix.size()) {
        roles.emplace(key.substr(kPrefix.size()));
      } else if (key == "kubernetes.io/role" && !ScalarText(&label.value()).empty()) {
        roles.insert(ScalarText(&label.value()));
      }
    }
  }
  return roles.empty() ? std::string(kNone) : Join(roles, ",");
}

std::string_view NodeAddress(const Json& node, std::string_view type) {
  if (const auto* addresses = kube::FindArray(node, {"status", "addresses"})) {
    for (const Json& address : *addresses) {
      if (kube::FindString(address, {"type"}) == type) {
        return kube::FindString(address, {"address"});
      }
    }
  }
  return kNone;
}

void PrintNode(Row& row) {
  constexpr std::string_view kUnknown = "<unknown>";
  row.Name().Text(NodeStatusText(row.object)).Text(NodeRolesText(row.object)).Age();
  row.TextAt({"status", "nodeInfo", "kubeletVersion"});
  row.Text(NodeAddress(row.object, "InternalIP")).Text(NodeAddress(row.object, "ExternalIP"));
  row.TextAt({"status", "nodeInfo", "osImage"}, kUnknown);
  row.TextAt({"status", "nodeInfo", "kernelVersion"}, kUnknown);
  row.TextAt({"status", "nodeInfo", "containerRuntimeVersion"}, kUnknown);
}

// --- events, in the words of both of their groups

constexpr Column kEventColumns[] = {{"Last Seen"},
                                    {"Type"},
                                    {"Reason"},
                                    {"Object"},
                                    Wide("Subobject"),
                                    Wide("Source"),
                                    {"Message"},
                                    Wide("First Seen"),
                                    {"Count", "integer", {}, 1},
                                    {"Name", "string", "name", 1}};

struct EventWords {
  std::string_view object, message, first, last, count, source, component;
};
constexpr EventWords kCoreEvent{"involvedObject", "message", "firstTimestamp",    "lastTimestamp",
                                "count",          "source",  "reportingComponent"};
constexpr EventWords kNewEvent{"regarding",
                               "note",
                               "deprecatedFirstTimestamp",
                               "deprecatedLastTimestamp",
                               "deprecatedCount",
                               "deprecatedSource",
                               "reportingController"};

std::string_view FirstOf(std::string_view a, std::string_view b) { return a.empty() ? b : a; }

std::string EventObjectText(const Row& row, const EventWords& words) {
  std::string text = ToLower(row.Get({words.object, "kind"}));
  const std::string_view name = row.Get({words.object, "name"});
  if (!name.empty()) text.append("/").append(name);
  return text;
}

std::string EventSourceText(const Row& row, const EventWords& words) {
  std::string text(FirstOf(row.Get({words.source, "component"}), row.Get({words.component})));
  const std::string_view host =
      FirstOf(row.Get({words.source, "host"}), row.Get({"reportingInstance"}));
  if (!host.empty()) text.append(", ").append(host);
  return text;
}

int64_t EventCount(const Json& event, const EventWords& words) {
  if (const Json* series = kube::Find(event, {"series"}); series != nullptr && !series->is_null()) {
    return kube::FindInt(*series, {"count"});
  }
  const int64_t count = kube::FindInt(event, {words.count});
  return count == 0 ? 1 : count;
}

void PrintEventAs(Row& row, const EventWords& words) {
  const std::string_view first = FirstOf(row.Get({words.first}), row.Get({"eventTime"}));
  const std::string_view last =
      FirstOf(row.Get({"series", "lastObservedTime"}), FirstOf(row.Get({words.last}), first));
  row.Text(HumanAge(last, row.now)).TextAt({"type"}).TextAt({"reason"});
  row.Text(EventObjectText(row, words)).TextAt({words.object, "fieldPath"});
  row.Text(EventSourceText(row, words)).Text(Trim(row.Get({words.message})));
  row.Text(HumanAge(first, row.now)).Int(EventCount(row.object, words)).Name();
}

void PrintCoreEvent(Row& row) { PrintEventAs(row, kCoreEvent); }
void PrintNewEvent(Row& row) { PrintEventAs(row, kNewEvent); }

// --- services and endpoints

constexpr Column kServiceColumns[] = {kNameColumn, {"Type"},   {"Cluster-IP"},  {"External-IP"},
                                      {"Port(s)"}, kAgeColumn, Wide("Selector")};

std::string ClusterIp(const Json& service) {
  const auto* ips = kube::FindArray(service, {"spec", "clusterIPs"});
  const std::string_view ip = SizeOf(ips) == 0 ? kube::FindString(service, {"spec", "clusterIP"})
                                               : kube::FindString(ips->front(), {});
  return std::string(ip.empty() ? kNone : ip);
}

std::string ExternalIpText(const Json& service) {
  const std::string_view type = kube::FindString(service, {"spec", "type"});
  if (type == "ExternalName")
    return std::string(kube::FindString(service, {"spec", "externalName"}));
  std::vector<std::string> ips;
  if (type == "LoadBalancer") {
    if (const auto* ingress = kube::FindArray(service, {"status", "loadBalancer", "ingress"})) {
      for (const Json& point : *ingress) {
        ips.emplace_back(
            FirstOf(kube::FindString(point, {"ip"}), kube::FindString(point, {"hostname"})));
      }
    }
  }
  const std::string external = JoinStrings(kube::FindArray(service, {"spec", "externalIPs"}));
  if (!external.empty()) ips.push_back(external);
  if (!ips.empty()) return Join(ips, ",");
  return std::string(type == "LoadBalancer" ? "<pending>" : kNone);
}

std::string PortsText(const Json& service) {
  std::vector<std::string> texts;
  if (const auto* ports = kube::FindArray(service, {"spec", "ports"})) {
    for (const Json& port : *ports) {
      const int64_t node_port = kube::FindInt(port, {"nodePort"});
      std::string text = std::to_string(kube::FindInt(port, {"port"}));
      if (node_port > 0) text += fmt::format(":{}", node_port);
      texts.push_back(fmt::format("{}/{}", text, kube::FindString(port, {"protocol"}, "TCP")));
    }
  }
  return texts.empty() ? std::string(kNone) : Join(texts, ",");
}

void PrintService(Row& row) {
  row.Name().TextAt({"spec", "type"}, "ClusterIP").Text(ClusterIp(row.object));
  row.Text(ExternalIpText(row.object)).Text(PortsText(row.object)).Age();
  row.Text(LabelsText(kube::FindObject(row.object, {"spec", "selector"})));
}

constexpr Column kEndpointsColumns[] = {kNameColumn, {"Endpoints"}, kAgeColumn};

std::string HostPort(std::string_view ip, int64_t port) {
  return ip.find(':') == std::string_view::npos ? fmt::format("{}:{}", ip, port)
                                                : fmt::format("[{}]:{}", ip, port);
}

void AddEndpoints(const Json& subset, std::vector<std::string>& texts) {
  const auto* addresses = kube::FindArray(subset, {"addresses"});
  const auto* ports = kube::FindArray(subset, {"ports"});
  if (addresses == nullptr) return;
  if (SizeOf(ports) == 0) {
    for (const Json& address : *addresses) texts.emplace_back(kube::FindString(address, {"ip"}));
    return;
  }
  for (const Json& port : *ports) {
    for (const Json& address : *addresses) {
      texts.push_back(HostPort(kube::FindString(address, {"ip"}), kube::FindInt(port, {"port"})));
    }
  }
}

std::string EndpointsText(const Json& endpoints) {
  constexpr size_t kShown = 3;
  std::vector<std::string> texts;
  if (const auto* subsets = kube::FindArray(endpoints, {"subsets"})) {
    for (const Json& subset : *subsets) AddEndpoints(subset, texts);
  }
  if (texts.empty()) return std::string(kNone);
  const size_t more = texts.size() > kShown ? texts.size() - kShown : 0;
  texts.resize(texts.size() - more);
  const std::string shown = Join(texts, ",");
  return more == 0 ? shown : fmt::format("{} + {} more...", shown, more);
}

void PrintEndpoints(Row& row) { row.Name().Text(EndpointsText(row.object)).Age(); }

// --- the small ones

constexpr Column kNameAgeColumns[] = {kNameColumn, kAgeColumn};
void PrintNameAge(Row& row) { row.Name().Age(); }

constexpr Column kNamespaceColumns[] = {kNameColumn, {"Status"}, kAgeColumn};
void PrintNamespace(Row& row) { row.Name().TextAt({"status", "phase"}).Age(); }

constexpr Column kConfigMapColumns[] = {kNameColumn, Number("Data"), kAgeColumn};
void PrintConfigMap(Row& row) {
  const size_t entries = SizeOf(kube::FindObject(row.object, {"data"})) +
                         SizeOf(kube::FindObject(row.object, {"binaryData"}));
  row.Name().Int(static_cast<int64_t>(entries)).Age();
}

constexpr Column kSecretColumns[] = {kNameColumn, {"Type"}, Number("Data"), kAgeColumn};
void PrintSecret(Row& row) {
  const size_t entries = SizeOf(kube::FindObject(row.object, {"data"}));
  row.Name().TextAt({"type"}).Int(static_cast<int64_t>(entries)).Age();
}

constexpr Column kQuotaColumns[] = {kNameColumn, {"Request"}, {"Limit"}, kAgeColumn};

// "cpu: 1/4, pods: 2/10": used over hard.
void PrintResourceQuota(Row& row) {
  std::vector<std::string> requests, limits;
  std::set<std::string> names;
  if (const auto* hard = kube::FindObject(row.object, {"status", "hard"})) {
    for (const auto& resource : *hard) names.emplace(resource.key());
  }
  for (const std::string& name : names) {
    const Json* used = kube::Find(row.object, {"status", "used", name});
    const Json* hard = kube::Find(row.object, {"status", "hard", name});
    const std::string used_text = used == nullptr ? "0" : ScalarText(used);
    const bool limit = name.starts_with("limits.");
    (limit ? limits : requests)
        .push_back(fmt::format("{}: {}/{}", name, used_text, ScalarText(hard)));
  }
  row.Name().Text(Join(requests, ", ")).Text(Join(limits, ", ")).Age();
}

constexpr Printer kCorePrinters[] = {
    {"", "Node", kNodeColumns, PrintNode},
    {"", "Event", kEventColumns, PrintCoreEvent},
    {"events.k8s.io", "Event", kEventColumns, PrintNewEvent},
    {"", "Service", kServiceColumns, PrintService},
    {"", "Endpoints", kEndpointsColumns, PrintEndpoints},
    {"", "Namespace", kNamespaceColumns, PrintNamespace},
    {"", "ConfigMap", kConfigMapColumns, PrintConfigMap},
    {"", "Secret", kSecretColumns, PrintSecret},
    {"", "ServiceAccount", kNameAgeColumns, PrintNameAge},
    {"", "ResourceQuota", kQuotaColumns, PrintResourceQuota},
    {"resource.k8s.io", "DeviceClass", kNameAgeColumns, PrintNameAge},
    {"resource.k8s.io", "ResourceClaimTemplate", kNameAgeColumns, PrintNameAge},
};

}  // namespace

std::span<const Printer> CorePrinters() { return kCorePrinters; }

}  // namespace koord::apiserver
