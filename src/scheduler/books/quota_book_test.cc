#include "scheduler/books/quota_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/random.h"
#include "kube/time.h"
#include "model/quota/quota_status.h"
#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::quota_book_test {
namespace {

class QuotaBookTest : public ::testing::Test {
 protected:
  void Open(QuotaBook::Options options = {}) {
    if (options.default_max.empty()) {
      options.default_max = {{"cpu", *kube::Quantity::Parse("1000")}};
    }
    book().Open(options,
                {.quotas = bed_.objects.elastic_quotas, .loop = bed_.loop, .pending = &pending_});
  }
  QuotaBook& book() { return bed_.books.quotas; }

  void SetQuota(std::string_view name, std::string_view max, std::string_view more = "",
                std::string_view ns = "default", int created = 1) {
    bed_.objects.elastic_quotas.Set(FromYaml<api::ElasticQuota>(fmt::format(
        "{{metadata: {{name: {}, namespace: {}, creationTimestamp: '{}'{}}}, spec: "
        "{{max: {{{}}}}}}}",
        name, ns, kube::FormatTime(WallTime(std::chrono::seconds(created))), more, max)));
  }
  void RemoveQuota(const std::string& name, const std::string& ns = "default") {
    bed_.objects.elastic_quotas.Remove({ns, name});
  }
  static PodListener::PodPtr Pod(std::string_view name, std::string_view quota, int cpu,
                                 std::string_view node = "", std::string_view more = "") {
    return PodOf(fmt::format(
        "{{metadata: {{name: {}, labels: {{{}}}{}}}, spec: {{{}containers: [{{resources: "
        "{{requests: {{cpu: {}, memory: 1Gi}}}}}}]}}}}",
        name, quota.empty() ? "" : fmt::format("quota.scheduling.koordinator.sh/name: {}", quota),
        more, node.empty() ? "" : fmt::format("nodeName: {}, ", node), cpu));
  }
  void AddNode(std::string_view name, int cpu = 10) {
    bed_.AddNode(fmt::format(
        "{{metadata: {{name: {}}}, status: {{allocatable: {{cpu: {}, memory: 64Gi}}}}}}", name,
        cpu));
  }
  // "request/used" of cpu.
  std::string Of(std::string_view name) {
    const model::Quota* quota = book().tree().Find(name);
    if (quota == nullptr) return "none";
    const model::QuotaStatus status = model::StatusOf(book().tree(), *quota);
    const auto text = [&](const model::QuotaAmounts& amounts) {
      const auto list = book().tree().dimensions().ListOf(amounts);
      return kube::AmountOf(list, "cpu").ToString();
    };
    return text(status.child_request) + "/" + text(status.used);
  }
  void Assume(const PodListener::PodPtr& pod, std::string_view node) {
    ASSERT_TRUE(
        bed_.ledger.Assume(pod, bed_.ledger.shapes().Of(pod), *bed_.ledger.nodes().Find(node))
            .ok());
  }

  void ExpectSameAsFresh(const QuotaBook::Options& options, const std::string& when) {
    PluginBed other;
    PendingPods pending;
    other.loop.Advance(bed_.loop.clock().Steady() - other.loop.clock().Steady());
    for (const auto& [key, quota] : bed_.objects.elastic_quotas.objects()) {
      other.objects.elastic_quotas.Set(quota);
    }
    for (const auto& pod : pending_.pods()) pending.Set(pod);
    if (const auto row = bed_.ledger.nodes().Find("n")) {
      other.ledger.SetNode(bed_.ledger.nodes().shared_node(*row));
    }
    bed_.ledger.ForEachPod([&](const PodInfo& pod) {
      if (!pod.assumed || pod.missing_node) return other.ledger.SetPod(Shown(pod));
      ASSERT_TRUE(
          other.ledger
              .Assume(pod.pod, other.ledger.shapes().Of(pod.pod), *other.ledger.nodes().Find("n"))
              .ok());
    });
    other.books.quotas.Open(
        options, {.quotas = other.objects.elastic_quotas, .loop = other.loop, .pending = &pending});
    for (const auto& [name, quota] : book().tree().quotas()) {
      EXPECT_EQ(Text(book(), name), Text(other.books.quotas, name)) << name << " " << when;
    }
  }
  static PodListener::PodPtr Shown(const PodInfo& pod) {
    if (!pod.pod->spec.node_name.empty()) return pod.pod;
    kube::Pod shown = *pod.pod;
    shown.spec.node_name = "n";
    return std::make_shared<const kube::Pod>(std::move(shown));
  }
  // Of all resources, without zeros.
  static std::string Text(const QuotaBook& book, std::string_view name) {
    const model::Quota* quota = book.tree().Find(name);
    if (quota == nullptr) return "none";
    const model::QuotaStatus status = model::StatusOf(book.tree(), *quota);
    std::string text;
    for (const model::QuotaAmounts* amounts : {&status.child_request, &status.used}) {
      kube::ResourceList list = book.tree().dimensions().ListOf(*amounts);
      std::erase_if(list, [](const auto& entry) { return entry.second.Sign() == 0; });
      text += kube::Serialize(kube::Encode(list)) + " ";
    }
    return text;
  }

