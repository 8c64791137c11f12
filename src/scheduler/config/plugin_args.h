#pragma once
#include <optional>
#include <string_view>
#include <variant>

#include "kube/codec.h"
#include "kube/config_document.h"
#include "scheduler/config/affinity_args.h"
#include "scheduler/config/candidate_args.h"
#include "scheduler/config/coscheduling_args.h"
#include "scheduler/config/load_aware_args.h"
#include "scheduler/config/node_numa_args.h"
#include "scheduler/config/node_resources_args.h"
#include "scheduler/config/reservation_args.h"
#include "scheduler/config/volume_args.h"

namespace koord::scheduler {

// The arguments of one plugin, defaulted and checked. Those of plugins whose arguments have no type
// here are kept as they were written.
//
// A new kind of arguments is a struct with kPlugin and Fields, SetDefaults where a default is more
// than an initial value, Check where not every value is allowed, and a word in this list.
using PluginArgs = std::variant<kube::Json,                           //
                                CoschedulingArgs,                     //
                                DefaultPreemptionArgs,                //
                                DynamicResourcesArgs,                 //
                                InterPodAffinityArgs,                 //
                                LoadAwareSchedulingArgs,              //
                                NodeAffinityArgs,                     //
                                NodeNumaResourceArgs,                 //
                                NodeResourcesBalancedAllocationArgs,  //
                                NodeResourcesFitArgs,                 //
                                NodeResourcesFitPlusArgs,             //
                                PodTopologySpreadArgs,                //
                                ReservationArgs,                      //
                                ScarceResourceAvoidanceArgs,          //
                                SchedulingHintArgs,                   //
                                VolumeBindingArgs>;

// What a plugin gets that the profile says nothing about.
template <class Args>
Args DefaultArgs() {
  Args args;
  if constexpr (requires { args.SetDefaults(); }) args.SetDefaults();
  return args;
}

// Nothing for plugins whose arguments have no type.
std::optional<PluginArgs> DefaultArgsOf(std::string_view plugin);

// Reads what a pluginConfig entry says under `args`; mistakes are reported at `at`.
PluginArgs ReadPluginArgs(std::string_view plugin, const kube::Json& written,
                          const kube::ConfigField& at);

}  // namespace koord::scheduler

// Reading keeps the document; ReadPluginArgs, which knows the plugin, gives it a type.
template <>
struct koord::kube::Codec<koord::scheduler::PluginArgs> {
  static Status Read(JsonView in, koord::scheduler::PluginArgs& out);
  static Json Write(const koord::scheduler::PluginArgs& args);
};
