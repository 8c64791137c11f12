#pragma once
#include <map>
#include <string>
#include <string_view>

#include "base/cpu_set.h"
#include "base/status.h"

namespace koord::koordlet {

// The kubelet's file cpu_manager_state: which CPUs its static policy has given to the containers of
// each pod, by uid. What of it makes no sense is left out; pods without any are not in it.
StatusOr<std::map<std::string, CpuSet>> ParseCpuManagerState(std::string_view text);

}  // namespace koord::koordlet