  PluginBed bed_;
  PendingPods pending_;
};

TEST_F(QuotaBookTest, APodRequestsWhileItWaitsAndUsesFromTheMomentThatItIsGivenANode) {
  Open();
  AddNode("n");
  SetQuota("team", "cpu: 8");
  const auto pod = Pod("p", "team", 3);
  pending_.Set(pod);
  EXPECT_EQ(Of("team"), "3/0");
  Assume(pod, "n");
  EXPECT_EQ(Of("team"), "3/3");
  bed_.ledger.Forget("p");
  EXPECT_EQ(Of("team"), "3/0");
  Assume(pod, "n");
  const auto bound = Pod("p", "team", 3, "n");
  pending_.SetBound(bound, false);
  EXPECT_EQ(Of("team"), "3/3");
  bed_.ledger.SetPod(bound);
  EXPECT_EQ(Of("team"), "3/3");
  bed_.ledger.RemovePod("p");
  EXPECT_EQ(Of("team"), "0/0");
}

TEST_F(QuotaBookTest, APodThatIsGoneWhileItIsBoundLeavesNothing) {
  Open();
  AddNode("n");
  SetQuota("team", "cpu: 8");
  const auto pod = Pod("p", "team", 3);
  pending_.Set(pod);
  Assume(pod, "n");
  pending_.Remove("p");
  EXPECT_EQ(Of("team"), "3/3");
  bed_.ledger.Forget("p");
  EXPECT_EQ(Of("team"), "0/0");
}

TEST_F(QuotaBookTest, PodsOfNodesThatAreNotThereCount) {
  Open();
  SetQuota("team", "cpu: 8");
  bed_.ledger.SetPod(Pod("p", "team", 3, "n"));
  EXPECT_EQ(Of("team"), "3/3");
  AddNode("n");
  EXPECT_EQ(Of("team"), "3/3");
  bed_.ledger.RemoveNode("n");
  EXPECT_EQ(Of("team"), "3/3");
  bed_.ledger.RemovePod("p");
  EXPECT_EQ(Of("team"), "0/0");
}

TEST_F(QuotaBookTest, ReservationsAreNotCharged) {
  Open();
  AddNode("n");
  SetQuota("team", "cpu: 8");
  bed_.ledger.SetPod(
      Pod("r", "team", 3, "n", ", annotations: {scheduling.koordinator.sh/reserve-pod: 'true'}"));
  EXPECT_EQ(Of("team"), "0/0");
}

TEST_F(QuotaBookTest, PodsFollowTheirLabel) {
  Open();
  AddNode("n");
  SetQuota("one", "cpu: 8");
  SetQuota("two", "cpu: 8");
  bed_.ledger.SetPod(Pod("p", "one", 3, "n"));
  pending_.Set(Pod("w", "one", 1));
  EXPECT_EQ(Of("one"), "4/3");
  bed_.ledger.SetPod(Pod("p", "two", 3, "n"));
  pending_.Set(Pod("w", "two", 1));
  EXPECT_EQ(Of("one"), "0/0");
  EXPECT_EQ(Of("two"), "4/3");
}

// At once, not when the pod changes.
TEST_F(QuotaBookTest, PodsOfADeletedQuotaAreChargedElsewhereAtOnce) {
  Open();
  AddNode("n");
  SetQuota("one", "cpu: 8");
  bed_.ledger.SetPod(Pod("p", "one", 3, "n"));
  pending_.Set(Pod("w", "one", 1));
  EXPECT_EQ(Of("koordinator-default-quota"), "0/0");
  RemoveQuota("one");
  EXPECT_EQ(Of("koordinator-default-quota"), "4/3");
  SetQuota("one", "cpu: 8");
  EXPECT_EQ(Of("koordinator-default-quota"), "0/0");
  EXPECT_EQ(Of("one"), "4/3");
}

TEST_F(QuotaBookTest, PodsWithoutLabelBelongToTheirNamespace) {
  Open();
  AddNode("n");
  bed_.ledger.SetPod(Pod("p", "", 3, "n"));
  EXPECT_EQ(Of("koordinator-default-quota"), "3/3");
  SetQuota("lister", "cpu: 5", R"(, annotations: {quota.scheduling.koordinator.sh/namespaces:
                                  '["default"]'})");
  EXPECT_EQ(Of("lister"), "3/3");
  SetQuota("default", "cpu: 5");
  EXPECT_EQ(Of("lister"), "0/0");
  EXPECT_EQ(Of("default"), "3/3");
  RemoveQuota("default");
  RemoveQuota("lister");
  EXPECT_EQ(Of("koordinator-default-quota"), "3/3");
}

