#pragma once
#include <string>
#include <vector>

#include "base/clock.h"
#include "cli/scenario/runner.h"
#include "cli/scenario/scenario.h"

namespace koord::scenario {

struct Result {
  std::string file;
  std::string name;
  int line = 0;
  Outcome outcome;
  Duration elapsed{0};
};

// One line a scenario, and below it what was wrong: "ok    FILE:LINE name (3 ms)".
std::string FormatResult(const Result& result, bool color);
// "198 passed, 2 failed in 4.2 s"
std::string FormatSummary(const std::vector<Result>& results, Duration elapsed);
// The XML that CI systems read.
std::string FormatJunit(const std::vector<Result>& results, Duration elapsed);

}  // namespace koord::scenario
