#include "scheduler/framework/verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace koord::scheduler {

std::string_view ToString(Code code) {
  switch (code) {
    case Code::kSuccess:
      return "Success";
    case Code::kError:
      return "Error";
    case Code::kUnschedulable:
      return "Unschedulable";
    case Code::kUnschedulableAndUnresolvable:
      return "UnschedulableAndUnresolvable";
    case Code::kWait:
      return "Wait";
    case Code::kSkip:
      return "Skip";
    case Code::kPending:
      return "Pending";
  }
  return "Error";
}

std::string Verdict::Message() const { return fmt::format("{}", fmt::join(reasons, ", ")); }

ReasonId Reasons::InternAll(const std::vector<std::string>& texts, ReasonHold& hold) {
  return texts_.Intern(fmt::format("{}", fmt::join(texts, std::string_view(&kBetween, 1))), hold);
}

}  // namespace koord::scheduler
