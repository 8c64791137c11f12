#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>

#include "api/keys.h"
#include "base/random.h"
#include "base/simulation_seeds.h"
#include "model/cpu/cpu_topology_testing.h"
#include "scheduler/cluster/reserve_pod.h"
#include "scheduler/config/plugin_args.h"
#include "scheduler/plugins/node_numa_resource/node_numa_resource.h"
#include "scheduler/testing/plugin_bed.h"

// CPUs and shares of NUMA nodes that reservations hold: theirs until an owner comes, their owners'
// before any others, and nobody else's.
namespace koord::scheduler::reserved_cpus_test {
namespace {

// Reservations are for pods whose label `app` is their name; all of one's rooms are on one node.
class Rooms final : public ReservedRooms {
 public:
  Found RoomsFor(const PodShape& shape, NodeRow row) override {
    const std::string app(kube::ValueOf(shape.labels(), "app"));
    if (app == "ignores") return {.sources = {{.is_everything = true}}};
    Found found{.sources = {}, .must_use_one = app.starts_with("must-")};
    for (const auto& [name, source] : rooms) {
      if (source.reserve_pod->row == row &&
          (app == name || app == "must-" + name || app == "all")) {
        found.sources.push_back(source);
      }
    }
    return found;
  }

  std::map<std::string, RoomSource> rooms;
};

class ReservedCpusTest : public ::testing::Test {
 protected:
  ReservedCpusTest() {
    plugin_ = std::make_unique<NodeNumaResource>(bed_.context, DefaultArgs<NodeNumaResourceArgs>());
    plugin_->set_slot(0);
    bed_.context.trials->SetRooms(rooms_);
    bed_.AddNode("{metadata: {name: a}, status: {allocatable: {cpu: '16', memory: 32Gi}}}");
    SetTopology();
  }

  void SetTopology() {
    const model::CpuTopology cpus = model::Machine(2, 1, 4, 2);
    api::NodeResourceTopology object;
    object.metadata.name = "a";
    object.metadata.annotations[std::string(api::kAnnotationCpuTopology)] =
        api::EncodeCpuTopology(cpus.ToAnnotation());
    for (const auto& unit : cpus.nodes()) {
      api::TopologyZone& zone = object.zones.emplace_back();
      zone.name = fmt::format("node-{}", unit.id);
      zone.type = "Node";
      const kube::Quantity count(8), memory = kube::Quantity::Parse("16Gi").value();
      zone.resources = {{"cpu", count, count, count}, {"memory", memory, memory, memory}};
    }
    bed_.objects.node_topologies.Set(std::make_shared<api::NodeResourceTopology>(object));
  }

  void Reserve(const std::string& name, std::string_view status, bool restricted = false) {
    const auto reservation = FromYaml<api::Reservation>(fmt::format(
        "{{metadata: {{name: {0}, uid: uid-of-{0}, annotations: "
        "{{scheduling.koordinator.sh/resource-status: '{1}'}}}}, spec: {{ttl: 0s, template: "
        "{{spec: {{containers: [{{resources: {{requests: {{cpu: 4}}}}}}]}}}}}}, status: {{phase: "
        "Available, nodeName: a, allocatable: {{cpu: 4}}}}}}",
        name, status));
    bed_.ledger.SetPod(MakeReservePod(*reservation, "s"));
    rooms_.rooms[name] = {bed_.ledger.Find("uid-of-" + name), restricted};
  }
  void End(const std::string& name) {
    rooms_.rooms.erase(name);
    bed_.ledger.RemovePod("uid-of-" + name);
  }
  void Hold(std::string_view name, std::string_view status, std::string_view reservation = "") {
    const std::string from = reservation.empty()
                                 ? ""
                                 : fmt::format(
                                       ", scheduling.koordinator.sh/reservation-allocated: "
                                       "'{{\"name\":\"{0}\",\"uid\":\"uid-of-{0}\"}}'",
                                       reservation);
    bed_.AddPod(fmt::format(
        "{{metadata: {{name: {}, annotations: {{scheduling.koordinator.sh/resource-status: '{}'{}"
        "}}}}, spec: {{nodeName: a}}}}",
        name, status, from));
  }
  static std::string Pod(std::string_view app, int cpu, std::string_view numa = "",
                         std::string_view spec = "{}") {
    return fmt::format(
        "{{metadata: {{name: p, labels: {{koordinator.sh/qosClass: LSR, app: {}}}, annotations: "
        "{{scheduling.koordinator.sh/resource-spec: '{}'{}}}}}, spec: {{priority: 9999, "
        "containers: [{{resources: {{requests: {{cpu: {}, memory: 1Gi}}}}}}]}}}}",
        app, spec,
        numa.empty() ? ""
                     : fmt::format(", scheduling.koordinator.sh/numa-topology-spec: '{}'", numa),
        cpu);
  }

