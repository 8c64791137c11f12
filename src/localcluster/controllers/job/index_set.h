#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace koord::localcluster {

// Completion indexes as a Job's status writes them: "0,2-4,7". Text that makes no sense is skipped,
// and indexes from `end` on are left out.
std::set<int32_t> ParseIndexes(std::string_view text, int32_t end);
std::string FormatIndexes(const std::set<int32_t>& indexes);

}  // namespace koord::localcluster
