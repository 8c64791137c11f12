#include "scheduler/pipeline/plan.h"

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
}

}  // namespace koord::scheduler
