#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "koordlet/host/file_tree.h"

// Parts of the last-level cache and of the memory bandwidth, as resctrl's files have them.
namespace koord::koordlet {

// The mask for the part of the cache from `start` to `end` percent, in hexadecimal. `cbm` is the
// mask of the whole cache as the kernel writes it: "7ff".
StatusOr<std::string> L3MaskOf(std::string_view cbm, int64_t start_percent, int64_t end_percent);

// The kernel's number for a share of the memory bandwidth: steps of ten percent, except that AMD
// counts in eighths of a gigabyte per second. None: not a share.
std::optional<int64_t> MbaValueOf(std::string_view cpu_vendor, int64_t percent);

// The caches that the root group's schemata lists for a kind ("L3", "MB"), ascending; they need not
// be numbered without gaps.
std::vector<int32_t> ParseCacheIds(std::string_view schemata, std::string_view kind);

struct CacheValue {
  int32_t cache = 0;
  std::string value;
};
// "L3:0=f;1=f;\n".
std::string FormatSchemata(std::string_view kind, const std::vector<CacheValue>& values);

}  // namespace koord::koordlet
