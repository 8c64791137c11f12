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

ReasonId Reasons::Intern(std::string_view text) {
  if (const auto found = ids_.find(text); found != ids_.end()) return found->second;
  const auto id = static_cast<ReasonId>(texts_.size());
  texts_.emplace_back(text);
  ids_.emplace(text, id);
  return id;
}

}  // namespace koord::scheduler
