#include "base/problem_log.h"

#include "base/log.h"

namespace koord {

void ProblemLog::Report(const ProblemKey& key, const Status& problem) {
  if (!known_.IsNew(key, Message(problem))) return;
  LOG_WARNING("Met a problem", {"reporter", reporter_}, {"object", key.object},
              {"problem", key.kind}, {"err", problem});
}

void ProblemLog::Set(const ProblemKey& key, const Status& status) {
  return status.ok() ? Resolve(key) : Report(key, status);
}

}  // namespace koord
