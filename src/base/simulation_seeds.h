#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <vector>

#include "base/strings.h"

namespace koord {

// The seeds that a simulation test runs with: 1 to `usual`, or those that KOORD_SIMULATION_SEEDS
// names, "17" or "201-1200".
inline std::vector<uint64_t> SimulationSeeds(int usual) {
  std::optional<int64_t> first = 1, last = usual;
  if (const char* asked = std::getenv("KOORD_SIMULATION_SEEDS")) {
    const std::string_view text(asked);
    const size_t dash = std::min(text.find('-'), text.size());
    first = ParseInt(text.substr(0, dash));
    last = dash == text.size() ? first : ParseInt(text.substr(dash + 1));
  }
  if (!first || !last) {
    fmt::print(stderr, "KOORD_SIMULATION_SEEDS must be a number or two with a dash: 201-1200\n");
    std::exit(1);
  }
  std::vector<uint64_t> seeds;
  for (int64_t seed = *first; seed <= *last; ++seed) seeds.push_back(static_cast<uint64_t>(seed));
  return seeds;
}

}  // namespace koord
