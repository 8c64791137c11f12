#include "koordlet/host/cpu_topology.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "base/cpu_set.h"
#include "base/strings.h"
#include "koordlet/host/kernel_text.h"

namespace koord::koordlet {
namespace {

constexpr std::string_view kCpuDir = "devices/system/cpu";
constexpr std::string_view kNodeDir = "devices/system/node";
constexpr int64_t kBytesPerKibibyte = 1024;

std::optional<std::string> ReadTrimmed(const FileTree& tree, std::string_view path) {
  const auto text = tree.Read(path);
  if (!text.ok()) return std::nullopt;
  return std::string(Trim(*text));
}

std::optional<int64_t> ReadInt(const FileTree& tree, std::string_view path) {
  const auto text = ReadTrimmed(tree, path);
  return text ? NumberOf<int64_t>(*text) : std::nullopt;
}

// The number in "cpu12" or "node3"; none for "cpufreq" and the like.
std::optional<int32_t> IdIn(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  const auto id = NumberOf<int32_t>(name.substr(prefix.size()));
  return id && *id >= 0 ? id : std::nullopt;
}

std::vector<int32_t> IdsIn(const FileTree& tree, std::string_view dir, std::string_view prefix) {
  std::vector<int32_t> ids;
  const auto entries = tree.List(dir);
  if (!entries.ok()) return ids;
  for (const FileTree::Entry& entry : *entries) {
    if (const auto id = IdIn(entry.name, prefix)) ids.push_back(*id);
  }
  std::ranges::sort(ids);
  return ids;
}

CpuSet ReadCpusOr(const FileTree& tree, std::string_view path, CpuSet otherwise) {
  const auto text = ReadTrimmed(tree, path);
  if (!text) return otherwise;
  return CpuSet::Parse(*text).value_or(std::move(otherwise));
}

std::map<int32_t, int32_t> NodesOfCpus(const FileTree& sys) {
  std::map<int32_t, int32_t> nodes;
  for (const int32_t node : IdsIn(sys, kNodeDir, "node")) {
    const auto path = fmt::format("{}/node{}/cpulist", kNodeDir, node);
    for (const int32_t cpu : ReadCpusOr(sys, path, {})) nodes.emplace(cpu, node);
  }
  return nodes;
}

// Numbers in the order in which things first appear, as lscpu gives them: the kernel's own repeat
// in each socket and may be anything at all.
template <class Key>
class Numbering {
 public:
  int32_t Of(const Key& key) {
    return numbers_.emplace(key, static_cast<int32_t>(numbers_.size())).first->second;
  }

