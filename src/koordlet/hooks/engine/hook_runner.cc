#include "koordlet/hooks/engine/hook_runner.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/log.h"

namespace koord::koordlet::hooks {
namespace {

void EndIfNamesRepeat(const std::vector<std::unique_ptr<HookPlugin>>& plugins) {
  for (size_t i = 1; i < plugins.size(); ++i) {
    if (plugins[i]->name() != plugins[i - 1]->name()) continue;
    LOG_ERROR("Two runtime hooks have one name", {"hook", plugins[i]->name()});
    std::abort();
  }
}

const NodePod* FindPod(const NodePods& pods, std::string_view uid) {
  const auto found = std::ranges::find(pods, uid, &NodePod::uid);
  return found == pods.end() ? nullptr : &*found;
}

}  // namespace

HookRunner::HookRunner(const HookEnv& env, std::vector<std::unique_ptr<HookPlugin>> plugins)
    : env_(env),
      plugins_(std::move(plugins)),
      writer_(env),
      grants_(env.options.trust.trust_pod_authors),
      policy_(env.options.trust, &env.registry),
      durations_(env.registry.AddHistograms("koordlet_runtime_hook_invoked_duration_milliseconds",
                                            "Time that a runtime hook takes for one call",
                                            {"node", "hook", "stage", "status"},
                                            metrics::ExponentialBuckets(0.01, 4, 8))) {
  std::ranges::sort(plugins_, {}, [](const auto& plugin) { return plugin->name(); });
  EndIfNamesRepeat(plugins_);
}

std::vector<HookStage> HookRunner::stages() const {
  std::vector<HookStage> stages;
  for (const HookStage stage : AllHookStages()) {
    const bool has_hook = std::ranges::any_of(
        plugins_, [stage](const auto& plugin) { return plugin->stages().Contains(stage); });
    if (has_hook && !env_.options.disabled_stages.Contains(stage)) stages.push_back(stage);
  }
  return stages;
}

HookPod HookRunner::MakePod(SandboxDescription description) {
  const NodePod* const known = FindPod(*env_.state.pods(), description.uid);
  HookPod pod = MakeHookPod(std::move(description), policy_, known);
  grants_.Update(env_.state);
  auto cpuset = grants_.CpusetOf(pod);
  if (cpuset.ok()) {
    pod.cpuset = *std::move(cpuset);
  } else if (pod.resource_status.ok()) {
    env_.problems.Report({.object = pod.key(), .kind = "resource-status"}, cpuset.status());
  }
  return pod;
}

HookContainer HookRunner::MakeContainer(const HookPod& pod,
                                        ContainerDescription description) const {
  return MakeHookContainer(pod, std::move(description), env_.host.cgroups().layout(),
                           env_.options.default_runtime);
}

template <class Call>
Status HookRunner::Run(HookStage stage, std::string_view object, Call call) {
  if (env_.options.disabled_stages.Contains(stage)) return absl::OkStatus();
  for (const auto& plugin : plugins_) {
    if (!plugin->stages().Contains(stage)) continue;
    const SteadyTime start = env_.clock.Steady();
    const Status status = call(*plugin);
    const std::chrono::duration<double, std::milli> took = env_.clock.Steady() - start;
    durations_
        .With({env_.options.node_name, plugin->name(), ToString(stage),
               status.ok() ? "succeeded" : "failed"})
        .Observe(took.count());
    if (status.ok()) continue;
    LOG_WARNING("Runtime hook failed", {"hook", plugin->name()}, {"stage", ToString(stage)},
                {"object", object}, {"error", status});
    if (env_.options.plugin_failure_policy == FailurePolicy::kFail) return status;
  }
  return absl::OkStatus();
}

Status HookRunner::RunPod(HookStage stage, const HookPod& pod, PodResult& result) {
  return Run(stage, pod.key(),
             [&](HookPlugin& plugin) { return plugin.OnPod(stage, pod, result); });
}

Status HookRunner::RunContainer(HookStage stage, const HookContainer& container,
                                ContainerResult& result) {
  return Run(stage, container.pod->key() + '/' + container.name,
             [&](HookPlugin& plugin) { return plugin.OnContainer(stage, container, result); });
}

}  // namespace koord::koordlet::hooks
