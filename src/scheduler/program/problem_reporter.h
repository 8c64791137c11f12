#pragma once
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/known_problems.h"
#include "base/string_map.h"
#include "kube/client/token_bucket.h"
#include "kube/events/event_recorder.h"
#include "kube/objects/meta.h"

namespace koord::scheduler {

// Tells the owners of objects, by a Warning event, what of an object could not be used. The same
// about the same object is said once, however often the object changes otherwise; what cannot be
// said now, because this instance does not lead or has just said a lot, is said later.
class ProblemReporter {
 public:
  ProblemReporter(const Clock& clock, std::function<bool()> may_write)
      : may_write_(std::move(may_write)), events_allowed_(clock, kPerSecond, kBurst) {}

  // Set before anything is reported.
  void Use(kube::EventRecorder& recorder) { recorder_ = &recorder; }

  // No problems: whatever there was is mended.
  void Report(std::string_view kind, const kube::ObjectMeta& object,
              const std::vector<std::string>& problems, std::string_view api_version = "v1");
  // Says what is still unsaid.
  void Retry();

 private:
  static constexpr size_t kMostObjects = 10'000;
  static constexpr double kBurst = 20;
  static constexpr double kPerSecond = 1;

  struct Problem {
    kube::ObjectReference object;
    std::string text;
  };

  // False: it cannot be said now.
  bool Say(const Problem& problem);

  const std::function<bool()> may_write_;
  kube::EventRecorder* recorder_ = nullptr;
  kube::TokenBucket events_allowed_;
  KnownProblems known_{kMostObjects};
  StringMap<Problem> unsaid_;  // by uid
};

}  // namespace koord::scheduler
