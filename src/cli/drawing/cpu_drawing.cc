#include "cli/drawing/cpu_drawing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "base/cpu_set.h"
#include "base/strings.h"

namespace koord::cli {
namespace {

constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
constexpr char kFree = '.';
constexpr char kReserved = '#';
constexpr char kSeveral = '*';  // hold it
constexpr char kOthers = '+';   // for whom there are no letters left

int64_t IntIn(const kube::Json& json, std::string_view name) {
  const kube::Json* found = kube::Find(json, {name});
  return found != nullptr && found->is_int64() ? found->get_int64() : 0;
}

std::string TextIn(const kube::Json& json, std::string_view name) {
  return std::string(kube::FindString(json, {name}));
}

StatusOr<CpuSet> CpusIn(const kube::Json& json, std::string_view name) {
  return CpuSet::Parse(kube::FindString(json, {name}));
}

// "cpu 4, memory 8Gi"
std::string Amounts(const kube::Json& zone) {
  std::vector<std::string> parts;
  if (const kube::Json* resources = kube::Find(zone, {"resources"});
      resources != nullptr && resources->is_object()) {
    for (const auto& [name, amount] : resources->get_object()) {
      if (amount.is_string()) {
        parts.push_back(
            fmt::format("{} {}", std::string_view(name), std::string_view(amount.get_string())));
      }
    }
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

const kube::json::array& ArrayIn(const kube::Json& json, std::string_view name) {
  static const kube::json::array kNone;
  const kube::Json* found = kube::Find(json, {name});
  return found != nullptr && found->is_array() ? found->get_array() : kNone;
}

struct Holder {
  char letter = kOthers;
  std::string name;
  CpuSet cpus;
  std::string zones;
  bool reserves = false;  // for others
};

struct Core {
  std::vector<int32_t> cpus;
};
// By socket, NUMA node and core.
using Machine = std::map<int64_t, std::map<int64_t, std::map<int64_t, Core>>>;

class Drawing {
 public:
  Drawing(const kube::Json& node, size_t width)
      : node_(node), width_(std::max<size_t>(width, 60)) {}

  StatusOr<std::string> Make() {
    RETURN_IF_ERROR(Read());
    Heading();
    for (const auto& [socket, nodes] : machine_) {
      Line(fmt::format("socket {}", socket));
      for (const auto& [numa, cores] : nodes) DrawNuma(numa, cores);
    }
    Legend();
    return std::move(out_);
  }

 private:
  Status Read() {
    const kube::Json* details = kube::Find(node_, {"cpuTopology", "cpuDetails"});
    if (details == nullptr || !details->is_object()) {
      return InvalidArgument("cpuTopology.cpuDetails: expected an object with the CPUs");
    }
    for (const auto& [id, cpu] : details->get_object()) {
      const auto number = static_cast<int32_t>(IntIn(cpu, "cpuID"));
      Core& core = machine_[IntIn(cpu, "socketID")][IntIn(cpu, "nodeID")][IntIn(cpu, "coreID")];
      core.cpus.insert(std::ranges::lower_bound(core.cpus, number), number);
    }
    ASSIGN_OR_RETURN(reserved_, CpusIn(node_, "reservedCPUs"));
    ASSIGN_OR_RETURN(free_, CpusIn(node_, "availableCPUs"));
    return ReadHolders();
  }

  Status ReadHolders() {
    for (const kube::Json& pod : ArrayIn(node_, "allocatedPods")) {
      Holder holder;
      const std::string reserves = TextIn(pod, "reservation");
      holder.reserves = !reserves.empty();
      holder.name = reserves.empty()
                        ? fmt::format("{}/{}", TextIn(pod, "namespace"), TextIn(pod, "name"))
                        : fmt::format("reservation {}", reserves);
      if (const std::string from = TextIn(pod, "drawsFrom"); !from.empty()) {
        holder.name += fmt::format(" of reservation {}", from);
      }
      ASSIGN_OR_RETURN(holder.cpus, CpusIn(pod, "cpuset"));
      for (const kube::Json& zone : ArrayIn(pod, "numaNodeResources")) {
        holder.zones += fmt::format(", of NUMA node {} {}", IntIn(zone, "node"), Amounts(zone));
      }
      holders_.push_back(std::move(holder));
    }
    const auto first = [](const Holder& holder) {
      return std::pair(holder.cpus.empty() ? CpuSet::kMaxCpus : *holder.cpus.begin(), holder.name);
    };
    std::ranges::sort(holders_, {}, first);
    size_t next = 0;
    for (Holder& holder : holders_) {
      if (!holder.cpus.empty() && next < kLetters.size()) holder.letter = kLetters[next++];
    }
    return absl::OkStatus();
  }

  char LetterOf(int32_t cpu) const {
    // What is reserved is its owner's, once one has it.
    for (const bool reserves : {false, true}) {
      const Holder* found = nullptr;
      for (const Holder& holder : holders_) {
        if (holder.reserves != reserves || !holder.cpus.Contains(cpu)) continue;
        if (found != nullptr) return kSeveral;
        found = &holder;
      }
      if (found != nullptr) return found->letter;
    }
    return reserved_.Contains(cpu) ? kReserved : kFree;
  }

  void Line(std::string text) {
    if (text.size() > width_) text = text.substr(0, width_ - 3) + "...";
    out_ += text + "\n";
  }

  void Heading() {
    const kube::Json& machine = *kube::Find(node_, {"cpuTopology"});
    Line(fmt::format("{}: {} CPUs on {} cores, {} NUMA nodes, {} sockets; {} are nobody's own{}",
                     TextIn(node_, "name"), IntIn(machine, "numCPUs"), IntIn(machine, "numCores"),
                     IntIn(machine, "numNodes"), IntIn(machine, "numSockets"), free_.size(),
                     reserved_.empty() ? "" : fmt::format(", {} reserved", reserved_.size())));
    const std::string policy = TextIn(node_, "numaTopologyPolicy");
    if (!policy.empty()) Line(fmt::format("NUMA topology policy {}", policy));
  }

  std::string LeftOn(int64_t numa) const {
    std::string total, left;
    for (const kube::Json& zone : ArrayIn(node_, "numaNodeResources")) {
      if (IntIn(zone, "node") == numa) total = Amounts(zone);
    }
    for (const kube::Json& zone : ArrayIn(node_, "remainingNUMANodeResources")) {
      if (IntIn(zone, "node") == numa) left = Amounts(zone);
    }
    if (total.empty()) return "";
    return total == left ? fmt::format(": {}", total)
                         : fmt::format(": {}; not given to pods: {}", total, left);
  }

  void DrawNuma(int64_t numa, const std::map<int64_t, Core>& cores) {
    Line(fmt::format("  NUMA node {}{}", numa, LeftOn(numa)));
    std::vector<std::string> drawn;
    std::vector<std::pair<int32_t, int32_t>> cpus;  // the first and the last of each core
    for (const auto& [id, core] : cores) {
      std::string& text = drawn.emplace_back();
      for (const int32_t cpu : core.cpus) text += LetterOf(cpu);
      cpus.emplace_back(core.cpus.front(), core.cpus.back());
    }
    constexpr size_t kMargin = 14;
    const size_t wide = drawn.front().size() + 1;
    const size_t fit = std::max<size_t>(1, (width_ - kMargin) / wide);
    const size_t per_line = fit >= 16 ? 16 : fit;
    for (size_t i = 0; i < drawn.size(); i += per_line) {
      const size_t end = std::min(drawn.size(), i + per_line);
      const std::string which = fmt::format("CPU {}", cpus[i].first);
      std::string line = fmt::format("    {:<{}}", which, kMargin - 4);
      for (size_t k = i; k < end; ++k) line += drawn[k] + (k + 1 < end ? " " : "");
      Line(std::move(line));
    }
  }

  void Legend() {
    Line("");
    for (const Holder& holder : holders_) {
      const std::string cpus =
          holder.cpus.empty() ? "" : fmt::format("  CPUs {}", holder.cpus.ToString());
      const std::string zones = holder.cpus.empty() && !holder.zones.empty()
                                    ? "  " + holder.zones.substr(2)
                                    : holder.zones;
      Line(fmt::format("  {} {}{}{}", holder.cpus.empty() ? ' ' : holder.letter, holder.name, cpus,
                       zones));
    }
    std::string marks = fmt::format("  {} nobody's own", kFree);
    if (!reserved_.empty()) {
      marks += fmt::format(", {} kept by the system or the kubelet ({})", kReserved,
                           reserved_.ToString());
    }
    Line(marks);
  }

  const kube::Json& node_;
  const size_t width_;
  Machine machine_;
  CpuSet reserved_, free_;
  std::vector<Holder> holders_;
  std::string out_;
};

}  // namespace

StatusOr<std::string> DrawCpus(const kube::Json& node, size_t width) {
  return Drawing(node, width).Make();
}

}  // namespace koord::cli