  // What the filter says of the node, seen without the reservations that are for the pod.
  std::string Check(std::string_view pod) {
    const auto query = bed_.Query(*plugin_, pod);
    RowDelta delta;
    const NodeRow row = *bed_.ledger.nodes().Find("a");
    const auto found = rooms_.RoomsFor(query->shape(), row);
    for (const auto& room : rooms_.rooms) {
      const PodInfo* const reserving = room.second.reserve_pod;
      const bool matches = std::ranges::any_of(found.sources, [&](const RoomSource& each) {
        return each.is_everything || each.reserve_pod == reserving;
      });
      if (matches) delta.removed.push_back(reserving);
    }
    return bed_.Check(*plugin_, *query, "a", delta.empty() ? nullptr : &delta);
  }
  // The annotation that a pod gets which draws from a reservation ("": from none), or why not.
  std::string Place(std::string_view yaml, std::string_view from) {
    Attempt attempt;
    attempt.pod = PodOf(yaml);
    attempt.shape = bed_.ledger.shapes().Of(attempt.pod);
    attempt.row = *bed_.ledger.nodes().Find("a");
    if (!from.empty()) {
      attempt.held = std::make_unique<Holdings>();
      attempt.held->draws_from =
          Holdings::Reservation{std::string(from), fmt::format("uid-of-{}", from)};
    }
    const Verdict verdict = plugin_->Reserve(attempt);
    if (!verdict.ok()) return verdict.Message();
    plugin_->PreBind(attempt, [](const Verdict&) {});
    return std::string(kube::ValueOf(attempt.annotations, api::kAnnotationResourceStatus));
  }

