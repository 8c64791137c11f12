#include "base/cpu_list.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/strings.h"

namespace koord {
namespace {

constexpr int32_t kMaxRangeEnd = 4096;

std::optional<int32_t> ParseCpu(std::string_view text) {
  const std::optional<uint64_t> id = ParseUint(text);
  if (!id || *id > std::numeric_limits<int32_t>::max()) return std::nullopt;
  return static_cast<int32_t>(*id);
}

Status BadPart(std::string_view part) {
  return InvalidArgument("{} is no CPU: expected a number or a range like 0-3", Quote(part, 64));
}

}  // namespace

StatusOr<std::vector<int32_t>> ParseCpuList(std::string_view text) {
  std::vector<int32_t> cpus;
  if (text.empty()) return cpus;
  for (const std::string_view part : Split(text, ',')) {
    const std::vector<std::string_view> ends = Split(part, '-');
    const std::optional<int32_t> first = ParseCpu(ends.front());
    const std::optional<int32_t> last = ParseCpu(ends.back());
    if (ends.size() > 2 || !first || !last) return BadPart(part);
    if (ends.size() == 1) {
      cpus.push_back(*first);
      continue;
    }
    if (*last > kMaxRangeEnd) {
      return InvalidArgument("the range {} ends above {}", Quote(part, 64), kMaxRangeEnd);
    }
    for (int32_t cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
  }
  std::ranges::sort(cpus);
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

std::string FormatCpuList(const std::vector<int32_t>& cpus) {
  std::vector<std::string> parts;
  for (size_t first = 0, last = 0; first < cpus.size(); first = ++last) {
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    parts.push_back(first == last ? std::to_string(cpus[first])
                                  : fmt::format("{}-{}", cpus[first], cpus[last]));
  }
  return Join(parts, ",");
}

}  // namespace koord
