#include "koordlet/hooks/engine/problem_log.h"

#include "base/log.h"

namespace koord::koordlet::hooks {

void ProblemLog::Report(std::string_view object, std::string_view kind, const Status& problem) {
  is_empty_ = false;
  if (!complaints_.IsNew(object, kind, Message(problem))) return;
  LOG_WARNING("Runtime hook could not do its work", {"object", object}, {"kind", kind},
              {"error", problem});
}

void ProblemLog::Clear(std::string_view object, std::string_view kind) {
  if (!is_empty_) complaints_.Forget(object, kind);
}

}  // namespace koord::koordlet::hooks
