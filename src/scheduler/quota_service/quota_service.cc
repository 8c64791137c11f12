#include "scheduler/quota_service/quota_service.h"

#include <map>
#include <string>
#include <utility>

#include "model/quota/quota_status.h"

namespace koord::scheduler {
namespace {

using kube::Json;
using model::Quota;
using model::QuotaAmounts;
namespace json = kube::json;

using PodCaches = std::map<const Quota*, json::object>;

json::object PodEntry(const QuotaBook& book, const model::QuotaCharge& charge, bool is_assigned) {
  return {{"isAssigned", is_assigned},
          {"resource", kube::Encode(book.tree().dimensions().ListOf(charge.amounts))}};
}

// The pods of all quotas, or of one.
PodCaches PodsOf(const QuotaBook& book, const Quota* only) {
  PodCaches pods;
  book.ForEachPending([&](const kube::Pod& pod, const Quota& quota) {
    if (only != nullptr && only != &quota) return;
    pods[&quota][KeyOf(pod.metadata).ToString()] = PodEntry(book, book.ChargeOf(pod, quota), false);
  });
  book.ForEachAssigned([&](const PodInfo& pod, const Quota& quota) {
    if (only != nullptr && only != &quota) return;
    pods[&quota][KeyOf(pod.pod->metadata).ToString()] =
        PodEntry(book, book.ChargeOf(pod, quota), true);
  });
  return pods;
}

Json Describe(const QuotaBook& book, const Quota& quota, const PodCaches* pods) {
  const model::QuotaTree& tree = book.tree();
  const Quota& now = tree.Current(quota);
  const model::QuotaStatus status = model::StatusOf(tree, now);
  const auto list = [&](const QuotaAmounts& amounts) {
    return kube::Encode(tree.dimensions().ListOf(amounts));
  };
  json::object described{{"name", now.name()},
                         {"parentName", now.info.parent},
                         {"isParent", now.info.is_parent},
                         {"runtimeVersion", tree.version()},
                         {"allowLentResource", now.lends},
                         {"tree", tree.TreeOf(now.info)},
                         {"max", list(now.max)},
                         {"min", list(now.min)},
                         {"autoScaleMin", list(tree.CountedMinOf(now))},
                         {"used", list(status.used)},
                         {"nonPreemptibleUsed", list(status.non_preemptible_used)},
                         {"request", list(status.request)},
                         {"nonPreemptibleRequest", list(status.non_preemptible_request)},
                         {"sharedWeight", list(now.weight)},
                         {"runtime", list(status.runtime)},
                         {"childRequest", list(status.child_request)},
                         {"allocated", list(status.allocated)},
                         {"guaranteed", list(status.guaranteed)},
                         {"selfUsed", list(now.self.used)},
                         {"selfNonPreemptibleUsed", list(now.self.non_preemptible_used)},
                         {"selfRequest", list(now.self.request)},
                         {"selfNonPreemptibleRequest", list(now.self.non_preemptible_request)}};
  if (pods != nullptr) {
    const auto own = pods->find(&quota);
    described["podCache"] = own == pods->end() ? json::object() : own->second;
  }
  return described;
}

std::string_view ParamIn(const ServicePlugin::Params& params, std::string_view name) {
  const auto at = params.find(name);
  return at == params.end() ? std::string_view() : std::string_view(at->second);
}

StatusOr<Json> DescribeOne(const QuotaBook& book, const ServicePlugin::Params& params) {
  const std::string_view name = ParamIn(params, "name");
  const Quota* quota = book.tree().Find(name);
  if (quota == nullptr) return NotFound("cannot find quota {}", name);
  PodCaches pods;
  const bool with_pods = ParamIn(params, "includePods") == "true";
  if (with_pods) pods = PodsOf(book, quota);
  return Describe(book, *quota, with_pods ? &pods : nullptr);
}

Json DescribeAll(const QuotaBook& book, const ServicePlugin::Params& params) {
  const std::string_view tree = ParamIn(params, "tree");
  PodCaches pods;
  const bool with_pods = ParamIn(params, "includePods") == "true";
  if (with_pods) pods = PodsOf(book, nullptr);
  json::object all;
  for (const auto& [name, quota] : book.tree().quotas()) {
    if (!tree.empty() && book.tree().TreeOf(quota->info) != tree) continue;
    all[name] = Describe(book, *quota, with_pods ? &pods : nullptr);
  }
  return all;
}

}  // namespace

std::vector<ServicePlugin::Endpoint> QuotaEndpoints(const QuotaBook& book) {
  using Params = ServicePlugin::Params;
  return {{"quotas",
           [&book](const Params& params) -> StatusOr<Json> { return DescribeAll(book, params); }},
          {"quotas/{name}",
           [&book](const Params& params) -> StatusOr<Json> { return DescribeOne(book, params); }}};
}

}  // namespace koord::scheduler
