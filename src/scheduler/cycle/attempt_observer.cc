#include "scheduler/cycle/attempt_observer.h"

namespace koord::scheduler {

std::string_view ToString(AttemptResult result) {
  switch (result) {
    case AttemptResult::kScheduled:
      return "scheduled";
    case AttemptResult::kUnschedulable:
      return "unschedulable";
    case AttemptResult::kError:
      return "error";
  }
  return "error";
}

}  // namespace koord::scheduler
