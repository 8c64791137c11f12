#include "scheduler/topology/testing/random_cluster.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace koord::scheduler {
namespace {

template <class Map>
auto Any(Map& map, Random& random) {
  return std::next(map.begin(), static_cast<ptrdiff_t>(random.Below(map.size())));
}

std::string OneOf(Random& random, std::initializer_list<const char*> values) {
  return *(values.begin() + random.Below(values.size()));
}

kube::Taint RandomTaint(Random& random) {
  return {.key = "taint",
          .value = OneOf(random, {"x", "y"}),
          .effect = OneOf(random, {"NoSchedule", "NoExecute", "PreferNoSchedule"})};
}

std::unique_ptr<PodInfo> InfoOf(PluginBed& bed, const kube::Pod& pod) {
  auto info = std::make_unique<PodInfo>();
  info->pod = std::make_shared<const kube::Pod>(pod);
  info->shape = bed.ledger.shapes().Of(info->pod);
  return info;
}

}  // namespace

kube::Labels RandomPodLabels(Random& random) {
  kube::Labels labels;
  if (random.Chance(0.9)) labels["app"] = OneOf(random, {"a", "b", "c"});
  if (random.Chance(0.4)) labels["tier"] = OneOf(random, {"front", "back"});
  return labels;
}

kube::LabelSelector RandomSelector(Random& random) {
  kube::LabelSelector selector;
  if (random.Chance(0.6)) selector.match_labels["app"] = OneOf(random, {"a", "b", "c"});
  if (random.Chance(0.2)) {
    selector.match_expressions.push_back({"app", OneOf(random, {"In", "NotIn"}), {"a", "b"}});
  }
  if (random.Chance(0.2)) {
    selector.match_expressions.push_back({"tier", OneOf(random, {"Exists", "DoesNotExist"}), {}});
  }
  return selector;
}

std::string RandomTopologyKey(Random& random) {
  return OneOf(random, {"kubernetes.io/hostname", "zone", "zone", "rack"});
}

bool PlainlyMatches(const kube::LabelSelector& selector, const kube::Labels& labels) {
  for (const auto& [key, value] : selector.match_labels) {
    if (!labels.contains(key) || labels.at(key) != value) return false;
  }
  for (const auto& each : selector.match_expressions) {
    const bool has = labels.contains(each.key);
    const bool listed = has && std::ranges::count(each.values, labels.at(each.key)) > 0;
    if (each.op == "In" && !listed) return false;
    if (each.op == "NotIn" && listed) return false;
    if (each.op == "Exists" && !has) return false;
    if (each.op == "DoesNotExist" && has) return false;
  }
  return true;
}

std::unique_ptr<PodQuery> QueryFor(PluginBed& bed, Plugin& plugin, const kube::Pod& pod) {
  auto query =
      std::make_unique<PodQuery>(bed.ledger.shapes().Of(std::make_shared<const kube::Pod>(pod)),
                                 bed.ledger.nodes(), plugin.slot() + 1);
  query->SetState(plugin.slot(), plugin.Compile(query->shape()));
  if (auto* filter = dynamic_cast<PreFilterPlugin*>(&plugin)) {
    bed.pre_filter = filter->PreFilter(*query);
  }
  return query;
}

RandomCluster::RandomCluster(PluginBed& bed, uint64_t seed, Furnish furnish)
    : bed_(bed), random_(seed), furnish_(std::move(furnish)) {
  for (int i = 0; i < 4; ++i) SetNode();
}

void RandomCluster::Step() {
  const uint64_t dice = random_.Below(100);
  if (dice < 12) return SetNode();
  if (dice < 17) return RemoveNode();
  if (dice < 65) return AddPod();
  if (dice < 83) return RemovePod();
  if (dice < 93) return ChangePod();
  SetNamespace();
}

std::string RandomCluster::AnyNodeName() { return fmt::format("n{}", random_.Below(8)); }

