#pragma once
#include <string_view>

#include "base/status.h"
#include "koordlet/states/complaints.h"

namespace koord::koordlet::hooks {

// Says what is wrong with an object once, not in every pass.
class ProblemLog {
 public:
  // Logs unless the same was said of this object and kind before.
  void Report(std::string_view object, std::string_view kind, const Status& problem);
  // All is well again: the next problem is news.
  void Clear(std::string_view object, std::string_view kind);

 private:
  Complaints complaints_;
  bool is_empty_ = true;
};

}  // namespace koord::koordlet::hooks
