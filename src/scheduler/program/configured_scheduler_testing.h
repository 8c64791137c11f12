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

// A scheduler with the real plugins, as the first profile of a configuration sets them up.
inline StatusOr<std::unique_ptr<Scheduler>> MakeConfiguredScheduler(EventLoop& loop,
                                                                    kube::Client& client,
                                                                    std::string_view configuration,
                                                                    Scheduler::Options options) {
  options.profiles.push_back(
      {"s", kube::MakeSeriesEventRecorder(client, {.component = "s", .host = {}}),
       [configuration](const PluginContext& context) -> StatusOr<PluginLineup> {
         ASSIGN_OR_RETURN(LoadedConfiguration loaded, LoadConfiguration(configuration, "test"));
         ASSIGN_OR_RETURN(ExpandedPlugins expanded,
                          ExpandPlugins(loaded.configuration, BuiltInPlugins()));
         return MakeLineup(loaded.configuration.profiles.front(), expanded.profiles.front(), 0,
                           context);
       }});
  return Scheduler::Make(loop, client, std::move(options));
}

}  // namespace koord::scheduler