TEST_F(QuotaBookTest, OnlyResourcesOfTheMaxAreCharged) {
  Open();
  AddNode("n");
  SetQuota("team", "cpu: 8");
  bed_.ledger.SetPod(Pod("p", "team", 3, "n"));
  const model::Quota* team = book().tree().Find("team");
  EXPECT_EQ(book().tree().dimensions().TextOf(book().tree().Current(*team).used), "cpu:3");
  SetQuota("team", "cpu: 8, memory: 8Gi");
  EXPECT_EQ(book().tree().dimensions().TextOf(book().tree().Current(*team).used),
            "cpu:3,memory:1Gi");
}

TEST_F(QuotaBookTest, TheTotalIsWhatTheNodesHave) {
  Open();
  SetQuota("team", "cpu: 100");
  pending_.Set(Pod("p", "team", 50));
  const auto runtime = [&] {
    return book().tree().dimensions().TextOf(book().tree().RuntimeOf(*book().tree().Find("team")));
  };
  EXPECT_EQ(runtime(), "cpu:0");
  AddNode("a", 10);
  AddNode("b", 20);
  EXPECT_EQ(runtime(), "cpu:30");
  AddNode("b", 5);
  EXPECT_EQ(runtime(), "cpu:15");
  bed_.ledger.RemoveNode("a");
  EXPECT_EQ(runtime(), "cpu:5");
}

// What a tree of its own has, the default tree has not.
TEST_F(QuotaBookTest, TreesAreIndependent) {
  Open({.tree = {.multi_tree = true}});
  AddNode("n", 10);
  SetQuota("root-1", "cpu: 100",
           R"(, labels: {quota.scheduling.koordinator.sh/tree-id: t1,
                         quota.scheduling.koordinator.sh/is-root: 'true',
                         quota.scheduling.koordinator.sh/is-parent: 'true'},
              annotations: {quota.scheduling.koordinator.sh/total-resource: '{"cpu":"4"}'})");
  SetQuota("inside", "cpu: 100",
           R"(, labels: {quota.scheduling.koordinator.sh/tree-id: t1,
                         quota.scheduling.koordinator.sh/parent: root-1})");
  SetQuota("outside", "cpu: 100");
  pending_.Set(Pod("p", "inside", 50));
  pending_.Set(Pod("q", "outside", 50));
  const auto runtime = [&](std::string_view name) {
    return book().tree().dimensions().TextOf(book().tree().RuntimeOf(*book().tree().Find(name)));
  };
  EXPECT_EQ(runtime("inside"), "cpu:4");
  EXPECT_EQ(runtime("outside"), "cpu:6");
  // A pod that moves leaves nothing behind.
  pending_.Set(Pod("p", "outside", 50));
  EXPECT_EQ(Of("inside"), "0/0");
  EXPECT_EQ(Of("outside"), "100/0");
  RemoveQuota("inside");
  RemoveQuota("root-1");
  EXPECT_EQ(runtime("outside"), "cpu:10");
}

