#pragma once
#include <string_view>

#include "base/known_problems.h"
#include "base/status.h"

namespace koord {

// Logs what went wrong with which object once, until it changes or is resolved.
class ProblemLog {
 public:
  // `reporter`: who met the problems, as the log names it. Must outlive this.
  explicit ProblemLog(std::string_view reporter) : reporter_(reporter) {}

  void Report(const ProblemKey& key, const Status& problem);
  // The next problem with that key is new.
  void Resolve(const ProblemKey& key) { known_.Resolve(key); }
  // Reports what is wrong, or resolves it if nothing is.
  void Set(const ProblemKey& key, const Status& status);

 private:
  const std::string_view reporter_;
  KnownProblems known_;
};

}  // namespace koord
