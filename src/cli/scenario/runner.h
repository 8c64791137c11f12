#pragma once
#include <functional>
#include <string>
#include <vector>

#include "cli/scenario/environment.h"
#include "cli/scenario/scenario.h"

namespace koord::scenario {

struct Outcome {
  enum class Kind { kPassed, kFailed, kError, kSkipped };
  Kind kind = Kind::kPassed;
  std::vector<std::string> report;  // lines that say what was expected and what was found
};

// Told of every step as it begins, e.g. "when[2] advance (line 17)".
using Progress = std::function<void(const std::string&)>;

// Runs one scenario to its first failed expectation. kError means that the cluster refused or
// failed a step, which says nothing about the expectations.
Outcome RunScenario(const Scenario& scenario, Environment& environment, const Progress& progress);

}  // namespace koord::scenario
