#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "api/keys.h"
#include "base/random.h"
#include "base/simulation_seeds.h"
#include "model/cpu/cpu_topology_testing.h"
#include "scheduler/config/plugin_args.h"
#include "scheduler/plugins/node_numa_resource/node_numa_resource.h"
#include "scheduler/testing/plugin_bed.h"
#include "scheduler/testing/random_cluster.h"

// Random clusters, in which pods come and go and topologies come late, vanish and return. Whatever
// happens: what the filter promises Reserve keeps, no CPU and no share of a NUMA node is given
// twice, and the book is what the API server's objects alone would make it.
namespace koord::scheduler::random_pods_test {
namespace {

template <class T>
const T& OneOf(Random& random, const std::vector<T>& list) {
  return list[random.Below(list.size())];
}

class World {
 public:
  explicit World(uint64_t seed) : random_(seed) {
    plugin_ = std::make_unique<NodeNumaResource>(bed_.context, DefaultArgs<NodeNumaResourceArgs>());
    plugin_->set_slot(0);
    for (int i = 0; i < 6; ++i) {
      AddNode(i);
      if (random_.Chance(0.8)) SetTopology(fmt::format("n{}", i));
    }
  }

  int bound() const { return bound_; }
  int aligned() const { return aligned_; }

  void Step(int i) {
    switch (random_.Below(8)) {
      case 0:
        return RemovePod();
      case 1:
        return SetTopology(fmt::format("n{}", random_.Below(6)));
      case 2:
        return RemoveTopology(fmt::format("n{}", random_.Below(6)));
      case 3:
        return random_.Chance(0.2) ? AddNode(static_cast<int>(random_.Below(6))) : Confirm();
      default:
        return Place(i);
    }
  }

  void Check() {
    std::vector<std::shared_ptr<const kube::Pod>> pods;
    for (const auto& [uid, annotations] : given_) {
      kube::Pod pod = *bed_.ledger.Find(uid)->pod;
      pod.spec.node_name = bed_.ledger.NodeOf(*bed_.ledger.Find(uid));
      for (const auto& [key, value] : annotations) pod.metadata.annotations[key] = value;
      pods.push_back(std::make_shared<const kube::Pod>(std::move(pod)));
    }
    PluginBed again;
    for (const auto& pod : pods) again.ledger.SetPod(pod);
    const NodeTable& nodes = bed_.ledger.nodes();
    for (NodeRow row{0}; row < nodes.rows(); ++row) again.ledger.SetNode(nodes.shared_node(row));
    for (const auto& [key, object] : bed_.objects.node_topologies.objects()) {
      again.objects.node_topologies.Set(object);
    }
    for (NodeRow row{0}; row < nodes.rows(); ++row) {
      const CpuBook::Row& here = bed_.books.cpus.row(row);
      const CpuBook::Row& there = again.books.cpus.row(*again.ledger.nodes().Find(nodes.name(row)));
      ASSERT_EQ(here.occupancy, there.occupancy);
      ASSERT_EQ(here.held, there.held);
      ASSERT_EQ(here.free, there.free);
      ASSERT_TRUE(here.occupancy.holders.AtLeast(2).empty())
          << "given twice on " << nodes.name(row);
    }
  }

 private:
  void AddNode(int number) {
    const auto label = [&](std::string_view key, std::vector<std::string> values) {
      if (random_.Chance(0.6)) return std::string();
      return fmt::format("node.koordinator.sh/{}: {}, ", key, OneOf(random_, values));
    };
    const std::string labels =
        label("cpu-bind-policy", {"FullPCPUsOnly", "SpreadByPCPUs", "None"}) +
        label("numa-topology-policy", {"BestEffort", "Restricted", "SingleNUMANode", "odd"}) +
        label("numa-allocate-strategy", {"MostAllocated", "LeastAllocated"});
    const std::string ratio =
        random_.Chance(0.2) ? "node.koordinator.sh/resource-amplification-ratio: '{\"cpu\":1.50}'"
                            : "";
    bed_.AddNode(
        fmt::format("{{metadata: {{name: n{}, labels: {{{}}}, annotations: {{{}}}}}, "
                    "status: {{allocatable: {{cpu: 24, memory: 64Gi}}}}}}",
                    number, labels, ratio));
  }
  void SetTopology(const std::string& node) {
    // A machine stays what it is.
    const auto number = static_cast<int32_t>(node.back() - '0');
    const model::CpuTopology cpus =
        model::Machine(1 + number % 2, 1 + number / 2 % 2, 4, 2,
                       number < 3 ? model::Threads::kAdjacent : model::Threads::kFarApart);
    api::NodeResourceTopology object;
    object.metadata.name = node;
    object.metadata.annotations[std::string(api::kAnnotationCpuTopology)] =
        api::EncodeCpuTopology(cpus.ToAnnotation());
    for (const auto& unit : cpus.nodes()) {
      api::TopologyZone& zone = object.zones.emplace_back();
      zone.name = fmt::format("node-{}", unit.id);
      zone.type = "Node";
      const kube::Quantity count(static_cast<int64_t>(unit.cpus.size()));
      const kube::Quantity memory(int64_t{16} << 30);
      zone.resources = {{"cpu", count, count, count}, {"memory", memory, memory, memory}};
    }
    bed_.objects.node_topologies.Set(std::make_shared<api::NodeResourceTopology>(object));
  }
  void RemoveTopology(const std::string& node) { bed_.objects.node_topologies.Remove({"", node}); }

