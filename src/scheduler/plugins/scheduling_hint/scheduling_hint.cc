#include "scheduler/plugins/scheduling_hint/scheduling_hint.h"

#include <algorithm>
#include <optional>

#include "api/pod_annotations.h"

namespace koord::scheduler {
namespace {

struct HintState final : PluginState {
  std::string error;  // "": none
  std::optional<api::SchedulingHint> hint;
};

}  // namespace

SchedulingHint::SchedulingHint(const PluginContext&, const SchedulingHintArgs& args)
    : most_preferred_(static_cast<size_t>(std::max<int64_t>(args.max_hint_nodes, 0))) {}

std::unique_ptr<PluginState> SchedulingHint::Compile(const PodShape& shape) {
  auto state = std::make_unique<HintState>();
  auto hint = api::SchedulingHintOf(shape.sample->metadata.annotations);
  if (!hint.ok()) {
    state->error = Message(hint.status());
    return state;
  }
  state->hint = std::move(*hint);
  if (state->hint && state->hint->preferred_node_names.size() > most_preferred_) {
    state->hint->preferred_node_names.resize(most_preferred_);
  }
  return state;
}

PreFilterResult SchedulingHint::PreFilter(PodQuery& query) {
  const auto& state = query.state<HintState>(slot());
  if (!state.error.empty()) return {Verdict::Error(state.error)};
  if (!state.hint) return PreFilterResult::Skip();
  if (state.hint->node_names.empty()) return PreFilterResult::Success();
  return {.verdict = Verdict::Success(), .node_names = state.hint->node_names};
}

std::span<const std::string> SchedulingHint::PreferNodes(const PodQuery& query) {
  const auto& hint = query.state<HintState>(slot()).hint;
  return hint ? std::span<const std::string>(hint->preferred_node_names)
              : std::span<const std::string>();
}

}  // namespace koord::scheduler
