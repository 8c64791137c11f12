#pragma once
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "scheduler/cluster/ledger.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/framework/plugin_context.h"

namespace koord::scheduler {

// Keeps pods off nodes on which a port that they want of the node itself is taken.
//
// Two pods conflict when they want the same port for the same protocol, on the same address or one
// of them on all addresses (0.0.0.0). Few pods want host ports, so those in use are listed by row,
// and most rows have none.
class NodePorts final : public PreFilterPlugin,
                        public FilterPlugin,
                        public RequeuePlugin,
                        public LedgerListener {
 public:
  static constexpr std::string_view kName = "NodePorts";

  explicit NodePorts(const PluginContext& context);

  std::string_view name() const override { return kName; }
  std::unique_ptr<PluginState> Compile(const PodShape& shape) override;
  PreFilterResult PreFilter(PodQuery& query) override;
  void Filter(const PodQuery& query, RowRange rows, uint8_t* keep) override;
  RowVerdict Check(const PodQuery& query, const RowView& row) override;
  bool Wants(EventKind kind) const override {
    return kind == EventKind::kAssignedPodRemoved || kind == EventKind::kNodeAdded;
  }
  bool MightCure(const kube::Pod& rejected, const ClusterEvent& event) override;
  size_t remembered() const override { return texts_.used(); }

  void OnPodAdded(const PodInfo& pod) override;
  void OnPodRemoved(const PodInfo& pod) override;

 private:
  // A HostPort as numbers, so that comparing many is cheap.
  struct Port {
    uint32_t protocol = 0;
    int32_t number = 0;
    uint32_t address = 0;

    bool operator==(const Port&) const = default;
  };
  struct UsedPort {
    Port port;
    int pods = 0;
    CountedTexts::Hold texts;
  };
  struct State;

  static bool Conflicts(const Port& a, const Port& b);
  Port Number(const HostPort& port, CountedTexts::Hold& hold);
  bool IsFree(const std::vector<Port>& wanted, NodeRow row) const;

  ReasonId reason_;
  CountedTexts texts_;                       // protocols and addresses; all addresses are 0
  std::vector<std::vector<UsedPort>> used_;  // by row, shorter than the table if none follow
};

}  // namespace koord::scheduler
