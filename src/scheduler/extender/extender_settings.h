#pragma once
#include <string>
#include <vector>

#include "scheduler/config/scheduler_configuration.h"

namespace koord::scheduler {

// What is configured of extenders and not acted upon, a sentence an extender: nobody shall believe
// that an extender has a say where it has none.
std::vector<std::string> WarningsAbout(const std::vector<Extender>& extenders);

}  // namespace koord::scheduler