 private:
  std::map<Key, int32_t> numbers_;
};

// The id of the cache that a CPU shares with its neighbours; 0 where the machine does not tell.
int32_t L3Of(const FileTree& sys, int32_t cpu, Numbering<std::string>& unnumbered) {
  const auto dir = fmt::format("{}/cpu{}/cache", kCpuDir, cpu);
  for (const int32_t index : IdsIn(sys, dir, "index")) {
    const auto cache = fmt::format("{}/index{}", dir, index);
    if (ReadInt(sys, cache + "/level") != 3) continue;
    if (const auto id = ReadInt(sys, cache + "/id"); id && *id >= 0 && *id <= INT32_MAX) {
      return static_cast<int32_t>(*id);
    }
    const auto shared = ReadTrimmed(sys, cache + "/shared_cpu_list");
    return shared ? unnumbered.Of(*shared) : 0;
  }
  return 0;
}

StatusOr<model::CpuTopology> ReadTopology(const FileTree& sys) {
  using CoreKey = std::tuple<int64_t, int64_t, int64_t>;  // package, die, core
  const std::map<int32_t, int32_t> nodes = NodesOfCpus(sys);
  Numbering<int64_t> sockets;
  Numbering<CoreKey> cores;
  Numbering<std::string> caches;
  std::vector<Processor> processors;
  CpuSet listed;
  for (const int32_t cpu : IdsIn(sys, kCpuDir, "cpu")) listed.Add(cpu);
  const CpuSet online = ReadCpusOr(sys, fmt::format("{}/online", kCpuDir), std::move(listed));
  for (const int32_t cpu : online) {
    const auto topology = fmt::format("{}/cpu{}/topology", kCpuDir, cpu);
    const auto core = ReadInt(sys, topology + "/core_id");
    const auto package = ReadInt(sys, topology + "/physical_package_id");
    if (!core || !package) continue;  // went offline meanwhile
    const int64_t die = ReadInt(sys, topology + "/die_id").value_or(0);
    const auto node = nodes.find(cpu);
    processors.push_back({.cpu = cpu,
                          .core = cores.Of({*package, die, *core}),
                          .socket = sockets.Of(*package),
                          .node = node == nodes.end() ? 0 : node->second,
                          .l3 = L3Of(sys, cpu, caches)});
  }
  if (processors.empty()) return NotFound("no CPU tells where it is, see /sys/{}", kCpuDir);
  return model::CpuTopology(std::move(processors));
}

// The first processor's lines of /proc/cpuinfo: "model name\t: x".
void ReadModel(std::string_view text, CpuInfo& info) {
  while (!text.empty()) {
    std::string_view line = TakeLine(text);
    if (Trim(line).empty() && !info.flags.empty()) return;
    const std::string_view name = Trim(TakeUntil(line, ':'));
    if (name == "model name") {
      info.model = Trim(line);
    } else if (name == "vendor_id") {
      info.vendor = Trim(line);
    } else if (name == "flags" || name == "Features") {
      for (auto word = TakeWord(line); !word.empty(); word = TakeWord(line)) {
        info.flags.emplace_back(word);
      }
    }
  }
}

// Lines of "MemTotal: 12 kB", in /sys each with "Node 0" before it. In bytes; absent ones are 0.
struct MemInfo {
  int64_t total = 0;
  int64_t free = 0;
  int64_t active_file = 0;
  int64_t inactive_file = 0;
  int64_t reclaimable = 0;
};

StatusOr<MemInfo> ParseMemInfo(std::string_view text) {
  MemInfo info;
  bool has_total = false;
  while (!text.empty()) {
    std::string_view line = TakeLine(text);
    std::string_view name = TakeWord(line);
    if (name == "Node") {
      TakeWord(line);
      name = TakeWord(line);
    }
    int64_t* const value = name == "MemTotal:"         ? &info.total
                           : name == "MemFree:"        ? &info.free
                           : name == "Active(file):"   ? &info.active_file
                           : name == "Inactive(file):" ? &info.inactive_file
                           : name == "SReclaimable:"   ? &info.reclaimable
                                                       : nullptr;
    if (value == nullptr) continue;
    const auto kibibytes = NumberOf<int64_t>(TakeWord(line));
    if (!kibibytes || *kibibytes < 0 || *kibibytes > (int64_t{1} << 50)) {
      return InvalidArgument("meminfo: {} is no amount of memory", name);
    }
    *value = *kibibytes * kBytesPerKibibyte;
    has_total = has_total || value == &info.total;
  }
  if (!has_total) return InvalidArgument("meminfo: no MemTotal");
  return info;
}

NumaNode NodeOf(int32_t id, const MemInfo& info) {
  NumaNode node;
  node.id = id;
  node.memory_total = info.total;
  node.memory_used = std::max<int64_t>(
      info.total - (info.free + info.active_file + info.inactive_file + info.reclaimable), 0);
  return node;
}

}  // namespace

StatusOr<CpuInfo> ReadCpuInfo(const FileTree& sys, const FileTree& proc, const FileTree& resctrl) {
  CpuInfo info;
  ASSIGN_OR_RETURN(info.topology, ReadTopology(sys));
  if (const auto text = proc.Read("cpuinfo"); text.ok()) ReadModel(*text, info);
  const auto smt = ReadInt(sys, fmt::format("{}/smt/active", kCpuDir));
  info.hyper_threading =
      smt ? *smt == 1
          : info.topology.core_count() < static_cast<int64_t>(info.topology.processors().size());
  info.turbo = ReadInt(sys, fmt::format("{}/intel_pstate/no_turbo", kCpuDir)) == 0;
  info.cat_l3_mask = ReadTrimmed(resctrl, "info/L3/cbm_mask").value_or("");
  return info;
}

StatusOr<std::vector<NumaNode>> ReadNumaNodes(const FileTree& sys, const FileTree& proc) {
  std::vector<NumaNode> nodes;
  const auto without_memory =
      ReadCpusOr(sys, fmt::format("{}/has_generic_initiator", kNodeDir), {});
  for (const int32_t id : IdsIn(sys, kNodeDir, "node")) {
    if (without_memory.Contains(id)) continue;
    if (id != static_cast<int32_t>(nodes.size())) {
      return FailedPrecondition("NUMA node {} comes after {} others: expected no gaps", id,
                                nodes.size());
    }
    const auto dir = fmt::format("{}/node{}", kNodeDir, id);
    ASSIGN_OR_RETURN(const std::string text, sys.Read(dir + "/meminfo"));
    ASSIGN_OR_RETURN(const MemInfo info, ParseMemInfo(text));
    NumaNode node = NodeOf(id, info);
    const auto pages = [&](std::string_view size) {
      return ReadInt(sys, fmt::format("{}/hugepages/hugepages-{}/nr_hugepages", dir, size))
          .value_or(0);
    };
    node.huge_2mi = pages("2048kB");
    node.huge_1gi = pages("1048576kB");
    nodes.push_back(node);
  }
  if (!nodes.empty()) return nodes;
  // A kernel that knows no NUMA nodes is one of them.
  ASSIGN_OR_RETURN(const std::string text, proc.Read("meminfo"));
  ASSIGN_OR_RETURN(const MemInfo info, ParseMemInfo(text));
  return std::vector{NodeOf(0, info)};
}

}  // namespace koord::koordlet
