#include "koordlet/metrics/collectors/meminfo.h"

#include <cstdint>
#include <optional>

#include "koordlet/host/kernel_text.h"

namespace koord::koordlet {
namespace {

constexpr int64_t kBytesPerKibibyte = 1024;
constexpr int64_t kMaxKibibytes = int64_t{1} << 50;

std::optional<int64_t> KibibytesOf(std::string_view line) {
  const auto number = NumberOf<int64_t>(TakeWord(line));
  if (!number || *number < 0 || *number > kMaxKibibytes) return std::nullopt;
  return number;
}

}  // namespace

StatusOr<MemInfoUsage> ParseMemInfoUsage(std::string_view text) {
  std::optional<int64_t> total;
  std::optional<int64_t> free;
  std::optional<int64_t> available;
  while (!text.empty() && !(total && free && available)) {
    std::string_view line = TakeLine(text);
    const std::string_view name = TakeWord(line);
    if (name == "MemTotal:") total = KibibytesOf(line);
    if (name == "MemFree:") free = KibibytesOf(line);
    if (name == "MemAvailable:") available = KibibytesOf(line);
  }
  if (!total || !free || !available || *free > *total || *available > *total) {
    return InvalidArgument("meminfo: expected MemTotal, MemFree and MemAvailable");
  }
  return MemInfoUsage{static_cast<double>((*total - *available) * kBytesPerKibibyte),
                      static_cast<double>((*total - *free) * kBytesPerKibibyte)};
}

}  // namespace koord::koordlet
