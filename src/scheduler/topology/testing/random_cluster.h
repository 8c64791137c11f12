#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "scheduler/testing/plugin_bed.h"

// For tests that compare a plugin with the rules written down plainly: a small cluster that changes
// at random, kept both in the ledger and as plain maps.
namespace koord::scheduler {

class RandomCluster {
 public:
  // `furnish` gives a new pod its terms.
  using Furnish = std::function<void(kube::Pod&, Random&)>;

  RandomCluster(PluginBed& bed, uint64_t seed, Furnish furnish);

  // Something happens: a node or a pod comes, goes or changes, a namespace gets other labels.
  void Step();
  // A pod without a node.
  kube::Pod NewPod();

  const std::map<std::string, kube::Node>& nodes() const { return nodes_; }
  const std::map<std::string, kube::Pod>& pods() const { return pods_; }  // by uid
  const std::map<std::string, kube::Labels>& namespaces() const { return namespaces_; }
  std::vector<kube::Pod> PodList() const;
  Random& random() { return random_; }

  // Some pods of a node gone and others there, as a delta and as a list.
  struct WhatIf {
    std::string node;
    RowDelta delta;
    std::vector<kube::Pod> pods;
    std::vector<std::unique_ptr<PodInfo>> added;  // of the delta
  };
  WhatIf AnyWhatIf();  // there must be a node

 private:
  void SetNode();
  void RemoveNode();
  void AddPod();
  void RemovePod();
  void ChangePod();
  void SetNamespace();
  std::string AnyNodeName();

  PluginBed& bed_;
  Random random_;
  Furnish furnish_;
  std::map<std::string, kube::Node> nodes_;
  std::map<std::string, kube::Pod> pods_;
  std::map<std::string, kube::Labels> namespaces_;
  int next_pod_ = 0;
};

// What a wide filter says of all rows stays the same while its version does.
class VersionWatch {
 public:
  void Check(FilterPlugin& plugin, const PodQuery& query);
  uint64_t version() const { return version_; }
  bool same() const { return same_; }  // as at the check before

 private:
  uint64_t version_ = 0;
  uint64_t topology_version_ = 0;
  bool same_ = false;
  std::vector<uint8_t> keep_;
};

// Labels, selectors and keys of a small vocabulary.
kube::Labels RandomPodLabels(Random& random);
kube::LabelSelector RandomSelector(Random& random);
std::string RandomTopologyKey(Random& random);

// Plainly: matchLabels and matchExpressions all hold.
bool PlainlyMatches(const kube::LabelSelector& selector, const kube::Labels& labels);

// A query for a pod, as the plugin sees it now.
std::unique_ptr<PodQuery> QueryFor(PluginBed& bed, Plugin& plugin, const kube::Pod& pod);

}  // namespace koord::scheduler
