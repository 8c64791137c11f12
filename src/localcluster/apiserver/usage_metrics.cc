#include "localcluster/apiserver/usage_metrics.h"

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/duration.h"
#include "base/strings.h"
#include "kube/resources.h"
#include "kube/time.h"
#include "localcluster/apiserver/core/errors.h"
#include "localcluster/apiserver/http/respond.h"
#include "localcluster/apiserver/read/selection.h"

namespace koord::apiserver {
namespace {

using kube::Json;
namespace json = kube::json;

constexpr char kNodeMetrics[] = "nodemetrics.slo.koordinator.sh";
constexpr int64_t kDefaultWindowSeconds = 300;

// One report of a koordlet.
class Report {
 public:
  static std::optional<Report> Of(const EntryPtr& entry) {
    if (entry == nullptr) return {};
    auto metric = kube::ParseJson(entry->value);
    if (!metric.ok() || kube::FindString(*metric, {"status", "updateTime"}).empty()) return {};
    return Report(std::move(*metric));
  }

  const Json* node_usage() const {
    return kube::Find(metric_, {"status", "nodeMetric", "nodeUsage", "resources"});
  }
  std::string_view timestamp() const { return kube::FindString(metric_, {"status", "updateTime"}); }
  std::string window() const {
    const int64_t seconds =
        kube::FindInt(metric_, {"spec", "metricCollectPolicy", "aggregateDurationSeconds"},
                      kDefaultWindowSeconds);
    return FormatDuration(BoundedSeconds(seconds));
  }

  // Calls `visit(key, usage)` for each pod.
  template <class Visit>
  void ForEachPod(Visit visit) const {
    const auto* pods = kube::FindArray(metric_, {"status", "podsMetric"});
    if (pods == nullptr) return;
    for (const Json& pod : *pods) {
      const Json* usage = kube::Find(pod, {"podUsage", "resources"});
      if (usage == nullptr) continue;
      visit(KeyOf(kube::FindString(pod, {"namespace"}), kube::FindString(pod, {"name"})), *usage);
    }
  }

 private:
  explicit Report(Json metric) : metric_(std::move(metric)) {}
  Json metric_;
};

// Only what metrics.k8s.io knows of.
Json Measured(const Json& usage) {
  json::object measured;
  for (const char* name : {"cpu", "memory"}) {
    if (const Json* amount = kube::Find(usage, {name})) measured[name] = *amount;
  }
  return measured;
}

json::object Item(std::string_view kind, const Json& of, const Report& report) {
  json::object metadata;
  for (const char* field : {"name", "namespace", "labels"}) {
    if (const Json* value = kube::Find(of, {"metadata", field})) metadata[field] = *value;
  }
  metadata["creationTimestamp"] = report.timestamp();
  return {{"kind", kind},
          {"apiVersion", std::string(kMetricsGroup) + "/v1beta1"},
          {"metadata", std::move(metadata)},
          {"timestamp", report.timestamp()},
          {"window", report.window()}};
}

std::string ContainerNames(const Json& pod) {
  std::vector<std::string_view> names;
  if (const auto* containers = kube::FindArray(pod, {"spec", "containers"})) {
    for (const Json& container : *containers) {
      names.push_back(kube::FindString(container, {"name"}));
    }
  }
  return Join(names, ",");
}

std::optional<Json> NodeItem(const Core& core, const Entry& node) {
  const auto report = Report::Of(core.store.Get(kNodeMetrics, node.key));
  const auto object = kube::ParseJson(node.value);
  if (!report || report->node_usage() == nullptr || !object.ok()) return {};
  json::object item = Item("NodeMetrics", *object, *report);
  item["usage"] = Measured(*report->node_usage());
  return item;
}

// Pods that run, by the report of the node that they run on; reports are read once for all.
class PodItems {
 public:
  explicit PodItems(const Core& core) : core_(core) {}

  std::optional<Json> Find(const Entry& entry) {
    const auto pod = kube::ParseJson(entry.value);
    if (!pod.ok() || kube::FindString(*pod, {"status", "phase"}) != "Running") return {};
    const Node& node = Read(std::string(kube::FindString(*pod, {"spec", "nodeName"})));
    const auto usage = node.pods.find(entry.key);
    if (usage == node.pods.end()) return {};
    json::object item = Item("PodMetrics", *pod, *node.report);
    item["containers"] = json::array{
        json::object{{"name", ContainerNames(*pod)}, {"usage", Measured(*usage->second)}}};
    return item;
  }

 private:
  struct Node {
    std::optional<Report> report;
    std::map<std::string, const Json*> pods;  // usage by key, inside of the report
  };

  const Node& Read(const std::string& name) {
    const auto [it, is_new] = nodes_.try_emplace(name);
    Node& node = it->second;
    if (!is_new) return node;
    node.report = Report::Of(core_.store.Get(kNodeMetrics, name));
    if (!node.report) return node;
    node.report->ForEachPod(
        [&](std::string key, const Json& usage) { node.pods.emplace(std::move(key), &usage); });
    return node;
  }

  const Core& core_;
  std::map<std::string, Node> nodes_;
};

// What the metrics of a resource are called in errors.
kube::Resource Called(const kube::Resource& resource) {
  kube::Resource called = resource;
  called.resource = ToLower(resource.kind);
  return called;
}

void RespondList(Core& core, Request& request, const std::vector<Json>& items) {
  Json metadata = json::object{{"resourceVersion", std::to_string(core.store.revision())}};
  if (request.output.kind == Output::Kind::kTable) {
    std::vector<const Json*> pointers;
    for (const Json& item : items) pointers.push_back(&item);
    TableOptions options = TableOptionsFor(core, request);
    options.metadata = std::move(metadata);
    return Respond(core, request, 200,
                   kube::Serialize(MakeTable(*request.info, pointers, options)));
  }
  const json::object list{{"kind", request.info->list_kind},
                          {"apiVersion", request.info->resource.api_version()},
                          {"metadata", std::move(metadata)},
                          {"items", json::array(items.begin(), items.end())}};
  Respond(core, request, 200, kube::Serialize(list));
}

}  // namespace

void RespondUsage(Core& core, Request& request) {
  const bool of_pods = request.info->resource.namespaced;
  PodItems pods(core);
  const auto find = [&](const Entry& entry) {
    return of_pods ? pods.Find(entry) : NodeItem(core, entry);
  };
  const std::string measured = request.info->resource.resource;  // "nodes" or "pods"
  if (!request.name.empty()) {
    const EntryPtr entry = core.store.Get(measured, KeyOf(request.ns, request.name));
    const auto item = entry == nullptr ? std::nullopt : find(*entry);
    if (item && request.output.kind == Output::Kind::kTable) {
      return RespondList(core, request, {*item});
    }
    if (item) return Respond(core, request, 200, kube::Serialize(*item));
    return RespondError(
        core, request,
        ObjectNotFound(Called(request.info->resource), KeyOf(request.ns, request.name)));
  }
  const StatusOr<Selection> selection = Selection::Of(request);
  if (!selection.ok()) return RespondError(core, request, selection.status());
  std::vector<Json> items;
  const std::string prefix = request.ns.empty() ? "" : request.ns + "/";
  const auto visit = [&](const EntryPtr& entry) {
    if (!selection->Matches(*entry)) return true;
    if (auto item = find(*entry)) items.push_back(*std::move(item));
    return true;
  };
  const Status status = core.store.Range(measured, prefix, "", 0, visit);
  if (!status.ok()) return RespondError(core, request, status);
  RespondList(core, request, items);
}

}  // namespace koord::apiserver