  std::shared_ptr<const kube::Pod> RandomPodOf(int number) {
    const auto value = [&](std::string_view key, std::vector<std::string> values) {
      if (random_.Chance(0.5)) return std::string();
      return fmt::format("\"{}\":\"{}\",", key, OneOf(random_, values));
    };
    std::string spec =
        value("requiredCPUBindPolicy", {"FullPCPUs", "SpreadByPCPUs", "Default"}) +
        value("preferredCPUBindPolicy", {"FullPCPUs", "SpreadByPCPUs", "ConstrainedBurst"}) +
        value("preferredCPUExclusivePolicy", {"PCPULevel", "NUMANodeLevel", "None"});
    std::string numa = value("numaTopologyPolicy", {"BestEffort", "Restricted", "SingleNUMANode"}) +
                       value("singleNUMANodeExclusive", {"Preferred", "Required"});
    const auto object = [](std::string& fields) {
      if (!fields.empty()) fields.pop_back();
      return fmt::format("{{{}}}", fields);
    };
    return PodOf(fmt::format(
        "{{metadata: {{name: p{}, labels: {{koordinator.sh/qosClass: {}}}, annotations: "
        "{{scheduling.koordinator.sh/resource-spec: '{}', "
        "scheduling.koordinator.sh/numa-topology-spec: '{}'}}}}, spec: {{priority: 9500, "
        "containers: [{{resources: {{requests: {{cpu: {}, memory: {}Gi}}}}}}]}}}}",
        number, OneOf(random_, std::vector<std::string>{"LSR", "LSE", "LS"}), object(spec),
        object(numa), 1 + random_.Below(9), random_.Below(9)));
  }

  void Place(int number) {
    const auto pod = RandomPodOf(number);
    const auto query = bed_.Query(*plugin_, pod);
    if (bed_.pre_filter.verdict.code == Code::kSkip) return;
    ASSERT_TRUE(bed_.pre_filter.verdict.ok()) << bed_.pre_filter.verdict.Message();
    ExpectFilterAgreesWithCheck(*plugin_, *query);
    ExpectScoresOfSingleRowsAgree(*plugin_, *query);
    std::vector<NodeRow> passing;
    const NodeTable& nodes = bed_.ledger.nodes();
    std::vector<uint8_t> keep(nodes.rows(), 1);
    plugin_->Filter(*query, nodes.all(), keep.data());
    for (NodeRow row{0}; row < nodes.rows(); ++row) {
      if (keep[row] != 0) passing.push_back(row);
    }
    if (passing.empty()) return;
    Attempt attempt{.pod = pod, .shape = query->shared_shape(), .profile = ""};
    attempt.row = OneOf(random_, passing);
    const Verdict verdict = plugin_->Reserve(attempt);
    ASSERT_TRUE(verdict.ok()) << "the filter promised more: " << verdict.Message();
    plugin_->PreBind(attempt, [](const Verdict&) {});
    const auto info = bed_.ledger.Assume(pod, attempt.shape, attempt.row, std::move(attempt.held));
    ASSERT_TRUE(info.ok());
    given_[pod->metadata.uid] = attempt.annotations;
    if (const auto& held = (*info)->held) {
      bound_ += held->cpus.empty() ? 0 : 1;
      aligned_ += held->zones.empty() ? 0 : 1;
    }
    ExpectWithinZones(attempt.row);
  }

  // What was just given was there.
  void ExpectWithinZones(NodeRow at) {
    const CpuBook::Row& row = bed_.books.cpus.row(at);
    if (row.topology == nullptr) return;
    for (const Holdings::Zone& held : row.held) {
      for (const Holdings::Zone& zone : row.topology->zones) {
        if (zone.numa_node != held.numa_node) continue;
        ASSERT_LE(AmountOf(held.amounts, kMemoryId), AmountOf(zone.amounts, kMemoryId));
        ASSERT_LE(AmountOf(held.amounts, kCpuId), AmountOf(zone.amounts, kCpuId) * 3 / 2);
      }
    }
  }

  void RemovePod() {
    if (given_.empty()) return;
    const auto at = std::next(given_.begin(), static_cast<int64_t>(random_.Below(given_.size())));
    if (!bed_.ledger.Forget(at->first)) bed_.ledger.RemovePod(at->first);
    given_.erase(at);
  }
  // The API server shows a pod as it was bound.
  void Confirm() {
    if (given_.empty()) return;
    const auto at = std::next(given_.begin(), static_cast<int64_t>(random_.Below(given_.size())));
    const PodInfo* info = bed_.ledger.Find(at->first);
    kube::Pod pod = *info->pod;
    pod.spec.node_name = bed_.ledger.NodeOf(*info);
    for (const auto& [key, value] : at->second) pod.metadata.annotations[key] = value;
    bed_.ledger.SetPod(std::make_shared<const kube::Pod>(std::move(pod)));
  }

  Random random_;
  PluginBed bed_;
  std::unique_ptr<NodeNumaResource> plugin_;
  std::map<std::string, kube::Annotations> given_;  // by uid
  int bound_ = 0;                                   // pods that got CPUs,
  int aligned_ = 0;                                 // and shares of NUMA nodes
};

TEST(NodeNumaResourceAtRandom, NothingIsGivenTwiceAndNothingLeaks) {
  int bound = 0, aligned = 0;
  for (const uint64_t seed : SimulationSeeds(20)) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    World world(seed);
    for (int i = 0; i < 150; ++i) {
      ASSERT_NO_FATAL_FAILURE(world.Step(i)) << "step " << i;
      ASSERT_NO_FATAL_FAILURE(world.Check()) << "step " << i;
    }
    bound += world.bound();
    aligned += world.aligned();
  }
  RecordProperty("bound", bound);
  RecordProperty("aligned", aligned);
  EXPECT_GT(bound, 0);
  EXPECT_GT(aligned, 0);
}

}  // namespace
}  // namespace koord::scheduler::random_pods_test
