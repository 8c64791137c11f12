#include "scheduler/testing/random_cluster.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>

namespace koord::scheduler {
namespace {

constexpr int64_t kMi = 1024 * 1024;
constexpr std::string_view kGpu = "nvidia.com/gpu";

int64_t Between(Random& random, int64_t low, int64_t high) {
  return low + static_cast<int64_t>(random.Below(static_cast<uint64_t>(high - low + 1)));
}

template <size_t kSize>
std::string_view OneOf(Random& random, const std::array<std::string_view, kSize>& choices) {
  return choices[random.Below(kSize)];
}

constexpr std::array<std::string_view, 3> kZones = {"zone-a", "zone-b", "zone-c"};
constexpr std::array<std::string_view, 3> kEffects = {kube::kNoSchedule, kube::kPreferNoSchedule,
                                                      kube::kNoExecute};
constexpr std::array<std::string_view, 4> kTaintKeys = {"dedicated", "gpu", "spot", "arch"};
constexpr std::array<std::string_view, 4> kOperators = {"In", "NotIn", "Exists", "DoesNotExist"};

kube::Taint RandomTaint(Random& random) {
  kube::Taint taint;
  taint.key = OneOf(random, kTaintKeys);
  taint.value = random.Chance(0.5) ? "yes" : "";
  taint.effect = OneOf(random, kEffects);
  return taint;
}

kube::Toleration RandomToleration(Random& random) {
  kube::Toleration toleration;
  if (random.Chance(0.8)) toleration.key = OneOf(random, kTaintKeys);
  if (random.Chance(0.5)) toleration.op = "Exists";
  if (toleration.op.empty() && random.Chance(0.5)) toleration.value = "yes";
  if (random.Chance(0.5)) toleration.effect = OneOf(random, kEffects);
  return toleration;
}

kube::NodeSelectorTerm RandomTerm(Random& random) {
  kube::NodeSelectorTerm term;
  for (int64_t i = Between(random, 0, 2); i > 0; --i) {
    kube::NodeSelectorRequirement& each = term.match_expressions.emplace_back();
    if (random.Chance(0.2)) {
      each = {"cores", random.Chance(0.5) ? "Gt" : "Lt", {std::to_string(Between(random, 1, 64))}};
      continue;
    }
    each.key = random.Chance(0.7) ? "zone" : "disk";
    each.op = OneOf(random, kOperators);
    if (each.op == "In" || each.op == "NotIn") {
      for (int64_t n = Between(random, 1, 2); n > 0; --n) {
        each.values.emplace_back(OneOf(random, kZones));
      }
    }
  }
  if (random.Chance(0.2)) {
    kube::NodeSelectorRequirement& name = term.match_fields.emplace_back();
    name.key = "metadata.name";
    name.op = random.Chance(0.5) ? "In" : "NotIn";
    for (int64_t n = Between(random, 1, 3); n > 0; --n) {
      name.values.push_back(fmt::format("node-{}", Between(random, 0, 40)));
    }
  }
  return term;
}

void SetRandomAffinity(Random& random, kube::PodSpec& pod) {
  if (random.Chance(0.3)) pod.node_selector.Mutable()["zone"] = OneOf(random, kZones);
  if (random.Chance(0.4)) return;
  kube::NodeAffinity affinity;
  if (random.Chance(0.6)) {
    kube::NodeSelector& required = affinity.required.emplace();
    for (int64_t n = Between(random, 0, 3); n > 0; --n) {
      required.node_selector_terms.push_back(RandomTerm(random));
    }
  }
  for (int64_t n = Between(random, 0, 3); n > 0; --n) {
    affinity.preferred.push_back(
        {static_cast<int32_t>(Between(random, 0, 100)), RandomTerm(random)});
  }
  pod.affinity.emplace().node_affinity = std::move(affinity);
}

kube::Container RandomContainer(Random& random) {
  kube::Container container;
  container.name = "c";
  container.image = fmt::format("registry/app-{}", Between(random, 0, 9));
  kube::ResourceList& requests = container.resources.requests;
  if (random.Chance(0.8)) {
    requests[std::string(kube::kCpu)] = kube::Quantity::FromMilli(Between(random, 0, 20) * 100);
  }
  if (random.Chance(0.8)) {
    requests[std::string(kube::kMemory)] = kube::Quantity(Between(random, 0, 4096) * kMi);
  }
  if (random.Chance(0.1)) requests[std::string(kGpu)] = kube::Quantity(Between(random, 0, 2));
  if (random.Chance(0.1)) {
    kube::ContainerPort& port = container.ports.emplace_back();
    port.host_port = static_cast<int32_t>(Between(random, 8000, 8003));
    if (random.Chance(0.3)) port.protocol = "UDP";
    if (random.Chance(0.5)) port.host_ip = random.Chance(0.5) ? "127.0.0.1" : "10.0.0.1";
  }
  return container;
}

}  // namespace

std::shared_ptr<const kube::Node> RandomNode(Random& random, int number) {
  kube::Node node;
  node.metadata.name = fmt::format("node-{}", number);
  const int64_t cores = Between(random, 1, 64);
  node.metadata.labels = {{"kubernetes.io/hostname", node.metadata.name},
                          {"cores", std::to_string(cores)}};
  if (random.Chance(0.9)) node.metadata.labels.Mutable()["zone"] = OneOf(random, kZones);
  if (random.Chance(0.3)) node.metadata.labels.Mutable()["disk"] = "ssd";
  kube::ResourceList& room = node.status.allocatable.Mutable();
  room = {{std::string(kube::kCpu), kube::Quantity(cores)},
          {std::string(kube::kMemory), kube::Quantity(cores * Between(random, 1000, 5000) * kMi)},
          {std::string(kube::kPodCount), kube::Quantity(Between(random, 5, 110))}};
  if (random.Chance(0.2)) room[std::string(kGpu)] = kube::Quantity(8);
  if (random.Chance(0.5)) {
    room[std::string(kube::kEphemeralStorage)] = kube::Quantity(100'000 * kMi);
  }
  node.spec.unschedulable = random.Chance(0.05);
  while (random.Chance(0.3)) node.spec.taints.Mutable().push_back(RandomTaint(random));
  for (int image = 0; image < 10; ++image) {
    if (!random.Chance(0.3)) continue;
    node.status.images.push_back(
        {{fmt::format("registry/app-{}:latest", image)}, (image + 1) * 100 * kMi});
  }
  return std::make_shared<const kube::Node>(std::move(node));
}

std::shared_ptr<const kube::Pod> RandomPod(Random& random, int number) {
  kube::Pod pod;
  pod.metadata.ns = "default";
  pod.metadata.name = pod.metadata.uid = fmt::format("pod-{}", number);
  for (int64_t n = Between(random, 1, 2); n > 0; --n) {
    pod.spec.containers.Mutable().push_back(RandomContainer(random));
  }
  if (random.Chance(0.2)) pod.spec.init_containers.Mutable().push_back(RandomContainer(random));
  while (random.Chance(0.5)) pod.spec.tolerations.Mutable().push_back(RandomToleration(random));
  SetRandomAffinity(random, pod.spec);
  return std::make_shared<const kube::Pod>(std::move(pod));
}

void FillCluster(PluginBed& bed, Random& random, int nodes, int pods_per_node) {
  int pods = 0;
  for (int number = 0; number < nodes; ++number) {
    const auto node = RandomNode(random, number);
    bed.ledger.SetNode(node);
    for (int i = 0; i < pods_per_node; ++i) {
      kube::Pod pod = *RandomPod(random, pods++);
      pod.metadata.name = pod.metadata.uid = fmt::format("assigned-{}", pods);
      pod.spec.node_name = node->metadata.name;
      bed.ledger.SetPod(std::make_shared<const kube::Pod>(std::move(pod)));
    }
    if (random.Chance(0.02)) bed.ledger.RemoveNode(node->metadata.name);
  }
}

void ExpectFilterAgreesWithCheck(FilterPlugin& plugin, const PodQuery& query) {
  const NodeTable& nodes = query.nodes();
  std::vector<uint8_t> keep(nodes.live(), nodes.live() + nodes.rows());
  plugin.Filter(query, nodes.all(), keep.data());
  for (NodeRow row{0}; row < nodes.rows(); ++row) {
    if (!nodes.IsLive(row)) continue;
    uint8_t alone = 1;
    plugin.Filter(query, RowRange::Only(row), &alone);
    const bool ok = plugin.Check(query, {row, nullptr}).ok();
    ASSERT_EQ(keep[row] == 1, ok) << plugin.name() << " on " << nodes.name(row);
    ASSERT_EQ(alone == 1, ok) << plugin.name() << " on " << nodes.name(row) << " alone";
  }
}

void ExpectScoresOfSingleRowsAgree(ScorePlugin& plugin, const PodQuery& query) {
  const NodeTable& nodes = query.nodes();
  std::vector<int64_t> scores(nodes.rows());
  plugin.Score(query, nodes.all(), scores.data());
  for (NodeRow row{0}; row < nodes.rows(); ++row) {
    if (!nodes.IsLive(row)) continue;
    int64_t alone = -1;
    plugin.Score(query, RowRange::Only(row), &alone);
    ASSERT_EQ(alone, scores[row]) << plugin.name() << " on " << nodes.name(row);
  }
}

void ExpectScoreRowAgreesWithScore(ScorePlugin& plugin, const PodQuery& query, PluginBed& bed,
                                   Random& random) {
  const NodeTable& nodes = query.nodes();
  for (NodeRow row{0}; row < nodes.rows(); ++row) {
    if (!nodes.IsLive(row)) continue;
    RowDelta delta;
    std::vector<std::string> gone;
    for (const PodInfo* pod : nodes.pods(row)) {
      if (random.Chance(0.5)) continue;
      delta.removed.push_back(pod);
      gone.push_back(pod->uid());
    }
    const int64_t as_if = plugin.ScoreRow(query, {row, &delta});
    const auto savepoint = bed.ledger.Mark();
    for (const std::string& uid : gone) bed.ledger.RemovePod(uid);
    int64_t really = -1;
    plugin.Score(query, RowRange::Only(row), &really);
    bed.ledger.RollBack(savepoint);
    ASSERT_EQ(as_if, really) << plugin.name() << " on " << nodes.name(row) << " without "
                             << gone.size() << " pods";
  }
}

}  // namespace koord::scheduler
