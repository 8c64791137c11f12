#pragma once
#include <memory>
#include <string_view>
#include <utility>

#include "base/event_loop.h"
#include "kube/client/client.h"
#include "kube/events/event_recorder.h"
#include "scheduler/config/load_configuration.h"
#include "scheduler/core/scheduler.h"
#include "scheduler/registry/plugin_registry.h"

namespace koord::scheduler {

// Pods "s" with reservations, as the shipped profile has them.
inline constexpr std::string_view kReservationConfiguration = R"(
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: s
  plugins:
    preFilter: {enabled: [{name: Reservation}]}
    filter: {enabled: [{name: Reservation}]}
    postFilter: {enabled: [{name: Reservation}, {name: DefaultPreemption}], disabled: [{name: '*'}]}
    score: {enabled: [{name: Reservation, weight: 5000}]}
    reserve: {enabled: [{name: Reservation}]}
    preBind: {enabled: [{name: Reservation}]}
    bind: {enabled: [{name: Reservation}, {name: DefaultBinder}], disabled: [{name: '*'}]}
)";

struct ConfiguredProfile {
  std::string_view configuration;                      // its first profile
  std::unique_ptr<kube::EventRecorder> recorder = {};  // null: events are sent
  bool has_controllers = true;                         // that write while the scheduler leads
};

// A scheduler of pods "s" with the real plugins, as a configuration sets them up.
inline StatusOr<std::unique_ptr<Scheduler>> MakeConfiguredScheduler(EventLoop& loop,
                                                                    kube::Client& client,
                                                                    ConfiguredProfile profile,
                                                                    Scheduler::Options options) {
  if (profile.recorder == nullptr) {
    profile.recorder = kube::MakeSeriesEventRecorder(client, {.component = "s", .host = {}});
  }
  options.profiles.push_back(
      {"s", std::move(profile.recorder),
       [configuration = profile.configuration, has_controllers = profile.has_controllers](
           const PluginContext& context) -> StatusOr<PluginLineup> {
         ASSIGN_OR_RETURN(LoadedConfiguration loaded, LoadConfiguration(configuration, "test"));
         ASSIGN_OR_RETURN(ExpandedPlugins expanded,
                          ExpandPlugins(loaded.configuration, BuiltInPlugins()));
         PluginContext own = context;
         if (!has_controllers) own.leader_parts = nullptr;
         return MakeLineup(loaded.configuration.profiles.front(), expanded.profiles.front(), 0,
                           own);
       }});
  return Scheduler::Make(loop, client, std::move(options));
}

}  // namespace koord::scheduler