TEST_F(QuotaBookTest, OfTwoQuotasOfOneNameTheOlderCounts) {
  Open();
  SetQuota("team", "cpu: 1", "", "late", 20);
  SetQuota("team", "cpu: 2", "", "early", 10);
  const auto max = [&] {
    return book().tree().dimensions().TextOf(book().tree().Find("team")->max);
  };
  EXPECT_EQ(max(), "cpu:2");
  EXPECT_EQ(book().ProblemOf(*bed_.objects.elastic_quotas.Find(kube::ObjectKey{"early", "team"})),
            "");
  EXPECT_EQ(book().ProblemOf(*bed_.objects.elastic_quotas.Find(kube::ObjectKey{"late", "team"})),
            "the names of quotas count across namespaces: early/team is older and counts");
  RemoveQuota("team", "early");
  EXPECT_EQ(max(), "cpu:1");
}

TEST_F(QuotaBookTest, WithoutDefaultQuotaOnlyTheLabelCounts) {
  Open({.no_default = true});
  AddNode("n");
  SetQuota("default", "cpu: 8");
  bed_.ledger.SetPod(Pod("p", "", 3, "n"));
  bed_.ledger.SetPod(Pod("q", "nobody", 3, "n"));
  EXPECT_EQ(Of("default"), "0/0");
  EXPECT_EQ(book().QuotaOf(*Pod("p", "", 3)), nullptr);
  bed_.ledger.SetPod(Pod("r", "default", 2, "n"));
  EXPECT_EQ(Of("default"), "2/2");
}

TEST_F(QuotaBookTest, OverheadCountsUnlessItIsIgnored) {
  for (const bool ignored : {false, true}) {
    PluginBed bed;
    PendingPods pending;
    bed.books.quotas.Open(
        {.ignore_overhead = ignored},
        {.quotas = bed.objects.elastic_quotas, .loop = bed.loop, .pending = &pending});
    bed.AddNode("{metadata: {name: n}, status: {allocatable: {cpu: 10}}}");
    bed.objects.elastic_quotas.Set(FromYaml<api::ElasticQuota>(
        "{metadata: {name: team, namespace: default}, spec: {max: {cpu: 8}}}"));
    const auto pod = PodOf(
        "{metadata: {name: p, labels: {quota.scheduling.koordinator.sh/name: team}}, spec: "
        "{nodeName: n, overhead: {cpu: 1}, containers: [{resources: {requests: {cpu: 3}}}]}}");
    const model::Quota* team = bed.books.quotas.tree().Find("team");
    bed.ledger.SetPod(pod);
    EXPECT_EQ(
        bed.books.quotas.tree().dimensions().TextOf(bed.books.quotas.tree().Current(*team).used),
        ignored ? "cpu:3" : "cpu:4");
    EXPECT_EQ(
        bed.books.quotas.tree().dimensions().TextOf(bed.books.quotas.ChargeOf(*pod, *team).amounts),
        ignored ? "cpu:3" : "cpu:4");
  }
}

class TerminatingPodsTest : public QuotaBookTest {
 protected:
  std::string Deleted(Duration ago, int grace) {
    return fmt::format(", deletionTimestamp: '{}', deletionGracePeriodSeconds: {}",
                       kube::FormatTime(bed_.loop.clock().Now() - ago), grace);
  }
};

TEST_F(TerminatingPodsTest, CountUntilTheyAreGone) {
  Open();
  AddNode("n");
  SetQuota("team", "cpu: 8");
  bed_.ledger.SetPod(Pod("p", "team", 3, "n", Deleted(1h, 30)));
  EXPECT_EQ(Of("team"), "3/3");
}

TEST_F(TerminatingPodsTest, CountNoLongerOnceTheirTimeIsOverAndATimerNotices) {
  Open({.terminating = QuotaBook::Terminating::kCountUntilGrace});
  AddNode("n");
  SetQuota("team", "cpu: 8");
  bed_.ledger.SetPod(Pod("p", "team", 3, "n"));
  pending_.Set(Pod("w", "team", 1));
  int changes = 0;
  book().OnChange([&] { ++changes; });
  bed_.ledger.SetPod(Pod("p", "team", 3, "n", Deleted(0s, 30)));
  pending_.Set(Pod("w", "team", 1, "", Deleted(0s, 10)));
  EXPECT_EQ(Of("team"), "4/3");
  changes = 0;
  bed_.loop.Advance(20s);
  EXPECT_EQ(Of("team"), "3/3");
  bed_.loop.Advance(20s);
  EXPECT_EQ(Of("team"), "0/0");
  EXPECT_GT(changes, 0) << "whoever waits must hear of it";
  bed_.ledger.RemovePod("p");
  pending_.Remove("w");
  EXPECT_EQ(Of("team"), "0/0");
}

