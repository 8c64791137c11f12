#include "scheduler/plugins/node_ports/node_ports.h"

#include <algorithm>

namespace koord::scheduler {
namespace {

constexpr uint32_t kEveryAddress = 0;  // the first text

bool AnyConflict(const std::vector<HostPort>& a, const std::vector<HostPort>& b) {
  return std::ranges::any_of(a, [&](const HostPort& x) {
    return std::ranges::any_of(b, [&](const HostPort& y) { return Conflict(x, y); });
  });
}

}  // namespace

struct NodePorts::State final : PluginState {
  std::vector<Port> wanted;
  CountedTexts::Hold texts;
};

NodePorts::NodePorts(const PluginContext& context)
    : reason_(
          context.reasons.Intern("node(s) didn't have free ports for the requested pod ports")) {
  for (const std::string_view text : {"0.0.0.0", "TCP", "UDP", "SCTP"}) texts_.Intern(text);
  const NodeTable& nodes = context.nodes();
  for (NodeRow row{0}; row < nodes.rows(); ++row) {
    for (const PodInfo* pod : nodes.pods(row)) OnPodAdded(*pod);
  }
  context.ledger.AddListener(*this);
}

bool NodePorts::Conflicts(const Port& a, const Port& b) {
  return a.number == b.number && a.protocol == b.protocol &&
         (a.address == b.address || a.address == kEveryAddress || b.address == kEveryAddress);
}

NodePorts::Port NodePorts::Number(const HostPort& port, CountedTexts::Hold& hold) {
  return {.protocol = texts_.Intern(port.protocol, hold),
          .number = port.port,
          .address = texts_.Intern(port.ip, hold)};
}

std::unique_ptr<PluginState> NodePorts::Compile(const PodShape& shape) {
  auto state = std::make_unique<State>();
  for (const HostPort& port : shape.host_ports) {
    state->wanted.push_back(Number(port, state->texts));
  }
  return state;
}

PreFilterResult NodePorts::PreFilter(PodQuery& query) {
  const bool wants_any = !query.state<State>(slot()).wanted.empty();
  return wants_any ? PreFilterResult::Success() : PreFilterResult::Skip();
}

bool NodePorts::IsFree(const std::vector<Port>& wanted, NodeRow row) const {
  if (row >= used_.size()) return true;
  return std::ranges::none_of(used_[row], [&](const UsedPort& used) {
    return std::ranges::any_of(wanted,
                               [&](const Port& port) { return Conflicts(port, used.port); });
  });
}

void NodePorts::Filter(const PodQuery& query, RowRange rows, uint8_t* keep) {
  const std::vector<Port>& wanted = query.state<State>(slot()).wanted;
  if (wanted.empty()) return;
  const auto end = std::min(rows.end, static_cast<NodeRow>(used_.size()));
  for (NodeRow row = rows.begin; row < end; ++row) {
    if (!used_[row].empty() && !IsFree(wanted, row)) keep[row - rows.begin] = 0;
  }
}

RowVerdict NodePorts::Check(const PodQuery& query, const RowView& row) {
  bool free = true;
  if (row.delta == nullptr) {
    free = IsFree(query.state<State>(slot()).wanted, row.row);
  } else {
    row.ForEachPod(query.nodes(), [&](const PodInfo& pod) {
      free &= !AnyConflict(query.shape().host_ports, pod.shape->host_ports);
    });
  }
  return free ? RowVerdict() : RowVerdict::Unschedulable(reason_);
}

void NodePorts::OnPodAdded(const PodInfo& pod) {
  for (const HostPort& each : pod.shape->host_ports) {
    if (pod.row >= used_.size()) used_.resize(pod.row + 1);
    std::vector<UsedPort>& used = used_[pod.row];
    CountedTexts::Hold texts;
    const Port port = Number(each, texts);
    const auto found = std::ranges::find(used, port, &UsedPort::port);
    if (found != used.end()) {
      ++found->pods;
    } else {
      used.push_back({port, 1, std::move(texts)});
    }
  }
}

void NodePorts::OnPodRemoved(const PodInfo& pod) {
  for (const HostPort& each : pod.shape->host_ports) {
    std::vector<UsedPort>& used = used_[pod.row];
    CountedTexts::Hold texts;
    const auto found = std::ranges::find(used, Number(each, texts), &UsedPort::port);
    if (--found->pods == 0) used.erase(found);
  }
}

bool NodePorts::MightCure(const kube::Pod& rejected, const ClusterEvent& event) {
  switch (event.kind) {
    case EventKind::kForced:
    case EventKind::kNodeAdded:
      return true;
    case EventKind::kAssignedPodRemoved:
      return event.pod_before == nullptr ||
             AnyConflict(HostPortsOf(rejected.spec), HostPortsOf(event.pod_before->spec));
    default:
      return false;
  }
}

}  // namespace koord::scheduler
