#include "scheduler/cluster/shared_room.h"

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"
#include "scheduler/cluster/ledger.h"
#include "scheduler/framework/row_view.h"
#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::shared_room_test {
namespace {

constexpr std::string_view kGpu = "example.com/gpu";

std::shared_ptr<const kube::Node> Node(std::string_view name, int cpu = 10) {
  return NodeOf(
      fmt::format("{{metadata: {{name: {}}}, status: {{allocatable: {{cpu: '{}', memory: 10Gi, "
                  "{}: '8'}}}}}}",
                  name, cpu, kGpu));
}

// `requests` as YAML.
std::shared_ptr<const kube::Pod> Reserve(std::string_view uid, std::string_view node,
                                         std::string_view requests) {
  return PodOf(fmt::format(
      "{{metadata: {{name: {0}, uid: {0}, annotations: {{scheduling.koordinator.sh/reserve-pod: "
      "'true', scheduling.koordinator.sh/reservation-name: name-of-{0}}}}}, spec: {{nodeName: "
      "'{1}', priority: 100, containers: [{{resources: {{requests: {2}}}}}]}}}}",
      uid, node, requests));
}

std::shared_ptr<const kube::Pod> Owner(std::string_view name, std::string_view node,
                                       std::string_view of, std::string_view requests) {
  kube::Pod pod =
      *PodOf(fmt::format("{{metadata: {{name: {0}}}, spec: {{nodeName: '{1}', containers: "
                         "[{{resources: {{requests: {2}}}}}]}}}}",
                         name, node, requests));
  if (!of.empty()) {
    pod.metadata.annotations["scheduling.koordinator.sh/reservation-allocated"] =
        fmt::format(R"({{"name":"name-of-{0}","uid":"{0}"}})", of);
  }
  return std::make_shared<const kube::Pod>(std::move(pod));
}

class SharedRoomTest : public ::testing::Test {
 protected:
  int64_t Free(ResourceId id = kCpuId) const {
    return ledger_.nodes().allocatable(id)[row_] - ledger_.nodes().requested(id)[row_];
  }
  int64_t Pods() const { return ledger_.nodes().pod_counts()[row_]; }
  RowView Without(std::initializer_list<std::string_view> uids) {
    delta_ = {};
    for (const std::string_view uid : uids) delta_.removed.push_back(ledger_.Find(uid));
    return {row_, &delta_};
  }