  PluginBed bed_;
  Rooms rooms_;
  std::unique_ptr<NodeNumaResource> plugin_;
};

constexpr std::string_view kTooFew = "Unschedulable: not enough cpus available to satisfy request";
constexpr std::string_view kSingle =
    R"({"numaTopologyPolicy":"SingleNUMANode","singleNUMANodeExclusive":"Preferred"})";

TEST_F(ReservedCpusTest, StrangersDoNotGetThemAndOwnersDo) {
  Reserve("r", R"({"cpuset":"0-3"})");
  Hold("others", R"({"cpuset":"4-15"})");
  EXPECT_EQ(Check(Pod("stranger", 2)), kTooFew);
  EXPECT_EQ(Check(Pod("r", 4)), "");
  EXPECT_EQ(Place(Pod("r", 4), "r"), R"({"cpuset":"0-3"})");
  EXPECT_EQ(Check(Pod("must-r", 4)), "");
  EXPECT_EQ(Check(Pod("r", 5)), kTooFew);
  EXPECT_EQ(Check(Pod("must-r", 5)),
            "Unschedulable: Reservation(s) not enough cpus available to satisfy request");
  EXPECT_EQ(Place(Pod("r", 5), "r"),
            "pod has a nominated reservation but cannot be allocated within its NUMA scope");
  EXPECT_EQ(Check(Pod("ignores", 4)), "");
  EXPECT_EQ(Place(Pod("ignores", 4), ""), R"({"cpuset":"0-3"})");
}

TEST_F(ReservedCpusTest, OwnersGetReservedCpusBeforeOthers) {
  Reserve("r", R"({"cpuset":"10-13"})");
  EXPECT_EQ(Place(Pod("r", 2), "r"), R"({"cpuset":"10-11"})");
  EXPECT_EQ(Place(Pod("r", 6), "r"), R"({"cpuset":"0-1,10-13"})");
  // Who draws from none gets none of them.
  EXPECT_EQ(Place(Pod("r", 12), ""), R"({"cpuset":"0-9,14-15"})");
  EXPECT_EQ(Place(Pod("r", 13), ""), "not enough cpus available to satisfy request");
}

TEST_F(ReservedCpusTest, WhatAnOwnerHasIsNotLeft) {
  Reserve("r", R"({"cpuset":"0-3"})", true);
  Hold("owner", R"({"cpuset":"0-1"})", "r");
  EXPECT_EQ(Place(Pod("r", 2), "r"), R"({"cpuset":"2-3"})");
  EXPECT_EQ(Check(Pod("must-r", 3)),
            "Unschedulable: Reservation(s) not enough cpus available to satisfy request");
  // When the reservation ends its owners keep theirs and the rest is for all.
  Hold("others", R"({"cpuset":"4-15"})");
  EXPECT_EQ(Check(Pod("stranger", 1)), kTooFew);
  End("r");
  EXPECT_EQ(Place(Pod("stranger", 2), ""), R"({"cpuset":"2-3"})");
  EXPECT_EQ(Check(Pod("stranger", 3)), kTooFew);
}

TEST_F(ReservedCpusTest, RestrictedReservationsGiveNothingElse) {
  Reserve("r", R"({"cpuset":"0-3"})", true);
  EXPECT_EQ(Check(Pod("r", 5)), "") << "from what is free to all";
  EXPECT_EQ(Check(Pod("must-r", 5)),
            "Unschedulable: Reservation(s) not enough cpus available to satisfy request");
  EXPECT_EQ(Place(Pod("r", 5), "r"),
            "pod has a nominated reservation but cannot be allocated within its NUMA scope");
}

TEST_F(ReservedCpusTest, WhatOneReservationHasIsNotForOwnersOfAnother) {
  Reserve("r", R"({"cpuset":"0-3"})");
  Reserve("s", R"({"cpuset":"4-7"})");
  Hold("others", R"({"cpuset":"8-15"})");
  EXPECT_EQ(Check(Pod("all", 4)), "");
  EXPECT_EQ(Check(Pod("all", 5)), kTooFew);
  EXPECT_EQ(Place(Pod("all", 4), "s"), R"({"cpuset":"4-7"})");
}

TEST_F(ReservedCpusTest, WholeCoresAreFoundWhereReservedThreadsMakeNone) {
  Reserve("r", R"({"cpuset":"0,2"})");
  EXPECT_EQ(Place(Pod("r", 2, "", R"({"requiredCPUBindPolicy":"FullPCPUs"})"), "r"),
            R"({"cpuset":"0-1"})");
}

TEST_F(ReservedCpusTest, SharesOfNumaNodesAreKeptAndHandedOver) {
  const std::string reserved =
      R"({"cpuset":"8-11","numaNodeResources":[{"node":1,"resources":{"cpu":"4","memory":"10Gi"}}]})";
  Reserve("r", reserved);
  // Another NUMA node is emptier.
  EXPECT_EQ(
      Place(Pod("r", 4, kSingle), "r"),
      R"({"cpuset":"8-11","numaNodeResources":[{"node":1,"resources":{"cpu":"4","memory":"1Gi"}}]})");
  Hold("others", R"({"numaNodeResources":[{"node":0,"resources":{"cpu":"8","memory":"1Gi"}}]})");
  EXPECT_EQ(Check(Pod("stranger", 4, kSingle)), "");
  EXPECT_EQ(
      Place(Pod("stranger", 4, kSingle), ""),
      R"({"cpuset":"12-15","numaNodeResources":[{"node":1,"resources":{"cpu":"4","memory":"1Gi"}}]})");
  EXPECT_NE(Check(Pod("stranger", 5, kSingle)), "");
  EXPECT_EQ(Check(Pod("r", 8, kSingle)), "");
  // An owner in place: charged the larger of what is reserved and what owners use.
  Hold("owner", reserved, "r");
  const CpuBook::Row& row = bed_.books.cpus.row(*bed_.ledger.nodes().Find("a"));
  EXPECT_EQ(AmountOf(row.held[1].amounts, kCpuId), 4000);
  EXPECT_EQ(row.occupancy.holders.held(), (CpuSet{8, 9, 10, 11}));
  EXPECT_TRUE(row.occupancy.holders.AtLeast(2).empty());
  bed_.ledger.RemovePod("owner");
  EXPECT_EQ(AmountOf(row.held[1].amounts, kCpuId), 4000);
  End("r");
  EXPECT_EQ(row.held.size(), 1u);
}

TEST_F(ReservedCpusTest, VictimsInsideAReservationGiveBackToIt) {
  Reserve("r", R"({"cpuset":"0-3"})", true);
  Hold("owner", R"({"cpuset":"0-3"})", "r");
  Hold("others", R"({"cpuset":"4-15"})");
  const auto query = bed_.Query(*plugin_, Pod("must-r", 4));
  const PodInfo* const reserving = rooms_.rooms["r"].reserve_pod;
  RowDelta without_victim{.removed = {reserving, bed_.ledger.Find("owner")}};
  EXPECT_EQ(bed_.Check(*plugin_, *query, "a", &without_victim), "");
  RowDelta with_it{.removed = {reserving}};
  EXPECT_NE(bed_.Check(*plugin_, *query, "a", &with_it), "");
  RowDelta wrong_victim{.removed = {reserving, bed_.ledger.Find("others")}};
  EXPECT_NE(bed_.Check(*plugin_, *query, "a", &wrong_victim), "");
}

// Whatever pods and reservations come and go: what the filter promises Reserve keeps, and no CPU is
// held by two pods but by a reservation and its owner.
class Worlds : public ReservedCpusTest {
 protected:
  void Run(uint64_t seed) {
    Random random(seed);
    std::vector<std::string> pods;
    for (int step = 0; step < 120; ++step) {
      SCOPED_TRACE(fmt::format("seed {} step {}", seed, step));
      const uint64_t what = random.Below(10);
      if (what == 0 && !pods.empty()) {
        const size_t i = random.Below(pods.size());
        if (!bed_.ledger.Forget(pods[i])) bed_.ledger.RemovePod(pods[i]);
        pods.erase(pods.begin() + static_cast<ptrdiff_t>(i));
      } else if (what == 1 && !rooms_.rooms.empty()) {
        End(rooms_.rooms.begin()->first);
      } else {
        ASSERT_NO_FATAL_FAILURE(PlaceOne(random, step, what < 4, pods));
      }
      ASSERT_NO_FATAL_FAILURE(ExpectNothingTwice());
    }
    for (const std::string& uid : pods) {
      if (!bed_.ledger.Forget(uid)) bed_.ledger.RemovePod(uid);
    }
    while (!rooms_.rooms.empty()) End(rooms_.rooms.begin()->first);
    const CpuBook::Row& row = bed_.books.cpus.row(*bed_.ledger.nodes().Find("a"));
    EXPECT_TRUE(row.occupancy.holders.empty()) << "leaked";
    EXPECT_TRUE(row.held.empty()) << "leaked";
    EXPECT_EQ(row.free.any, 16);
  }

