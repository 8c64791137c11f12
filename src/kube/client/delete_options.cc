#include "kube/client/delete_options.h"

#include <utility>

#include "kube/api_error.h"

namespace koord::kube {

Json ToJson(const DeleteOptions& options) {
  json::object members;
  if (options.grace_period_seconds) members["gracePeriodSeconds"] = *options.grace_period_seconds;
  if (!options.propagation_policy.empty()) {
    members["propagationPolicy"] = options.propagation_policy;
  }
  json::object preconditions;
  if (!options.uid.empty()) preconditions["uid"] = options.uid;
  if (!options.resource_version.empty()) {
    preconditions["resourceVersion"] = options.resource_version;
  }
  if (!preconditions.empty()) members["preconditions"] = std::move(preconditions);
  return members;
}

bool HasBeenReplaced(const Status& status) {
  if (!IsConflict(status)) return false;
  // Servers say it in one way of deletions and in another of updates.
  const std::string_view text = Message(status);
  return text.find("UID in the precondition") != std::string_view::npos ||
         text.find("UID in precondition") != std::string_view::npos;
}

bool IsGone(const Status& status) { return kube::IsNotFound(status) || HasBeenReplaced(status); }

}  // namespace koord::kube