  Ledger ledger_;
  const NodeRow row_ = ledger_.SetNode(Node("a"));
  RowDelta delta_;
};

// Decision 1.
TEST_F(SharedRoomTest, WhatOwnersTakeBeyondAReservationStaysCharged) {
  ledger_.SetPod(Reserve("r", "a", "{cpu: 6}"));
  EXPECT_EQ(Free(), 4000);
  ledger_.SetPod(Owner("o", "a", "r", "{cpu: 10}"));
  EXPECT_EQ(Free(), 0) << "not 4";
  ledger_.RemovePod("r");
  EXPECT_EQ(Free(), 0);
  ledger_.RemovePod("o");
  EXPECT_EQ(Free(), 10000);
}

// Decision 2.
TEST_F(SharedRoomTest, AReservationThatWasJustUsedUpIsNotCountedTwice) {
  ledger_.SetPod(Reserve("r", "a", "{cpu: 6, memory: 6Gi}"));
  const std::string before = ledger_.Fingerprint();
  const auto owner = Owner("o", "", "", "{cpu: 6, memory: 6Gi}");
  auto held = std::make_unique<Holdings>();
  held->draws_from = {"name-of-r", "r"};
  ASSERT_TRUE(ledger_.Assume(owner, ledger_.shapes().Of(owner), row_, std::move(held)).ok());
  EXPECT_EQ(Free(), 4000);
  EXPECT_EQ(Free(kMemoryId), int64_t{4} << 30);
  EXPECT_EQ(ledger_.nodes().non_zero_cpu()[row_], 6000);
  EXPECT_EQ(ledger_.nodes().non_zero_memory()[row_], int64_t{6} << 30);
  EXPECT_EQ(Pods(), 1) << "one place among the pods of the node";
  ASSERT_TRUE(ledger_.Forget("o"));
  EXPECT_EQ(ledger_.Fingerprint(), before);
}

TEST_F(SharedRoomTest, OwnersPayForWhatIsNotReserved) {
  const auto gpu = *ledger_.resources().Find(kGpu);
  ledger_.SetPod(Reserve("r", "a", "{cpu: 6}"));
  ledger_.SetPod(Owner("o", "a", "r", fmt::format("{{cpu: 2, {}: 3}}", kGpu)));
  EXPECT_EQ(Free(), 4000);
  EXPECT_EQ(Free(gpu), 5);
  ledger_.SetPod(Owner("second", "a", "r", "{cpu: 5}"));
  EXPECT_EQ(Free(), 3000) << "7 of 6";
  EXPECT_EQ(Pods(), 2);
}

TEST_F(SharedRoomTest, OwnersDoNotDrawFromAfar) {
  ledger_.SetNode(Node("b"));
  ledger_.SetPod(Reserve("r", "b", "{cpu: 6}"));
  ledger_.SetPod(Owner("o", "a", "r", "{cpu: 3}"));
  EXPECT_EQ(Free(), 7000);
  EXPECT_EQ(ledger_.nodes().requested(kCpuId)[*ledger_.nodes().Find("b")], 6000);
}

TEST_F(SharedRoomTest, OwnersMayBeSeenBeforeTheirReservation) {
  ledger_.SetPod(Owner("o", "a", "r", "{cpu: 3}"));
  EXPECT_EQ(Free(), 7000);
  ledger_.SetPod(Reserve("r", "a", "{cpu: 6}"));
  EXPECT_EQ(Free(), 4000);
}

TEST_F(SharedRoomTest, ANodeMayOfferWhatIsReservedLater) {
  Ledger ledger;
  const NodeRow row = ledger.SetNode(NodeOf("{metadata: {name: a}}"));
  const std::string requests = fmt::format("{{{}: 3}}", kGpu);
  ledger.SetPod(Reserve("r", "a", requests));
  ledger.SetPod(Owner("o", "a", "r", requests));
  ledger.SetNode(Node("a"));
  EXPECT_EQ(ledger.nodes().requested(*ledger.resources().Find(kGpu))[row], 3);
}

TEST_F(SharedRoomTest, AViewWithoutTheReservePodHasWhatIsLeftOfTheReservation) {
  const NodeTable& nodes = ledger_.nodes();
  ledger_.SetPod(Reserve("r", "a", "{cpu: 6}"));
  ledger_.SetPod(Owner("o", "a", "r", "{cpu: 2}"));
  ledger_.SetPod(Owner("stranger", "a", "", "{cpu: 1}"));
  EXPECT_EQ(nodes.requested(kCpuId)[row_], 7000);
  EXPECT_EQ(Without({"r"}).Requested(nodes, kCpuId), 3000);
  EXPECT_EQ(Without({"r"}).NonZeroRequested(nodes, kCpuId), 3000);
  EXPECT_EQ(Without({"r"}).PodCount(nodes), 2);
  EXPECT_EQ(Without({"o"}).Requested(nodes, kCpuId), 7000) << "evicting an owner frees nothing";
  EXPECT_EQ(Without({"o"}).PodCount(nodes), 2);
  EXPECT_EQ(Without({"r", "o"}).Requested(nodes, kCpuId), 1000);
  EXPECT_EQ(Without({"stranger"}).Requested(nodes, kCpuId), 6000);
}

TEST_F(SharedRoomTest, AViewWithAnotherOwnerIsChargedWhatItTakesBeyond) {
  const NodeTable& nodes = ledger_.nodes();
  ledger_.SetPod(Reserve("r", "a", "{cpu: 6}"));
  Ledger elsewhere;
  elsewhere.SetNode(Node("a"));
  elsewhere.SetPod(Owner("o", "a", "r", "{cpu: 8}"));
  delta_.added = {elsewhere.Find("o")};
  const RowView view{row_, &delta_};
  EXPECT_EQ(view.Requested(nodes, kCpuId), 8000);
  EXPECT_EQ(view.PodCount(nodes), 1);
}

// ---- Any history

struct Charged {
  std::map<std::string, int64_t> amounts;
  int64_t pods = 0;
  bool operator==(const Charged&) const = default;
};

// As the rule says it, from what is there.
Charged ChargedByTheRule(std::span<const PodInfo* const> pods, const ResourceNames& names) {
  Charged charged;
  const auto add = [&](const ResourceAmounts& amounts, std::map<std::string, int64_t>& to) {
    for (const auto& [id, amount] : amounts) to[names.NameOf(id)] += amount;
  };
  std::map<std::string, const PodInfo*> reservations;
  for (const PodInfo* pod : pods) {
    if (pod->held && pod->held->reserves) reservations[pod->uid()] = pod;
  }
  std::map<std::string, std::map<std::string, int64_t>> used;
  std::map<std::string, int64_t> owners;
  for (const PodInfo* pod : pods) {
    if (reservations.contains(pod->uid())) continue;
    const bool owns =
        pod->held && pod->held->draws_from && reservations.contains(pod->held->draws_from->uid);
    add(pod->requests(), owns ? used[pod->held->draws_from->uid] : charged.amounts);
    ++(owns ? owners[pod->held->draws_from->uid] : charged.pods);
  }
  for (const auto& [uid, pod] : reservations) {
    std::map<std::string, int64_t> most = used[uid];
    std::map<std::string, int64_t> reserved;
    add(pod->requests(), reserved);
    for (const auto& [name, amount] : reserved) most[name] = std::max(most[name], amount);
    for (const auto& [name, amount] : most) charged.amounts[name] += amount;
    charged.pods += std::max<int64_t>(1, owners[uid]);
  }
  std::erase_if(charged.amounts, [](const auto& each) { return each.second == 0; });
  return charged;
}

Charged ChargedBy(const RowView& view, const NodeTable& nodes, const ResourceNames& names) {
  Charged charged{.pods = view.PodCount(nodes)};
  for (ResourceId id = 0; id < names.size(); ++id) {
    if (const int64_t amount = view.Requested(nodes, id); amount != 0) {
      charged.amounts[names.NameOf(id)] = amount;
    }
  }
  return charged;
}

class History {
 public:
  explicit History(uint64_t seed) : random_(seed) {
    for (const char* node : {"a", "b"}) ledger_.SetNode(Node(node));
  }

