#pragma once
#include <functional>

#include "scheduler/cluster/pod_set.h"
#include "scheduler/framework/plugin.h"

namespace koord::scheduler {

// Whether a pod that was given a node may still be bound: by a leader only, and only while it is
// there and ours. Of a pod that is not shown as pending any more the API server has the last word.
class BindingGuard {
 public:
  // `check_owner`: a pod that names another scheduler by now, or is being deleted, is not bound.
  BindingGuard(std::function<bool()> may_write, bool check_owner, const PodSet& pending)
      : may_write_(std::move(may_write)), check_owner_(check_owner), pending_(pending) {}

  Verdict Check(const Attempt& attempt) const;

 private:
  const std::function<bool()> may_write_;
  const bool check_owner_;
  const PodSet& pending_;
};

}  // namespace koord::scheduler
