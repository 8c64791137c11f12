#pragma once
#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "scheduler/framework/verdict.h"

namespace koord::scheduler {

// A plugin's word against a pod, as users see it: a rejection as it is; anything else is an error
// and says where it happened.
inline Verdict SaidAt(std::string_view point, std::string_view plugin, Verdict verdict) {
  if (!verdict.rejected()) {
    verdict = Verdict::Error(
        fmt::format("running {} plugin \"{}\": {}", point, plugin, verdict.Message()));
  }
  verdict.plugin = plugin;
  return verdict;
}

}  // namespace koord::scheduler