  void Step() {
    const std::string name = fmt::format("{}{}", random_.Chance(0.4) ? "r" : "p", random_.Below(4));
    switch (random_.Below(6)) {
      case 0:
        ledger_.RemovePod(name);
        break;
      case 1:
        if (ledger_.Find(name) == nullptr) Assume(name);
        break;
      case 2:
        ledger_.Forget(name);
        break;
      default:
        ledger_.SetPod(Random(name, random_.Chance(0.7) ? "a" : "b"));
    }
  }
  // Only what savepoints allow.
  void Try() {
    const std::string name = fmt::format("{}{}", random_.Chance(0.4) ? "r" : "p", random_.Below(4));
    if (random_.Chance(0.5)) {
      ledger_.RemovePod(name);
    } else if (ledger_.Find(name) == nullptr) {
      Assume(name);
    }
  }

  void Check() {
    const NodeTable& nodes = ledger_.nodes();
    for (NodeRow row{0}; row < nodes.rows(); ++row) {
      std::vector<const PodInfo*> pods(nodes.pods(row).begin(), nodes.pods(row).end());
      ASSERT_TRUE(ChargedBy({row, nullptr}, nodes, ledger_.resources()) ==
                  ChargedByTheRule(pods, ledger_.resources()))
          << ledger_.Fingerprint();
      RowDelta delta;
      std::erase_if(pods, [&](const PodInfo* pod) {
        if (random_.Chance(0.6)) return false;
        delta.removed.push_back(pod);
        return true;
      });
      ASSERT_TRUE(ChargedBy({row, &delta}, nodes, ledger_.resources()) ==
                  ChargedByTheRule(pods, ledger_.resources()))
          << ledger_.Fingerprint();
    }
  }

  Ledger& ledger() { return ledger_; }

 private:
  std::string Requests() {
    return fmt::format("{{cpu: {}, memory: {}Gi{}}}", random_.Below(4), random_.Below(3),
                       random_.Chance(0.3) ? fmt::format(", {}: 2", kGpu) : "");
  }
  std::shared_ptr<const kube::Pod> Random(const std::string& name, std::string_view node) {
    if (name.starts_with("r")) return Reserve(name, node, Requests());
    return Owner(name, node, random_.Chance(0.8) ? fmt::format("r{}", random_.Below(4)) : "",
                 Requests());
  }
  void Assume(const std::string& name) {
    const auto pod = Random(name, "");
    std::vector<std::string> problems;
    auto held = HoldingsOf(*pod, ledger_.resources(), problems);
    ASSERT_TRUE(
        ledger_.Assume(pod, ledger_.shapes().Of(pod), NodeRow(random_.Below(2)), std::move(held))
            .ok());
  }

  koord::Random random_;
  Ledger ledger_;
};

TEST(SharedRoomHistoryTest, ChargesWhatTheRuleSaysWhateverHappens) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    History history(seed);
    for (int step = 0; step < 100; ++step) {
      history.Step();
      ASSERT_NO_FATAL_FAILURE(history.Check()) << "seed " << seed << ", step " << step;
    }
  }
}

TEST(SharedRoomHistoryTest, RollingBackMakesTheChargesWhatTheyWere) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    History history(seed);
    for (int step = 0; step < 40; ++step) history.Step();
    const std::string before = history.ledger().Fingerprint();
    const auto savepoint = history.ledger().Mark();
    for (int step = 0; step < 10; ++step) {
      history.Try();
      ASSERT_NO_FATAL_FAILURE(history.Check()) << "seed " << seed;
    }
    history.ledger().RollBack(savepoint);
    ASSERT_EQ(history.ledger().Fingerprint(), before) << "seed " << seed;
    ASSERT_NO_FATAL_FAILURE(history.Check()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace koord::scheduler::shared_room_test
