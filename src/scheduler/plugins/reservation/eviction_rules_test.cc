#include "scheduler/plugins/reservation/eviction_rules.h"

#include <gtest/gtest.h>

#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::eviction_rules_test {
namespace {

TEST(ReservationEvictionRulesTest, WhoMayBeEvicted) {
  PluginBed bed;
  bed.AddNode("{metadata: {name: n}}");
  const auto may_go = [&](std::string_view metadata) {
    bed.AddPod(fmt::format("{{metadata: {{name: p, uid: p{}}}, spec: {{nodeName: n}}}}", metadata));
    return ReservationEvictionRules().MayBeEvicted(*bed.ledger.Find("p"));
  };
  EXPECT_TRUE(may_go(""));
  EXPECT_FALSE(may_go(", labels: {scheduling.koordinator.sh/disable-preemptible: 'true'}"));
  EXPECT_TRUE(may_go(", labels: {scheduling.koordinator.sh/disable-preemptible: 'false'}"));
  EXPECT_FALSE(may_go(", annotations: {scheduling.koordinator.sh/reserve-pod: 'true'}"))
      << "a reservation is nobody's victim";
}

}  // namespace
}  // namespace koord::scheduler::eviction_rules_test
