#include "koordlet/metrics/collectors/collector.h"

#include "base/log.h"

namespace koord::koordlet {

void Collector::Complain(std::string_view object, const Status& status) {
  // Pods vanish all the time, and what a kernel lacks it lacks.
  if (absl::IsNotFound(status) || absl::IsUnimplemented(status)) return;
  if (!known_problems_.IsNew({.object = object, .kind = name()}, Message(status))) return;
  LOG_WARNING("Cannot measure", {"collector", name()}, {"object", object}, {"err", status});
}

}  // namespace koord::koordlet
