#pragma once
#include <string>
#include <vector>

#include "base/status.h"
#include "koordlet/agent/koordlet_options.h"
#include "koordlet/executor/resource_executor.h"
#include "koordlet/program/koordlet_flags.h"

namespace koord::koordlet {

// What one pass did, or would do.
struct OnceReport {
  struct Decision {
    std::string strategy;
    std::string object;
    std::string text;
  };
  struct Eviction {
    std::string pod;  // "namespace/name"
    std::string message;
  };
  // In their order. Paths are those of the machine: "/sys/fs/cgroup/cpu/kubepods/cpu.shares".
  std::vector<WriteRecord> writes;
  std::vector<Decision> decisions;
  std::vector<Eviction> evictions;    // nobody really has to go
  std::vector<std::string> commands;  // for the network; they are not run
};

// One pass of collectors, hooks and strategies on a directory that holds the image of a machine, or
// on the machine itself. Files are written unless it is a dry run.
StatusOr<OnceReport> RunOnce(const OnceOptions& once, KoordletOptions options);

// "file: old -> new" for each write and a line for everything else, or an object in JSON.
std::string PrintReport(const OnceReport& report, std::string_view format);

}  // namespace koord::koordlet
