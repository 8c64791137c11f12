#pragma once
#include <string>
#include <vector>

#include "base/status.h"
#include "cli/scenario/scenario.h"

namespace koord::scenario {

// Scenario files below the paths given, in order of name. A path that does not exist is an error.
StatusOr<std::vector<std::string>> FindScenarioFiles(const std::vector<std::string>& paths);

// Reads them all before anything runs, so that a mistake in the last file shows at once.
StatusOr<std::vector<Scenario>> LoadScenarios(const std::vector<std::string>& files);

}  // namespace koord::scenario
