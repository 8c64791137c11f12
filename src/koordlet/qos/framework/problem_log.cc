#include "koordlet/qos/framework/problem_log.h"

#include <fmt/format.h>

#include "base/log.h"

namespace koord::koordlet {

void ProblemLog::Report(std::string_view kind, std::string_view object, const Status& problem) {
  if (reported_.size() >= kMaxRemembered) reported_.clear();
  if (!reported_.insert(fmt::format("{}\n{}", kind, object)).second) return;
  LOG_WARNING("Strategy met a problem", {"strategy", strategy_}, {"problem", kind},
              {"object", object}, {"err", problem});
}

void ProblemLog::Resolve(std::string_view kind, std::string_view object) {
  if (reported_.empty()) return;
  reported_.erase(fmt::format("{}\n{}", kind, object));
}

}  // namespace koord::koordlet
