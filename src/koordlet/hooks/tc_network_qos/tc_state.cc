#include "koordlet/hooks/tc_network_qos/tc_state.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/strings.h"
#include "koordlet/hooks/engine/class_qos.h"

namespace koord::koordlet::hooks {
namespace {

using api::QosClass;
using Args = std::vector<std::string>;

constexpr int64_t kMinRate = 1;  // the kernel takes no class without a rate

struct SetOfClass {
  uint32_t minor;
  std::string_view name;
};
constexpr std::array<SetOfClass, 3> kSets = {
    {{kTcSystemMinor, "system_class"}, {kTcLsMinor, "ls_class"}, {kTcBeMinor, "be_class"}}};

// In bits per second; what makes no sense is nothing.
int64_t BitsOf(const std::optional<kube::IntOrString>& value, int64_t total) {
  if (!value) return 0;
  if (value->is_int()) return std::max<int64_t>(ShareOfBandwidth(total, value->number()), 0);
  const auto quantity = kube::Quantity::Parse(*value->text());
  return quantity.ok() ? std::max<int64_t>(quantity->Value(), 0) : 0;
}

TcRate RateOf(const api::NodeSloSpec& slo, QosClass qos, int64_t total_bits) {
  const api::ResourceQos* section = ClassQosOf(slo, qos);
  TcRate rate;
  if (section != nullptr && section->network_qos && section->network_qos->enable.value_or(false)) {
    rate.rate = std::min(BitsOf(section->network_qos->egress_request, total_bits), total_bits) / 8;
    rate.ceil = std::min(BitsOf(section->network_qos->egress_limit, total_bits), total_bits) / 8;
  }
  // Without any bounds a class takes what the others leave.
  if (rate.ceil == 0) rate.ceil = rate.rate > 0 ? rate.rate : total_bits / 8;
  rate.rate = std::clamp(rate.rate, kMinRate, rate.ceil);
  return rate;
}

std::string ClassId(uint32_t minor) { return fmt::format("{}:{:x}", kTcMajor, minor); }
std::string RateText(int64_t bytes) { return fmt::format("{}bps", bytes); }

Args Tc(std::string_view object, std::string_view verb, std::string_view interface, Args rest) {
  Args args = {"tc", std::string(object), std::string(verb), "dev", std::string(interface)};
  args.insert(args.end(), std::make_move_iterator(rest.begin()),
              std::make_move_iterator(rest.end()));
  return args;
}

NetCommand ReplaceClass(std::string_view interface, std::string parent, uint32_t minor, TcRate rate,
                        int prio) {
  Args rest = {"parent", std::move(parent),   "classid", ClassId(minor),     "htb",
               "rate",   RateText(rate.rate), "ceil",    RateText(rate.ceil)};
  if (prio > 0) rest.insert(rest.end(), {"prio", fmt::format("{}", prio)});
  return {.run = Tc("class", "replace", interface, std::move(rest))};
}

std::vector<NetCommand> ReplaceClasses(const TcState& state) {
  const TcBandwidth& bandwidth = state.bandwidth;
  const std::string root = ClassId(kTcRootMinor);
  return {
      ReplaceClass(state.interface, "1:", kTcRootMinor, {bandwidth.total, bandwidth.total}, 0),
      ReplaceClass(state.interface, root, kTcSystemMinor, bandwidth.system, 1),
      ReplaceClass(state.interface, root, kTcLsMinor, bandwidth.ls, 2),
      ReplaceClass(state.interface, root, kTcBeMinor, bandwidth.be, 3),
  };
}

NetCommand CgroupFilter(std::string_view interface, uint32_t prio, uint32_t handle) {
  return {.run = Tc("filter", "add", interface,
                    {"parent", "1:", "protocol", "ip", "prio", fmt::format("{}", prio), "handle",
                     fmt::format("{:x}:", handle), "cgroup"})};
}

// A pod's filter is the only one of its priority, so that it can be removed by that.
std::vector<NetCommand> AddPod(const TcState& state, const TcPod& pod) {
  std::vector<NetCommand> commands = {
      ReplaceClass(state.interface, ClassId(kTcRootMinor), pod.minor, {pod.rate, pod.rate}, 0)};
  if (pod.ip.empty()) {
    commands.push_back(CgroupFilter(state.interface, pod.minor, pod.minor));
    return commands;
  }
  commands.push_back(
      {.run = Tc("filter", "add", state.interface,
                 {"parent", "1:", "protocol", "ip", "prio", fmt::format("{}", pod.minor), "u32",
                  "match", "ip", "src", pod.ip + "/32", "flowid", ClassId(pod.minor)})});
  return commands;
}

std::vector<NetCommand> RemovePod(const TcState& state, const TcPod& pod) {
  return {
      {.run = Tc("filter", "del", state.interface,
                 {"parent", "1:", "protocol", "ip", "prio", fmt::format("{}", pod.minor)}),
       .may_fail = true},
      {.run = Tc("class", "del", state.interface, {"classid", ClassId(pod.minor)}),
       .may_fail = true},
  };
}

Args MarkRule(std::string_view action, const SetOfClass& set) {
  return {"iptables",    "-w", "-t",       "mangle",      std::string(action),
          "POSTROUTING", "-m", "set",      "--match-set", std::string(set.name),
          "src",         "-j", "CLASSIFY", "--set-class", ClassId(set.minor)};
}

NetCommand ChangeSet(std::string_view verb, const SetOfClass& set, const std::string& ip) {
  return {.run = {"ipset", std::string(verb), "-exist", std::string(set.name), ip}};
}

void Append(std::vector<NetCommand>& to, std::vector<NetCommand> more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

const std::set<std::string, std::less<>>& IpsOf(const TcState& state, uint32_t minor) {
  static const std::set<std::string, std::less<>> kNone;
  const auto found = state.ips.find(minor);
  return found == state.ips.end() ? kNone : found->second;
}

}  // namespace

std::optional<uint32_t> TcMinorOf(QosClass qos) {
  switch (qos) {
    case QosClass::kSystem:
      return kTcSystemMinor;
    case QosClass::kLse:
    case QosClass::kLsr:
    case QosClass::kLs:
      return kTcLsMinor;
    case QosClass::kBe:
      return kTcBeMinor;
    case QosClass::kNone:
      break;
  }
  return std::nullopt;
}

TcBandwidth TcBandwidthOf(const api::NodeSloSpec& slo) {
  TcBandwidth bandwidth;
  if (!slo.system_strategy) return bandwidth;
  const int64_t total = slo.system_strategy->total_network_bandwidth.Value();
  if (total < 8) return bandwidth;
  bandwidth.total = total / 8;
  bandwidth.ls = RateOf(slo, QosClass::kLs, total);
  bandwidth.be = RateOf(slo, QosClass::kBe, total);
  const int64_t rest = bandwidth.total - bandwidth.ls.rate - bandwidth.be.rate;
  bandwidth.system = {std::max(rest, kMinRate), bandwidth.total};
  return bandwidth;
}

std::vector<NetCommand> SetUpTc(const TcState& state) {
  std::vector<NetCommand> commands = {
      {.run = Tc("qdisc", "del", state.interface, {"root"}), .may_fail = true},
      {.run = Tc("qdisc", "add", state.interface,
                 {"root", "handle", "1:", "htb", "default", fmt::format("{}", kTcSystemMinor)})},
  };
  Append(commands, ReplaceClasses(state));
  uint32_t prio = 0;
  for (const SetOfClass& set : kSets) {
    commands.push_back(CgroupFilter(state.interface, ++prio, set.minor));
  }
  for (const SetOfClass& set : kSets) {
    commands.push_back({.run = {"ipset", "create", "-exist", std::string(set.name), "hash:ip"}});
    commands.push_back({.run = {"ipset", "flush", std::string(set.name)}});
    for (const std::string& ip : IpsOf(state, set.minor)) {
      commands.push_back(ChangeSet("add", set, ip));
    }
    commands.push_back({.run = MarkRule("-A", set), .check = MarkRule("-C", set)});
  }
  for (const auto& [uid, pod] : state.pods) Append(commands, AddPod(state, pod));
  return commands;
}

std::vector<NetCommand> ChangeTc(const TcState& from, const TcState& to) {
  if (from.interface != to.interface) {
    std::vector<NetCommand> commands = TearDownTc(from.interface);
    Append(commands, SetUpTc(to));
    return commands;
  }
  std::vector<NetCommand> commands;
  if (from.bandwidth != to.bandwidth) Append(commands, ReplaceClasses(to));
  for (const SetOfClass& set : kSets) {
    const auto& before = IpsOf(from, set.minor);
    const auto& after = IpsOf(to, set.minor);
    for (const std::string& ip : before) {
      if (!after.contains(ip)) commands.push_back(ChangeSet("del", set, ip));
    }
    for (const std::string& ip : after) {
      if (!before.contains(ip)) commands.push_back(ChangeSet("add", set, ip));
    }
  }
  for (const auto& [uid, pod] : from.pods) {
    const auto now = to.pods.find(uid);
    if (now == to.pods.end() || now->second != pod) Append(commands, RemovePod(from, pod));
  }
  for (const auto& [uid, pod] : to.pods) {
    const auto before = from.pods.find(uid);
    if (before == from.pods.end() || before->second != pod) Append(commands, AddPod(to, pod));
  }
  return commands;
}

std::vector<NetCommand> TearDownTc(std::string_view interface) {
  std::vector<NetCommand> commands = {
      {.run = Tc("qdisc", "del", interface, {"root"}), .may_fail = true}};
  for (const SetOfClass& set : kSets) {
    commands.push_back({.run = MarkRule("-D", set), .may_fail = true});
    commands.push_back({.run = {"ipset", "destroy", std::string(set.name)}, .may_fail = true});
  }
  return commands;
}

StatusOr<std::string> DefaultInterface(std::string_view routes) {
  for (const std::string_view line : Split(routes, '\n')) {
    const std::vector<std::string_view> fields = Split(Trim(line), '\t');
    if (fields.size() < 2 || Trim(fields[1]) != "00000000") continue;
    const std::string_view name = Trim(fields[0]);
    const bool is_plain =
        !name.empty() && name.size() < 16 && name[0] != '-' &&
        std::ranges::all_of(name, [](unsigned char c) { return c > ' ' && c < 0x7f && c != '/'; });
    if (is_plain) return std::string(name);
  }
  return NotFound("no default route");
}

}  // namespace koord::koordlet::hooks
