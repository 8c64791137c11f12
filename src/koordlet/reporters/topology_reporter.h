#pragma once
#include <memory>
#include <optional>
#include <string>

#include "api/node_resource_topology.h"
#include "base/event_loop.h"
#include "koordlet/host/file_tree.h"
#include "koordlet/informers/kubelet_client.h"
#include "koordlet/informers/node_state.h"
#include "koordlet/metrics/node_info.h"
#include "koordlet/reporters/object_writer.h"
#include "koordlet/reporters/topology_report.h"

namespace koord::koordlet {

// Keeps the node's NodeResourceTopology up to date, and koordlet's own view of it.
class TopologyReporter {
 public:
  struct Options {
    Duration interval = std::chrono::seconds(3);
    bool report = true;  // otherwise for koordlet alone
    bool report_huge_pages = false;
    bool ask_kubelet = true;  // for its configuration
  };

  // `kubelet` may be null, and is then not asked; `kubelet_files` is where it keeps its state.
  TopologyReporter(EventLoop& loop, kube::Client& client, const std::string& node, NodeState& state,
                   const NodeInfoCache& info, const FileTree& kubelet_files, KubeletClient* kubelet,
                   Options options);

  // As it is in the cluster; null: there is none.
  void SetObject(std::shared_ptr<const api::NodeResourceTopology> object);
  // Instead of asking the kubelet.
  void SetKubeletConfig(KubeletConfig config) { config_ = std::move(config); }
  void Start();
  void Stop();
  // One round, now.
  void Update();

 private:
  void Round();
  void AskKubelet();
  void OnNoConfig(SteadyTime asked, const Status& why);
  void ReadConfigFile();
  StatusOr<TopologyReport> Build() const;
  void Write(const TopologyReport& report);

  EventLoop& loop_;
  NodeState& state_;
  const NodeInfoCache& info_;
  const FileTree& kubelet_files_;
  KubeletClient* const kubelet_;
  const Options options_;
  Duration pause_;  // after the next failure to get the configuration
  SteadyTime ask_again_ = SteadyTime::min();
  ObjectWriter writer_;
  Timer timer_;
  std::optional<KubeletConfig> config_;
  bool is_config_of_file_ = false;  // the kubelet would not say
  bool asking_ = false;
  bool known_ = false;  // whether there is an object
  std::shared_ptr<const api::NodeResourceTopology> object_;
  KnownProblems known_problems_;
};

}  // namespace koord::koordlet
