#pragma once
#include <string_view>
#include <vector>

#include "api/output_keys.h"
#include "scheduler/framework/plugin.h"

namespace koord::scheduler {

// The annotations by which an earlier attempt has given something that this one does not give: they
// are to be removed.
inline std::vector<std::string_view> StaleOutputsOf(const Attempt& attempt) {
  std::vector<std::string_view> stale;
  for (const std::string_view key : api::kOutputAnnotations) {
    if (kube::FindValue(attempt.annotations, key) != nullptr) continue;
    if (kube::FindValue(attempt.pod->metadata.annotations, key) != nullptr) stale.push_back(key);
  }
  return stale;
}

}  // namespace koord::scheduler
