#pragma once
#include <string_view>

#include "base/status.h"

namespace koord::koordlet {

// Bytes of the machine's memory that are in use, by /proc/meminfo.
struct MemInfoUsage {
  double used = 0;  // what dropping caches would not give back
  double with_page_cache = 0;
};
StatusOr<MemInfoUsage> ParseMemInfoUsage(std::string_view text);

}  // namespace koord::koordlet
