#pragma once
#include <string>
#include <vector>

#include "base/status.h"
#include "koordlet/app/koordlet_options.h"
#include "koordlet/executor/resource_executor.h"
#include "koordlet/program/koordlet_flags.h"

namespace koord::koordlet {

// One pass of collectors, hooks and strategies on a directory that holds the image of a machine:
// every write that was made, or would be made in a dry run, in its order. Paths are those of the
// machine: "/sys/fs/cgroup/cpu/kubepods/cpu.shares".
StatusOr<std::vector<WriteRecord>> RunOnce(const OnceOptions& once, KoordletOptions options);

// "file: old -> new" for each, or a list in JSON.
std::string PrintWrites(const std::vector<WriteRecord>& writes, std::string_view format);

}  // namespace koord::koordlet
