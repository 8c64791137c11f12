#include "scheduler/program/problem_reporter.h"

#include "base/log.h"
#include "base/strings.h"

namespace koord::scheduler {

void ProblemReporter::Report(std::string_view kind, const kube::ObjectMeta& object,
                             const std::vector<std::string>& problems,
                             std::string_view api_version) {
  const ProblemKey problem{.object = object.uid, .kind = kind};
  if (problems.empty()) {
    known_.Resolve(problem);
    if (!unsaid_.empty()) unsaid_.erase(object.uid);
    return;
  }
  const std::string text = Join(problems, "; ");
  if (known_.IsNew(problem, text)) {
    LOG_WARNING("Ignored a part of an object", {"kind", kind}, {"name", KeyOf(object).ToString()},
                {"err", text});
    if (unsaid_.size() >= kMostObjects) unsaid_.clear();  // most of them are gone by now
    unsaid_[object.uid] = {.object = {.kind = std::string(kind),
                                      .ns = object.ns,
                                      .name = object.name,
                                      .uid = object.uid,
                                      .api_version = std::string(api_version),
                                      .resource_version = object.resource_version},
                           .text = text};
  }
  if (const auto it = unsaid_.find(object.uid); it != unsaid_.end() && Say(it->second)) {
    unsaid_.erase(it);
  }
}

void ProblemReporter::Retry() {
  absl::erase_if(unsaid_, [this](const auto& entry) { return Say(entry.second); });
}

bool ProblemReporter::Say(const Problem& problem) {
  if (!may_write_() || !events_allowed_.TryTake()) return false;
  recorder_->Record({.regarding = problem.object,
                     .type = "Warning",
                     .reason = "InvalidConfiguration",
                     .action = "Scheduling",
                     .message = problem.text});
  return true;
}

}  // namespace koord::scheduler
