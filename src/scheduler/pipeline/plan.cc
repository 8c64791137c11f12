#include "scheduler/pipeline/plan.h"

#include <algorithm>

namespace koord::scheduler {

Plan::Plan(const PluginLineup& profile) : profile(profile) {
  for (FilterPlugin* plugin : profile.filter) {
    (plugin->wide() ? wide_filters : row_filters).push_back(plugin);
  }
  for (const PluginLineup::Scorer& scorer : profile.score) {
    if (scorer.plugin->wide()) {
      wide_scorers.push_back(scorer);
    } else if (scorer.plugin->normalizes()) {
      normalized_scorers.push_back(scorer);
    } else {
      plain_scorers.push_back(scorer);
    }
  }
  has_every_cycle = std::ranges::any_of(
      profile.pre_filter, [](const PreFilterPlugin* plugin) { return plugin->every_cycle(); });
}

}  // namespace koord::scheduler
