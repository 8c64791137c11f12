#include "scheduler/binding/binding_guard.h"

namespace koord::scheduler {

Verdict BindingGuard::Check(const Attempt& attempt) const {
  if (!may_write_()) return Verdict::Error("this instance does not lead any more");
  if (!check_owner_) return Verdict::Success();
  const auto now = pending_.find(attempt.pod->metadata.uid);
  if (now == pending_.end()) return Verdict::Success();
  if ((*now)->spec.scheduler_name != attempt.profile) {
    return Verdict::Error("schedulerName unmatched");
  }
  if (IsBeingDeleted((*now)->metadata)) return Verdict::Error("pod is being deleted");
  return Verdict::Success();
}

}  // namespace koord::scheduler
