#include "scheduler/plugins/dynamic_resources/dynamic_resources.h"

#include <gtest/gtest.h>

#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::dynamic_resources_test {
namespace {

TEST(DynamicResources, LeavesOtherPodsAlone) {
  PluginBed bed;
  DynamicResources plugin(bed.context, {});
  bed.Query(plugin, "{metadata: {name: p}, spec: {containers: [{name: c}]}}");
  EXPECT_EQ(bed.pre_filter.verdict.code, Code::kSkip);
}

TEST(DynamicResources, SaysWhyAPodWithClaimsCannotRun) {
  PluginBed bed;
  DynamicResources plugin(bed.context, {});
  bed.Query(plugin, R"(
metadata: {name: p}
spec: {containers: [{name: c}], resourceClaims: [{name: gpu, resourceClaimName: my-gpu}]}
)");
  EXPECT_EQ(bed.pre_filter.verdict.code, Code::kUnschedulableAndUnresolvable);
  EXPECT_EQ(
      bed.pre_filter.verdict.Message(),
      "resource claims are not supported by this scheduler: spec.resourceClaims names \"gpu\"");
}

}  // namespace
}  // namespace koord::scheduler::dynamic_resources_test
