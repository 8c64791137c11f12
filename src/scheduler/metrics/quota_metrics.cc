#include "scheduler/metrics/quota_metrics.h"

#include <limits>
#include <string_view>

#include "api/keys.h"
#include "model/quota/quota_status.h"

namespace koord::scheduler {

QuotaMetrics::QuotaMetrics(metrics::Registry& registry)
    : status_(registry.AddGauges(
          "scheduler_elastic_quota_status",
          "What an ElasticQuota is given, asks for and uses, by resource and field.",
          {"name", "resource", "tree", "is_parent", "parent", "field"},
          std::numeric_limits<size_t>::max())) {
  // Dashboards look for it; nothing has ever set it.
  registry.AddGauges("scheduler_elastic_quota_spec", "What an ElasticQuota says it is given.",
                     {"name", "resource", "tree", "is_parent", "parent", "field"});
}

void QuotaMetrics::LookUp(const QuotaBook* book) {
  status_.Clear();
  if (book == nullptr || !book->is_open()) return;
  for (const auto& [name, quota] : book->tree().quotas()) Show(*book, *quota);
}

void QuotaMetrics::Show(const QuotaBook& book, const model::Quota& quota) {
  const model::QuotaTree& tree = book.tree();
  const model::Dimensions& dimensions = tree.dimensions();
  const model::QuotaStatus status = model::StatusOf(tree, quota);
  const auto show = [&](std::string_view field, const model::QuotaAmounts& amounts) {
    for (const model::QuotaAmount& each : amounts) {
      status_
          .With({quota.name(), dimensions.NameOf(each.id), tree.TreeOf(quota.info),
                 quota.info.is_parent ? "true" : "false", quota.info.parent, field})
          .Set(static_cast<double>(each.value));
    }
  };
  show("runtime", status.runtime);
  show("request", status.request);
  show("child-request", status.child_request);
  show("guaranteed", status.guaranteed);
  show("allocated", status.allocated);
  show("non-preemptible-request", status.non_preemptible_request);
  show("non-preemptible-used", status.non_preemptible_used);
  show("used", status.used);
  show("min", quota.min);
  show("max", quota.max);
  show("sharedWeight", quota.weight);
  if (!quota.info.is_tree_root) return;
  if (const auto object = book.ObjectOf(quota.name())) {
    const auto list = api::QuotaAmounts(*object, api::kAnnotationQuotaUnschedulableResource);
    if (list.ok()) show("unschedulable-resource", dimensions.Known(*list));
  }
}

}  // namespace koord::scheduler
