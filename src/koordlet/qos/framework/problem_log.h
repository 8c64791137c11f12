#pragma once
#include <string_view>

#include "base/status.h"
#include "koordlet/states/complaints.h"

namespace koord::koordlet {

// What went wrong with which object, said once: a pod with a bad annotation is met every second.
class ProblemLog {
 public:
  explicit ProblemLog(std::string_view strategy) : strategy_(strategy) {}

  // Logged unless the same was said of this object the last time.
  void Report(std::string_view kind, std::string_view object, const Status& problem);
  // The next problem of that kind is news again.
  void Resolve(std::string_view kind, std::string_view object);

 private:
  const std::string_view strategy_;
  Complaints complaints_;
};

}  // namespace koord::koordlet
