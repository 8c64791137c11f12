#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/status.h"

namespace koord::localcluster {

// What is in use, as a part of what was asked for: 0.5 of a request of 4 CPUs is 2 CPUs.
struct Load {
  double cpu = 0;
  double memory = 0;
};

// How busy a pod is over time. A pure function of the pod's seed and the time of day, so that a
// restarted cluster carries on where it was and nothing has to be remembered.
class LoadModel {
 public:
  virtual ~LoadModel() = default;
  virtual Load At(uint64_t seed, WallTime time) const = 0;
};

// The models a cluster knows:
//
//   - flat, flat=0.4: the same all the time
//   - diurnal, diurnal=low:0.2;high:0.7;period:24h;noise:0.1: day and night, with noise; a little
//     apart for each pod
//   - spike, spike=low:0.2;high:1.2;every:10m;for:1m: quiet, with a burst now and then, at the
//     pod's own time
//   - trace=FILE: a CSV file, seconds,cpu[,memory] in ascending order, each row valid until the
//     next, repeated at the end
//
// A pod may choose its own by an annotation. It names a trace by its file's name without folder and
// ".csv", and only those that the command line has loaded: annotations never open files.
class LoadModels {
 public:
  using Ptr = std::shared_ptr<const LoadModel>;

  LoadModels();  // knows the models above, starts with flat as default

  // From the command line: becomes the default.
  Status SetDefault(std::string_view text);
  // From a pod. An empty text is the default.
  StatusOr<Ptr> Find(std::string_view text) const;

  const Ptr& default_model() const { return default_; }

 private:
  Ptr default_;
  std::map<std::string, Ptr, std::less<>> traces_;
};

// The text of a CSV trace; errors name the line.
StatusOr<LoadModels::Ptr> ParseTrace(std::string_view csv);

}  // namespace koord::localcluster
