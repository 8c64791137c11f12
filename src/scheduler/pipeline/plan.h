#pragma once
#include <vector>

#include "scheduler/framework/profile_plugins.h"

namespace koord::scheduler {

// A profile's plugins sorted by how the pipeline runs them.
struct Plan {
  explicit Plan(const ProfilePlugins& profile);

  const ProfilePlugins& profile;
  // About a row by itself; any order gives the same rows.
  std::vector<FilterPlugin*> row_filters;
  std::vector<FilterPlugin*> wide_filters;
  std::vector<ProfilePlugins::Scorer> plain_scorers;  // about a row by itself, 0..100 as they are
  std::vector<ProfilePlugins::Scorer> normalized_scorers;
  std::vector<ProfilePlugins::Scorer> wide_scorers;
  bool has_every_cycle = false;  // some PreFilter must be asked for each pod
};

}  // namespace koord::scheduler
