#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

// Sets of CPUs as Linux and Kubernetes write them: "0-3,6".
namespace koord {

// The CPUs of a list, ascending and without duplicates; an empty text is an empty set. A range that
// runs backwards ("5-3") is empty. Ranges end at 4096: nobody has more CPUs, and a slip of the
// finger must not fill the memory.
StatusOr<std::vector<int32_t>> ParseCpuList(std::string_view text);

// Ascending CPUs in the fewest parts: "0-3,6".
std::string FormatCpuList(const std::vector<int32_t>& cpus);

}  // namespace koord