  int placed_ = 0, drawn_ = 0;

 private:
  void PlaceOne(Random& random, int step, bool as_reservation, std::vector<std::string>& pods) {
    std::vector<std::string> apps{"stranger", "all", "ignores"};
    for (const auto& [name, source] : rooms_.rooms) {
      apps.push_back(name);
      apps.push_back("must-" + name);
    }
    const std::string app = as_reservation ? "stranger" : apps[random.Below(apps.size())];
    constexpr std::array<std::string_view, 3> kNuma{"", kSingle,
                                                    R"({"numaTopologyPolicy":"BestEffort"})"};
    constexpr std::array<std::string_view, 3> kSpecs{"{}",
                                                     R"({"requiredCPUBindPolicy":"SpreadByPCPUs"})",
                                                     R"({"requiredCPUBindPolicy":"FullPCPUs"})"};
    const std::string yaml = Pod(app, static_cast<int>(2 * (1 + random.Below(3))),
                                 kNuma[random.Below(3)], kSpecs[random.Below(3)]);
    const bool promised = Check(yaml).empty();
    bool kept = false;
    Attempt attempt = Try(yaml, random, step, &kept);
    ASSERT_EQ(promised, kept) << app;
    if (!kept || attempt.held == nullptr) return;
    if (as_reservation) {
      plugin_->PreBind(attempt, [](const Verdict&) {});
      const std::string name = fmt::format("r{}", step);
      Reserve(name, kube::ValueOf(attempt.annotations, api::kAnnotationResourceStatus),
              random.Chance(0.5));
      return;
    }
    ++placed_;
    drawn_ += attempt.held->draws_from ? 1 : 0;
    pods.push_back(attempt.pod->metadata.uid);
    ASSERT_TRUE(
        bed_.ledger.Assume(attempt.pod, attempt.shape, attempt.row, std::move(attempt.held)).ok());
  }

