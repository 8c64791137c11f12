#pragma once
#include <vector>

#include "scheduler/framework/plugin_lineup.h"

namespace koord::scheduler {

// A profile's plugins sorted by how the pipeline runs them.
struct Plan {
  explicit Plan(const PluginLineup& profile);

  const PluginLineup& profile;
  // About a row by itself; any order gives the same rows.
  std::vector<FilterPlugin*> row_filters;
  std::vector<FilterPlugin*> wide_filters;
  std::vector<PluginLineup::Scorer> plain_scorers;  // about a row by itself, 0..100 as they are
  std::vector<PluginLineup::Scorer> normalized_scorers;
  std::vector<PluginLineup::Scorer> wide_scorers;
};

}  // namespace koord::scheduler