TEST_F(TerminatingPodsTest, CountNoLongerAtOnce) {
  Open({.terminating = QuotaBook::Terminating::kIgnore});
  AddNode("n");
  SetQuota("team", "cpu: 8");
  const auto pod = Pod("p", "team", 3);
  pending_.Set(pod);
  Assume(pod, "n");
  EXPECT_EQ(Of("team"), "3/3");
  pending_.Set(Pod("p", "team", 3, "", Deleted(0s, 30)));  // while it is being bound
  EXPECT_EQ(Of("team"), "0/0");
  bed_.ledger.Forget("p");
  EXPECT_EQ(Of("team"), "0/0");
  pending_.Remove("p");
  EXPECT_EQ(Of("team"), "0/0");
}

// Whatever happens, the sums are those of a book that is opened now.
TEST_F(QuotaBookTest, EqualsABookThatIsFilledFromLists) {
  Random random(7);
  QuotaBook::Options options{.terminating = QuotaBook::Terminating::kCountUntilGrace};
  options.default_max = {{"cpu", *kube::Quantity::Parse("1000")}};
  Open(options);
  const auto quota = [&] { return fmt::format("q{}", random.Below(4)); };
  AddNode("n");
  std::set<std::string> waiting, assumed, bound;
  std::map<std::string, PodListener::PodPtr> pods;
  std::map<std::string, std::string> deletions;
  for (int i = 0; i < 3000; ++i) {
    const std::string name = fmt::format("p{}", random.Below(20));
    const auto deleted = [&] {  // once and for all
      std::string& text = deletions[name];
      if (text.empty() && random.Chance(0.2)) {
        text = fmt::format(", deletionTimestamp: '{}', deletionGracePeriodSeconds: {}",
                           kube::FormatTime(bed_.loop.clock().Now()), random.Below(30));
      }
      return text;
    };
    switch (random.Below(8)) {
      case 0:
      case 1:
        if (bound.contains(name)) break;
        pods[name] = Pod(name, quota(), static_cast<int>(1 + random.Below(5)), "", deleted());
        pending_.Set(pods[name]);
        waiting.insert(name);
        break;
      case 2:
        if (!waiting.contains(name) || !bed_.ledger.nodes().Find("n")) break;
        if (bed_.ledger.Find(name) == nullptr) Assume(pods[name], "n");
        assumed.insert(name);
        break;
      case 3:
        if (assumed.erase(name) != 0) bed_.ledger.Forget(name);
        break;
      case 4: {
        if (!waiting.contains(name) && !bound.contains(name)) break;
        const auto pod = Pod(name, quota(), static_cast<int>(1 + random.Below(5)), "n", deleted());
        pending_.SetBound(pod, bound.contains(name));
        bed_.ledger.SetPod(pod);
        waiting.erase(name);
        assumed.erase(name);
        bound.insert(name);
        break;
      }
      case 5:
        pending_.Remove(name);
        bed_.ledger.RemovePod(name);
        deletions.erase(name);
        waiting.erase(name);
        assumed.erase(name);
        bound.erase(name);
        break;
      case 6:
        if (random.Chance(0.5)) {
          SetQuota(quota(), random.Chance(0.5) ? "cpu: 8" : "cpu: 8, memory: 1Ti");
        } else {
          RemoveQuota(quota());
        }
        break;
      default:
        if (random.Chance(0.5)) {
          bed_.loop.Advance(std::chrono::seconds(random.Below(20)));
        } else if (bed_.ledger.nodes().Find("n")) {
          bed_.ledger.RemoveNode("n");
        } else {
          AddNode("n");
        }
    }
    if (i % 5 == 0) ExpectSameAsFresh(options, fmt::format("after step {}", i));
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace koord::scheduler::quota_book_test
