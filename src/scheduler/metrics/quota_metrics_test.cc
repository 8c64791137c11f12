#include "scheduler/metrics/quota_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::quota_metrics_test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(QuotaMetricsTest, ShowWhatQuotasHaveAndUseWhileThereAreAny) {
  PluginBed bed;
  PendingPods pending;
  metrics::Registry registry;
  QuotaMetrics shown(registry);
  const auto text = [&](const QuotaBook* book) {
    shown.LookUp(book);
    return registry.Text();
  };
  EXPECT_THAT(text(&bed.books.quotas), Not(HasSubstr("scheduler_elastic_quota_status{")));
  bed.books.quotas.Open(
      {}, {.quotas = bed.objects.elastic_quotas, .loop = bed.loop, .pending = &pending});
  bed.AddNode("{metadata: {name: n}, status: {allocatable: {cpu: 10, memory: 10Gi}}}");
  bed.objects.elastic_quotas.Set(FromYaml<api::ElasticQuota>(
      "{metadata: {name: q, namespace: default}, spec: {min: {cpu: 2}, max: {cpu: 4, memory: "
      "8Gi}}}"));
  bed.AddPod(
      "{metadata: {name: p, labels: {quota.scheduling.koordinator.sh/name: q}}, spec: {nodeName: "
      "n, containers: [{resources: {requests: {cpu: 1500m, memory: 1Gi}}}]}}");
  const std::string lines = text(&bed.books.quotas);
  for (const auto& [resource, field, value] :
       {std::tuple("cpu", "used", "1500"), std::tuple("cpu", "request", "1500"),
        std::tuple("cpu", "child-request", "1500"), std::tuple("cpu", "runtime", "1500"),
        std::tuple("cpu", "min", "2000"), std::tuple("cpu", "max", "4000"),
        std::tuple("cpu", "sharedWeight", "4000"), std::tuple("memory", "used", "1073741824")}) {
    EXPECT_THAT(lines, HasSubstr(fmt::format(
                           "scheduler_elastic_quota_status{{field=\"{}\",is_parent=\"false\",name="
                           "\"q\",parent=\"koordinator-root-quota\",resource=\"{}\",tree=\"\"}} {}",
                           field, resource, value)));
  }
  bed.objects.elastic_quotas.Remove({"default", "q"});
  EXPECT_THAT(text(&bed.books.quotas), Not(HasSubstr("name=\"q\"")));
  EXPECT_THAT(text(nullptr), Not(HasSubstr("scheduler_elastic_quota_status{")));
}

}  // namespace
}  // namespace koord::scheduler::quota_metrics_test
