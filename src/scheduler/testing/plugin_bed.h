#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/virtual_loop.h"
#include "kube/objects/node.h"
#include "kube/objects/pod.h"
#include "scheduler/cluster/ledger.h"
#include "scheduler/framework/cluster_objects.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/framework/plugin_context.h"

// For tests of plugins: a small cluster that is written down as YAML, and one plugin at a time.
namespace koord::scheduler {

// Decodes YAML (or JSON) text. Aborts with the error if it cannot: the test is wrong then.
template <class T>
std::shared_ptr<const T> FromYaml(std::string_view text);
// The same; a pod without namespace is put into "default", one without uid gets its name as uid.
std::shared_ptr<const kube::Pod> PodOf(std::string_view yaml);
// A node with 110 pods unless it says otherwise.
std::shared_ptr<const kube::Node> NodeOf(std::string_view yaml);

// The kinds of events that a plugin cares about, sorted by name.
std::vector<std::string_view> WantedEvents(const RequeuePlugin& plugin);

class PluginBed {
 public:
  PluginBed() = default;

  VirtualLoop loop;
  Ledger ledger;
  ClusterObjects objects;
  Books books{ledger, objects.node_topologies, objects.devices};
  Reasons reasons;
  Random random{1};
  PluginContext context{.ledger = ledger,
                        .books = books,
                        .objects = objects,
                        .reasons = reasons,
                        .loop = loop,
                        .random = random,
                        .profile = "koord-scheduler"};

  NodeRow AddNode(std::string_view yaml) { return ledger.SetNode(NodeOf(yaml)); }
  void AddPod(std::string_view yaml) { ledger.SetPod(PodOf(yaml)); }  // with spec.nodeName

  // A query for a pod with this plugin's state compiled and, if it has one, its PreFilter run (the
  // answer in `pre_filter`).
  std::unique_ptr<PodQuery> Query(Plugin& plugin, std::string_view pod_yaml);
  std::unique_ptr<PodQuery> Query(Plugin& plugin, std::shared_ptr<const kube::Pod> pod);
  PreFilterResult pre_filter;

  // What Check says of a node: "" or "<code>: <reasons joined with ', '>". Fails the test if Filter
  // decides differently.
  std::string Check(FilterPlugin& plugin, const PodQuery& query, std::string_view node,
                    const RowDelta* delta = nullptr);
  // Scores of all live rows in row order: raw, or normalised over all of them.
  std::vector<int64_t> RawScores(ScorePlugin& plugin, PodQuery& query);
  std::vector<int64_t> Scores(ScorePlugin& plugin, PodQuery& query);
};

}  // namespace koord::scheduler

#include "scheduler/testing/plugin_bed_impl.h"
