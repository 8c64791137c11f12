#pragma once
#include <string_view>

#include "base/status.h"
#include "base/string_map.h"

namespace koord::koordlet {

// What went wrong with which object, said once: a pod with a bad annotation is met every second.
class ProblemLog {
 public:
  explicit ProblemLog(std::string_view strategy) : strategy_(strategy) {}

  // Logged when this object has not had a problem of this kind before.
  void Report(std::string_view kind, std::string_view object, const Status& problem);
  // The next problem of that kind is news again.
  void Resolve(std::string_view kind, std::string_view object);

 private:
  static constexpr size_t kMaxRemembered = 1024;

  const std::string_view strategy_;
  StringSet reported_;
};

}  // namespace koord::koordlet
