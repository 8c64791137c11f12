#pragma once
#include <memory>
#include <string>
#include <vector>

#include "scheduler/framework/plugin.h"

namespace koord::scheduler {

// The plugins that decide about the pods of one schedulerName, in their final order at each
// extension point.
struct PluginLineup {
  struct Scorer {
    ScorePlugin* plugin;
    int64_t weight;
  };

  std::string name;
  std::vector<std::unique_ptr<Plugin>> plugins;  // each once, by slot
  std::vector<PreEnqueuePlugin*> pre_enqueue;
  QueueSortPlugin* queue_sort = nullptr;
  std::vector<NextPodPlugin*> next_pod;
  std::vector<PreFilterPlugin*> pre_filter;
  std::vector<AdmitPlugin*> admit;
  std::vector<PreferNodesPlugin*> prefer_nodes;  // the first one is asked
  std::vector<FilterPlugin*> filter;
  std::vector<FilterTransformer*> filter_transformers;
  std::vector<PostFilterPlugin*> post_filter;
  std::vector<AfterPostFilterPlugin*> after_post_filter;
  std::vector<Scorer> score;
  std::vector<ReservePlugin*> reserve;
  std::vector<PermitPlugin*> permit;
  std::vector<PreBindPlugin*> pre_bind;
  std::vector<BindPlugin*> bind;
  std::vector<PostBindPlugin*> post_bind;
  // Names of those whose events may help pods that others have rejected.
  std::vector<std::string> cures_others() const {
    std::vector<std::string> names;
    for (const auto& each : plugins) {
      const auto* plugin = dynamic_cast<const RequeuePlugin*>(each.get());
      if (plugin != nullptr && plugin->cures_others()) names.emplace_back(each->name());
    }
    return names;
  }
  // Who stands behind a RowDiagnosis.
  std::string_view NameOfSlot(uint32_t slot) const {
    return slot == kExtenderSlot ? kExtenderName : plugins[slot]->name();
  }
  // How many nodes to look for before choosing, in percent. 0: every node is considered.
  int percentage_of_nodes_to_score = 0;
};

}  // namespace koord::scheduler
