#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "scheduler/cluster/pod_shape.h"

namespace koord::scheduler {

// Whatever makes the next question about a shape cheaper.
class ProbeState {
 public:
  virtual ~ProbeState() = default;
};

// That no pod of a shape can be placed, and what that rests on.
struct Unfit {
  ShapePtr shape;
  // It stays true until one of the rows changes that are in the log from this position on, or the
  // versions move. Nothing: only trying another pod tells.
  struct Rows {
    uint64_t log_position = 0;
    uint64_t versions = 0;
  };
  std::optional<Rows> rows = {};
  std::shared_ptr<ProbeState> probe = {};  // for the ShapeProbe
};

// Finds out whether pods that wait are worth trying, at less than the price of an attempt.
class ShapeProbe {
 public:
  virtual ~ShapeProbe() = default;

  // Whether a pod of the shape might be placed by now, alone or by preemption. If not, `unfit` says
  // so as of now, and `rejectors` gets the plugins that reject what has changed since.
  virtual bool MightFit(Unfit& unfit, WallTime now, std::vector<std::string_view>& rejectors) = 0;
};

}  // namespace koord::scheduler
