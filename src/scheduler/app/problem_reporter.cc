#include "scheduler/app/problem_reporter.h"

#include <algorithm>
#include <chrono>

#include "base/log.h"
#include "base/strings.h"

namespace koord::scheduler {

void ProblemReporter::Report(std::string_view kind, const kube::ObjectMeta& object,
                             const std::vector<std::string>& problems) {
  if (problems.empty()) {
    if (!objects_.empty()) objects_.erase(object.uid);
    return;
  }
  const std::string text = Join(problems, "; ");
  if (objects_.size() >= kMostObjects) objects_.clear();  // most of them are gone by now
  Problem& problem = objects_[object.uid];
  if (problem.text != text) {
    LOG_WARNING("Ignored a part of an object", {"kind", kind}, {"name", KeyOf(object).ToString()},
                {"err", text});
    problem = {.object = {.kind = std::string(kind),
                          .ns = object.ns,
                          .name = object.name,
                          .uid = object.uid,
                          .api_version = "v1",
                          .resource_version = object.resource_version},
               .text = text};
  }
  if (!problem.told) Tell(problem);
}

void ProblemReporter::Retry() {
  for (auto& [uid, problem] : objects_) {
    if (!problem.told) Tell(problem);
  }
}

void ProblemReporter::Tell(Problem& problem) {
  if (!may_write_() || !TakeToken()) return;
  problem.told = true;
  recorder_->Record({.regarding = problem.object,
                     .type = "Warning",
                     .reason = "InvalidConfiguration",
                     .action = "Scheduling",
                     .message = problem.text});
}

bool ProblemReporter::TakeToken() {
  const SteadyTime now = clock_.Steady();
  const double passed = std::chrono::duration<double>(now - filled_).count();
  tokens_ = std::min(kBurst, tokens_ + passed * kPerSecond);
  filled_ = now;
  if (tokens_ < 1) return false;
  tokens_ -= 1;
  return true;
}

}  // namespace koord::scheduler
