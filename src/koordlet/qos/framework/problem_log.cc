#include "koordlet/qos/framework/problem_log.h"

#include "base/log.h"

namespace koord::koordlet {

void ProblemLog::Report(std::string_view kind, std::string_view object, const Status& problem) {
  if (!complaints_.IsNew(object, kind, Message(problem))) return;
  LOG_WARNING("Strategy met a problem", {"strategy", strategy_}, {"problem", kind},
              {"object", object}, {"err", problem});
}

void ProblemLog::Resolve(std::string_view kind, std::string_view object) {
  complaints_.Forget(object, kind);
}

}  // namespace koord::koordlet