  // By the first of its reservations that will do, otherwise by none, as Reservation nominates.
  Attempt Try(const std::string& yaml, Random&, int step, bool* kept) {
    kube::Pod pod = *PodOf(yaml);
    pod.metadata.name = pod.metadata.uid = fmt::format("p{}", step);
    Attempt attempt;
    attempt.pod = std::make_shared<const kube::Pod>(pod);
    attempt.shape = bed_.ledger.shapes().Of(attempt.pod);
    attempt.row = *bed_.ledger.nodes().Find("a");
    const auto found = rooms_.RoomsFor(*attempt.shape, attempt.row);
    for (const RoomSource& source : found.sources) {
      if (source.is_everything) continue;
      attempt.held = std::make_unique<Holdings>();
      attempt.held->draws_from = source.reserve_pod->held->reserves;
      if (plugin_->Reserve(attempt).ok()) {
        *kept = true;
        return attempt;
      }
    }
    attempt.held = nullptr;
    *kept = !found.must_use_one && plugin_->Reserve(attempt).ok();
    return attempt;
  }

  void ExpectNothingTwice() {
    std::map<int32_t, std::string> of_pods, of_reservations;
    const NodeTable& nodes = bed_.ledger.nodes();
    for (const PodInfo* pod : nodes.pods(*nodes.Find("a"))) {
      if (pod->held == nullptr) continue;
      auto& into = pod->held->reserves ? of_reservations : of_pods;
      for (const int32_t cpu : pod->held->cpus) {
        ASSERT_TRUE(into.emplace(cpu, pod->uid()).second) << "CPU " << cpu << " is given twice";
      }
    }
    for (const PodInfo* pod : nodes.pods(*nodes.Find("a"))) {
      if (pod->held == nullptr || pod->held->reserves) continue;
      // Those who ignore reservations may take what is reserved.
      if (kube::ValueOf(pod->pod->metadata.labels, "app") == "ignores") continue;
      for (const int32_t cpu : pod->held->cpus) {
        const auto at = of_reservations.find(cpu);
        if (at == of_reservations.end()) continue;
        ASSERT_TRUE(pod->held->draws_from && pod->held->draws_from->uid == at->second)
            << "CPU " << cpu << " of " << at->second << " is a stranger's";
      }
    }
  }
};

TEST_F(Worlds, NothingReservedIsGivenToStrangersAndNothingLeaks) {
  for (const uint64_t seed : SimulationSeeds(20)) {
    ASSERT_NO_FATAL_FAILURE(Run(seed));
    if (HasFailure()) return;
  }
  EXPECT_GT(placed_, 0);
  EXPECT_GT(drawn_, 0);
}

}  // namespace
}  // namespace koord::scheduler::reserved_cpus_test
