#include "scheduler/plugins/priority_sort/priority_sort.h"

#include <gtest/gtest.h>

#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::priority_sort_test {
namespace {

TEST(PrioritySortTest, OrdersByPriorityThenTimeThenSequence) {
  PluginBed bed;
  const PrioritySort plugin(bed.context);
  const kube::Pod pod;
  const auto at = [](int seconds) { return SteadyTime{} + std::chrono::seconds(seconds); };
  // From first to last.
  const QueuedPodView order[] = {
      {.pod = pod, .priority = 2000, .timestamp = at(9), .sequence = 9},
      {.pod = pod, .priority = 10, .timestamp = at(1), .sequence = 8},
      {.pod = pod, .priority = 10, .timestamp = at(2), .sequence = 3},
      {.pod = pod, .priority = 10, .timestamp = at(2), .sequence = 4},
      {.pod = pod, .priority = 0, .timestamp = at(0), .sequence = 1},
      {.pod = pod, .priority = -10, .timestamp = at(0), .sequence = 0},
  };
  for (size_t a = 0; a < std::size(order); ++a) {
    for (size_t b = 0; b < std::size(order); ++b) {
      EXPECT_EQ(plugin.Less(order[a], order[b]), a < b) << a << " " << b;
    }
  }
}

}  // namespace
}  // namespace koord::scheduler::priority_sort_test
