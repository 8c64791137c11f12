#include "scheduler/pipeline/nominated_rows.h"

#include <gtest/gtest.h>

#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::nominated_rows_test {
namespace {

class NominatedRowsTest : public testing::Test {
 protected:
  using PodPtr = std::shared_ptr<const kube::Pod>;

  static PodPtr Pod(std::string_view name, int priority) {
    return PodOf(fmt::format("{{metadata: {{name: {}}}, spec: {{priority: {}}}}}", name, priority));
  }
  void Promise(std::string_view node, const std::vector<PodPtr>& pods) { rows_.Set(node, pods); }
  // Whom a pod of this priority sees on the node besides those who are there.
  std::string SeenAt(std::string_view node, int priority) {
    const RowDelta* delta = rows_.DeltaAt(*bed_.ledger.nodes().Find(node), priority);
    if (delta == nullptr) return "-";
    std::string names;
    for (const PodInfo* pod : delta->added) names += pod->pod->metadata.name + " ";
    return names;
  }

  PluginBed bed_;
  NominatedRows rows_{bed_.ledger};
};

TEST_F(NominatedRowsTest, ShowsThoseWhoAreAtLeastAsImportant) {
  bed_.AddNode("{metadata: {name: a}}");
  bed_.AddNode("{metadata: {name: b}}");
  Promise("a", {Pod("low", 1), Pod("high", 9), Pod("second", 9), Pod("middle", 5)});
  EXPECT_EQ(SeenAt("a", 10), "-");
  EXPECT_EQ(SeenAt("a", 9), "high second ");
  EXPECT_EQ(SeenAt("a", 6), "high second ");
  EXPECT_EQ(SeenAt("a", 5), "high second middle ");
  EXPECT_EQ(SeenAt("a", -1), "high second middle low ");
  EXPECT_EQ(SeenAt("b", 0), "-");
  EXPECT_EQ(rows_.NodeOf("low"), "a");
  EXPECT_EQ(rows_.On(*bed_.ledger.nodes().Find("a"), 5, "second").size(), 2u)
      << "nobody is in his own way";

  Promise("b", {Pod("low", 1)});
  Promise("a", {Pod("middle", 5)});
  EXPECT_EQ(SeenAt("a", 0), "middle ");
  EXPECT_EQ(rows_.NodeOf("low"), "b");
  EXPECT_EQ(rows_.rows().size(), 2u);
  Promise("a", {});
  Promise("b", {});
  EXPECT_TRUE(rows_.empty());
  EXPECT_TRUE(rows_.rows().empty());
  EXPECT_EQ(SeenAt("a", 0), "-");
}

TEST_F(NominatedRowsTest, APromiseOutlivesItsNode) {
  Promise("a", {Pod("p", 1)});
  EXPECT_TRUE(rows_.rows().empty()) << "there is no such node yet";
  bed_.AddNode("{metadata: {name: a}}");
  EXPECT_EQ(SeenAt("a", 0), "p ");
  bed_.ledger.RemoveNode("a");
  EXPECT_TRUE(rows_.rows().empty());
  bed_.AddNode("{metadata: {name: other}}");  // in its row
  EXPECT_EQ(SeenAt("other", 0), "-");
  bed_.AddNode("{metadata: {name: a}}");
  EXPECT_EQ(SeenAt("a", 0), "p ");
}

}  // namespace
}  // namespace koord::scheduler::nominated_rows_test
