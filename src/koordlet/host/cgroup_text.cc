// What the files of cgroups hold.
#include <algorithm>
#include <array>
#include <limits>

#include "base/strings.h"
#include "koordlet/host/cgroups.h"
#include "koordlet/host/kernel_text.h"

namespace koord::koordlet {
namespace {

constexpr size_t kMaxNumaNodes = 1024;
constexpr int64_t kBytesPerPage = 4096;  // what the numbers of memory.numa_stat are counted in
constexpr int64_t kNanosPerMicro = 1000;

struct Field {
  std::string_view name;
  int64_t* value;
};

bool IsNamed(std::string_view line, std::string_view name) {
  return line.size() > name.size() && line[name.size()] == ' ' && line.starts_with(name);
}

Status TakeValue(std::string_view line, const Field& field) {
  const std::string_view text = Trim(line.substr(field.name.size() + 1));
  const auto number = NumberOf<int64_t>(text);
  if (!number || *number < 0) {
    return InvalidArgument("{} is {}: expected a number", field.name, Quote(text, 64));
  }
  *field.value = *number;
  return absl::OkStatus();
}

// From there on; npos: none.
size_t FindLine(std::string_view text, size_t from, std::string_view name) {
  while (from < text.size()) {
    if (IsNamed(text.substr(from), name)) return from;
    const size_t end = text.find('\n', from);
    from = end == text.npos ? end : end + 1;
  }
  return text.npos;
}

bool IsLine(std::string_view text, size_t at, std::string_view name) {
  return at < text.size() && (at == 0 || text[at - 1] == '\n') && IsNamed(text.substr(at), name);
}

// Lines of "name value"; every field must be among them, others are passed over. It is quickest
// where the fields are in the kernel's order, and where they were the last time.
template <size_t N>
Status ParseFields(std::string_view text, const std::array<Field, N>& fields,
                   std::array<uint32_t, N>& places) {
  size_t from = 0;
  for (size_t i = 0; i < N; ++i) {
    const std::string_view name = fields[i].name;
    size_t at = IsLine(text, places[i], name) ? places[i] : FindLine(text, from, name);
    if (at == text.npos) at = FindLine(text, 0, name);  // another order than expected
    if (at == text.npos) return InvalidArgument("no field {}", name);
    const std::string_view line = text.substr(at, text.find('\n', at) - at);
    RETURN_IF_ERROR(TakeValue(line, fields[i]));
    places[i] = static_cast<uint32_t>(at);
    from = at + line.size();
  }
  return absl::OkStatus();
}

template <size_t N>
Status ParseFields(std::string_view text, const std::array<Field, N>& fields) {
  std::array<uint32_t, N> places{};
  return ParseFields<N>(text, fields, places);
}

Status BadNumaRow(std::string_view word) {
  return InvalidArgument("{} in numa_stat: expected N<node>=<amount>", Quote(word, 64));
}

// "N0=12 N1=34" into amounts by node; a node may appear once.
StatusOr<std::vector<int64_t>> ParseNumaRow(std::string_view row) {
  std::vector<int64_t> amounts;
  std::vector<bool> seen;
  for (auto word = TakeWord(row); !word.empty(); word = TakeWord(row)) {
    std::string_view amount = word;
    const std::string_view name = TakeUntil(amount, '=');
    const auto node = name.starts_with('N') ? NumberOf<size_t>(name.substr(1)) : std::nullopt;
    const auto value = NumberOf<int64_t>(amount);
    if (!node || *node >= kMaxNumaNodes || !value || *value < 0) return BadNumaRow(word);
    if (*node >= amounts.size()) {
      amounts.resize(*node + 1);
      seen.resize(*node + 1);
    }
    if (seen[*node]) return BadNumaRow(word);
    seen[*node] = true;
    amounts[*node] = *value;
  }
  if (amounts.empty()) return InvalidArgument("numa_stat names no node");
  if (std::ranges::find(seen, false) != seen.end()) {
    return InvalidArgument("numa_stat has {} nodes, but leaves some of them out", seen.size());
  }
  return amounts;
}

// The first lines are about the directory's own processes alone, of which a pod has none; those
// with a prefix count the directories below, too.
StatusOr<NumaStat> ParseNumaStatV1(std::string_view text) {
  constexpr std::string_view kPrefix = "hierarchical_";
  std::string_view row = TakeLine(text);
  const std::string_view first = TakeWord(row);
  if (!first.starts_with("total=")) {
    return InvalidArgument("numa_stat starts with {}: expected total=", Quote(first, 64));
  }
  NumaStat stat;
  NumaStat::Lists lists;
  int found = 0;
  while (!text.empty()) {
    std::string_view line = TakeLine(text);
    if (!line.starts_with(kPrefix)) continue;
    line.remove_prefix(kPrefix.size());
    std::string_view amount = TakeWord(line);
    const std::string_view name = TakeUntil(amount, '=');
    if (name == "total") row = line;
    int64_t* const pages = name == "anon"          ? &lists.anon
                           : name == "file"        ? &lists.file
                           : name == "unevictable" ? &lists.unevictable
                                                   : nullptr;
    if (pages == nullptr) continue;
    const auto number = NumberOf<int64_t>(amount);
    if (!number || *number < 0) {
      return InvalidArgument("{}{} in numa_stat is {}: expected a number", kPrefix, name,
                             Quote(amount, 64));
    }
    *pages = *number;
    ++found;
  }
  if (found == 3) stat.lists = lists;
  ASSIGN_OR_RETURN(stat.by_node, ParseNumaRow(row));
  return stat;
}

StatusOr<NumaStat> ParseNumaStatV2(std::string_view text) {
  std::vector<int64_t> anon;
  std::vector<int64_t> file;
  while (!text.empty()) {
    std::string_view line = TakeLine(text);
    const std::string_view name = TakeWord(line);
    if (name != "anon" && name != "file") continue;
    ASSIGN_OR_RETURN((name == "anon" ? anon : file), ParseNumaRow(line));
  }
  if (anon.empty() || file.empty()) return InvalidArgument("numa_stat lacks the row anon or file");
  if (anon.size() != file.size()) {
    return InvalidArgument("numa_stat lists {} nodes for anon and {} for file", anon.size(),
                           file.size());
  }
  for (size_t node = 0; node < anon.size(); ++node) {
    // Each is below 2^63; divided first, their sum cannot overflow. What is lost is put back.
    const int64_t rest = (anon[node] % kBytesPerPage + file[node] % kBytesPerPage) / kBytesPerPage;
    anon[node] = anon[node] / kBytesPerPage + file[node] / kBytesPerPage + rest;
  }
  return NumaStat{.by_node = std::move(anon), .lists = {}};
}

// "avg10=0.00 avg60=0.00 avg300=0.00 total=0"
StatusOr<Pressure::Averages> ParseAverages(std::string_view line) {
  Pressure::Averages averages;
  int found = 0;
  for (auto word = TakeWord(line); !word.empty(); word = TakeWord(line)) {
    std::string_view text = word;
    const std::string_view name = TakeUntil(text, '=');
    double* const value = name == "avg10"    ? &averages.avg10
                          : name == "avg60"  ? &averages.avg60
                          : name == "avg300" ? &averages.avg300
                                             : nullptr;
    if (value == nullptr) continue;
    const auto number = NumberOf<double>(text);
    if (!number || !(*number >= 0 && *number <= 100)) {
      return InvalidArgument("{} in a pressure file: expected a percentage", Quote(word, 64));
    }
    *value = *number;
    ++found;
  }
  if (found != 3) return InvalidArgument("a pressure file lacks averages");
  return averages;
}

}  // namespace

StatusOr<int64_t> ParseCpuUsage(std::string_view text, CgroupVersion version) {
  if (version == CgroupVersion::kV1) {
    const auto nanos = NumberOf<int64_t>(Trim(text));
    if (!nanos || *nanos < 0) {
      return InvalidArgument("CPU usage is {}: expected nanoseconds", Quote(text, 64));
    }
    return *nanos;
  }
  int64_t micros = 0;
  RETURN_IF_ERROR((ParseFields<1>(text, {{{"usage_usec", &micros}}})));
  if (micros > std::numeric_limits<int64_t>::max() / kNanosPerMicro) {
    return InvalidArgument("usage_usec is {}: more than there can be", micros);
  }
  return micros * kNanosPerMicro;
}

StatusOr<CpuStat> ParseCpuStat(std::string_view text) {
  CpuStat stat;
  RETURN_IF_ERROR(
      (ParseFields<2>(text, {{{"nr_periods", &stat.periods}, {"nr_throttled", &stat.throttled}}})));
  return stat;
}

StatusOr<MemoryStat> ParseMemoryStat(std::string_view text, CgroupVersion version) {
  MemoryStatPlaces places{};
  return ParseMemoryStat(text, version, places);
}

StatusOr<MemoryStat> ParseMemoryStat(std::string_view text, CgroupVersion version,
                                     MemoryStatPlaces& places) {
  MemoryStat stat;
  if (version == CgroupVersion::kV1) {
    RETURN_IF_ERROR((ParseFields<7>(text,
                                    {{{"total_cache", &stat.cache},
                                      {"total_rss", &stat.rss},
                                      {"total_inactive_anon", &stat.inactive_anon},
                                      {"total_active_anon", &stat.active_anon},
                                      {"total_inactive_file", &stat.inactive_file},
                                      {"total_active_file", &stat.active_file},
                                      {"total_unevictable", &stat.unevictable}}},
                                    places)));
  } else {
    RETURN_IF_ERROR((ParseFields<7>(text,
                                    {{{"anon", &stat.rss},
                                      {"file", &stat.cache},
                                      {"inactive_anon", &stat.inactive_anon},
                                      {"active_anon", &stat.active_anon},
                                      {"inactive_file", &stat.inactive_file},
                                      {"active_file", &stat.active_file},
                                      {"unevictable", &stat.unevictable}}},
                                    places)));
  }
  return stat;
}

StatusOr<NumaStat> ParseNumaStat(std::string_view text, CgroupVersion version) {
  return version == CgroupVersion::kV1 ? ParseNumaStatV1(text) : ParseNumaStatV2(text);
}

StatusOr<Pressure> ParsePressure(std::string_view text) {
  Pressure pressure;
  bool has_some = false;
  while (!text.empty()) {
    std::string_view line = TakeLine(text);
    const std::string_view name = TakeWord(line);
    if (name == "some") {
      ASSIGN_OR_RETURN(pressure.some, ParseAverages(line));
      has_some = true;
    } else if (name == "full") {
      ASSIGN_OR_RETURN(pressure.full, ParseAverages(line));
    }
  }
  if (!has_some) return InvalidArgument("a pressure file lacks its line some");
  return pressure;
}

StatusOr<std::vector<int32_t>> ParseIds(std::string_view text) {
  std::vector<int32_t> ids;
  for (auto word = TakeWord(text); !word.empty(); word = TakeWord(text)) {
    const auto id = NumberOf<int32_t>(word);
    if (!id || *id < 0) return InvalidArgument("{} is no process id", Quote(word, 64));
    ids.push_back(*id);
  }
  return ids;
}

StatusOr<Limit> ParseLimit(std::string_view text) {
  text = Trim(text);
  if (text == "max") return Limit::Unlimited();
  const auto number = NumberOf<int64_t>(text);
  if (!number || *number < -1) {
    return InvalidArgument("{} is no limit: expected a number, -1 or max", Quote(text, 64));
  }
  return *number == -1 ? Limit::Unlimited() : Limit::Of(*number);
}

}  // namespace koord::koordlet