void RandomCluster::SetNode() {
  kube::Node node;
  node.metadata.name = AnyNodeName();
  if (random_.Chance(0.95))
    node.metadata.labels.Mutable()["kubernetes.io/hostname"] = node.metadata.name;
  if (random_.Chance(0.9))
    node.metadata.labels.Mutable()["zone"] = OneOf(random_, {"z1", "z2", "z3"});
  if (random_.Chance(0.8)) {
    node.metadata.labels.Mutable()["topology.kubernetes.io/zone"] =
        OneOf(random_, {"z1", "z2", "z3"});
  }
  if (random_.Chance(0.5)) node.metadata.labels.Mutable()["rack"] = OneOf(random_, {"r1", "r2"});
  if (random_.Chance(0.7))
    node.metadata.labels.Mutable()["disk"] = OneOf(random_, {"ssd", "hdd", "7"});
  if (random_.Chance(0.2)) node.spec.taints.Mutable().push_back(RandomTaint(random_));
  nodes_[node.metadata.name] = node;
  bed_.ledger.SetNode(std::make_shared<const kube::Node>(node));
}

void RandomCluster::RemoveNode() {
  if (nodes_.empty()) return;
  const auto at = Any(nodes_, random_);
  bed_.ledger.RemoveNode(at->first);
  nodes_.erase(at);
}

kube::Pod RandomCluster::NewPod() {
  kube::Pod pod;
  pod.metadata.name = pod.metadata.uid = fmt::format("p{}", next_pod_++);
  pod.metadata.ns = OneOf(random_, {"one", "one", "two", "three"});
  pod.metadata.labels = RandomPodLabels(random_);
  furnish_(pod, random_);
  return pod;
}

void RandomCluster::AddPod() {
  kube::Pod pod = NewPod();
  pod.spec.node_name = AnyNodeName();  // perhaps of a node that is not known
  pods_[pod.metadata.uid] = pod;
  bed_.ledger.SetPod(std::make_shared<const kube::Pod>(pod));
}

void RandomCluster::RemovePod() {
  if (pods_.empty()) return;
  const auto at = Any(pods_, random_);
  bed_.ledger.RemovePod(at->first);
  pods_.erase(at);
}

void RandomCluster::ChangePod() {
  if (pods_.empty()) return;
  kube::Pod& pod = Any(pods_, random_)->second;
  if (random_.Chance(0.5)) {
    pod.metadata.deletion_timestamp = WallTime{};
  } else {
    pod.metadata.labels = RandomPodLabels(random_);
  }
  bed_.ledger.SetPod(std::make_shared<const kube::Pod>(pod));
}

void RandomCluster::SetNamespace() {
  const std::string name = OneOf(random_, {"one", "two", "three"});
  if (random_.Chance(0.2)) {
    namespaces_.erase(name);
    bed_.objects.namespaces.Remove({"", name});
    return;
  }
  kube::Namespace ns;
  ns.metadata.name = name;
  ns.metadata.labels.Mutable()["team"] = OneOf(random_, {"red", "blue"});
  namespaces_[name] = ns.metadata.labels;
  bed_.objects.namespaces.Set(std::make_shared<const kube::Namespace>(ns));
}

std::vector<kube::Pod> RandomCluster::PodList() const {
  std::vector<kube::Pod> list;
  for (const auto& [uid, pod] : pods_) list.push_back(pod);
  return list;
}

RandomCluster::WhatIf RandomCluster::AnyWhatIf() {
  WhatIf what{.node = Any(nodes_, random_)->first, .delta = {}, .pods = {}, .added = {}};
  for (const auto& [uid, pod] : pods_) {
    if (pod.spec.node_name == what.node && random_.Chance(0.5)) {
      what.delta.removed.push_back(bed_.ledger.Find(uid));
    } else {
      what.pods.push_back(pod);
    }
  }
  while (random_.Chance(0.5)) {
    what.pods.push_back(NewPod());
    what.pods.back().spec.node_name = what.node;
    what.added.push_back(InfoOf(bed_, what.pods.back()));
    what.delta.added.push_back(what.added.back().get());
  }
  return what;
}

void VersionWatch::Check(FilterPlugin& plugin, const PodQuery& query) {
  const NodeTable& nodes = query.nodes();
  const uint64_t version = plugin.WideVersion(query);
  std::vector<uint8_t> keep(nodes.live(), nodes.live() + nodes.rows());
  plugin.Filter(query, nodes.all(), keep.data());
  same_ = version == version_ && nodes.topology_version() == topology_version_;
  if (version == 0) {
    EXPECT_TRUE(std::equal(keep.begin(), keep.end(), nodes.live()));
  } else if (same_) {
    keep_.resize(keep.size(), 0);  // rows without a node may be new
    EXPECT_EQ(keep_, keep);
  }
  version_ = version;
  topology_version_ = nodes.topology_version();
  keep_ = std::move(keep);
}

}  // namespace koord::scheduler
