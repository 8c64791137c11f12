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
  bool found = false;
};

bool IsNamed(std::string_view line, std::string_view name) {
  return line.size() > name.size() && line[name.size()] == ' ' && line.starts_with(name);
}

Status TakeValue(std::string_view line, Field& field) {
  const std::string_view text = Trim(line.substr(field.name.size() + 1));
  const auto number = NumberOf<int64_t>(text);
  if (!number || *number < 0) {
    return InvalidArgument("{} is {}: expected a number", field.name, Quote(text, 64));
  }
  *field.value = *number;
  field.found = true;
  return absl::OkStatus();
}

// Lines of "name value"; every field must be among them, others are passed over. It is quickest
// where the fields are in the kernel's order, so that a line is compared with the next one only.
template <size_t N>
Status ParseFields(std::string_view text, std::array<Field, N> fields) {
  size_t next = 0;
  for (std::string_view rest = text; !rest.empty() && next < N;) {
    const std::string_view line = TakeLine(rest);
    if (!IsNamed(line, fields[next].name)) continue;
    RETURN_IF_ERROR(TakeValue(line, fields[next]));
    ++next;
  }
  // The kernel's order was another one.
  while (!text.empty() && next < N) {
    const std::string_view line = TakeLine(text);
    for (Field& field : fields) {
      if (!field.found && IsNamed(line, field.name)) RETURN_IF_ERROR(TakeValue(line, field));
    }
  }
  const auto missing = std::ranges::find(fields, false, &Field::found);
  if (missing == fields.end()) return absl::OkStatus();
  return InvalidArgument("no field {}", missing->name);
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

StatusOr<std::vector<int64_t>> ParseNumaStatV1(std::string_view text) {
  std::string_view line = TakeLine(text);
  const std::string_view total = TakeWord(line);
  if (!total.starts_with("total=")) {
    return InvalidArgument("numa_stat starts with {}: expected total=", Quote(total, 64));
  }
  return ParseNumaRow(line);
}

StatusOr<std::vector<int64_t>> ParseNumaStatV2(std::string_view text) {
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
  return anon;
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
  MemoryStat stat;
  if (version == CgroupVersion::kV1) {
    RETURN_IF_ERROR((ParseFields<7>(text, {{{"total_cache", &stat.cache},
                                            {"total_rss", &stat.rss},
                                            {"total_inactive_anon", &stat.inactive_anon},
                                            {"total_active_anon", &stat.active_anon},
                                            {"total_inactive_file", &stat.inactive_file},
                                            {"total_active_file", &stat.active_file},
                                            {"total_unevictable", &stat.unevictable}}})));
  } else {
    RETURN_IF_ERROR((ParseFields<7>(text, {{{"anon", &stat.rss},
                                            {"file", &stat.cache},
                                            {"inactive_anon", &stat.inactive_anon},
                                            {"active_anon", &stat.active_anon},
                                            {"inactive_file", &stat.inactive_file},
                                            {"active_file", &stat.active_file},
                                            {"unevictable", &stat.unevictable}}})));
  }
  return stat;
}

StatusOr<std::vector<int64_t>> ParseNumaStat(std::string_view text, CgroupVersion version) {
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
