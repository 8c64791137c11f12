#include "scheduler/registry/plugin_registry.h"

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "scheduler/plugins/coscheduling/coscheduling.h"
#include "scheduler/plugins/default_binder/default_binder.h"
#include "scheduler/plugins/default_pre_bind/default_pre_bind.h"
#include "scheduler/plugins/default_preemption/default_preemption.h"
#include "scheduler/plugins/dynamic_resources/dynamic_resources.h"
#include "scheduler/plugins/image_locality/image_locality.h"
#include "scheduler/plugins/inter_pod_affinity/inter_pod_affinity.h"
#include "scheduler/plugins/load_aware_scheduling/load_aware_scheduling.h"
#include "scheduler/plugins/node_affinity/node_affinity.h"
#include "scheduler/plugins/node_name/node_name.h"
#include "scheduler/plugins/node_numa_resource/node_numa_resource.h"
#include "scheduler/plugins/node_ports/node_ports.h"
#include "scheduler/plugins/node_resources_balanced_allocation/node_resources_balanced_allocation.h"
#include "scheduler/plugins/node_resources_fit/node_resources_fit.h"
#include "scheduler/plugins/node_resources_fit_plus/node_resources_fit_plus.h"
#include "scheduler/plugins/node_unschedulable/node_unschedulable.h"
#include "scheduler/plugins/node_volume_limits/node_volume_limits.h"
#include "scheduler/plugins/pod_topology_spread/pod_topology_spread.h"
#include "scheduler/plugins/priority_sort/priority_sort.h"
#include "scheduler/plugins/reservation/reservation.h"
#include "scheduler/plugins/scarce_resource_avoidance/scarce_resource_avoidance.h"
#include "scheduler/plugins/scheduling_gates/scheduling_gates.h"
#include "scheduler/plugins/scheduling_hint/scheduling_hint.h"
#include "scheduler/plugins/taint_toleration/taint_toleration.h"
#include "scheduler/plugins/volume_binding/volume_binding.h"
#include "scheduler/plugins/volume_restrictions/volume_restrictions.h"
#include "scheduler/plugins/volume_zone/volume_zone.h"

namespace koord::scheduler {
namespace {

using Factory = std::function<std::unique_ptr<Plugin>(const PluginContext&, const Profile&)>;

struct Entry {
  std::string name;
  std::set<ExtensionPoint> points;
  Factory make;
};

template <class T>
std::set<ExtensionPoint> PointsOf() {
  std::set<ExtensionPoint> points;
  const auto serves = [&]<class Point>(std::type_identity<Point>, ExtensionPoint point) {
    if constexpr (std::is_base_of_v<Point, T>) points.insert(point);
  };
  serves(std::type_identity<PreEnqueuePlugin>{}, ExtensionPoint::kPreEnqueue);
  serves(std::type_identity<QueueSortPlugin>{}, ExtensionPoint::kQueueSort);
  serves(std::type_identity<PreFilterPlugin>{}, ExtensionPoint::kPreFilter);
  serves(std::type_identity<AdmitPlugin>{}, ExtensionPoint::kPreFilter);
  serves(std::type_identity<FilterPlugin>{}, ExtensionPoint::kFilter);
  serves(std::type_identity<PostFilterPlugin>{}, ExtensionPoint::kPostFilter);
  serves(std::type_identity<ScorePlugin>{}, ExtensionPoint::kPreScore);
  serves(std::type_identity<ScorePlugin>{}, ExtensionPoint::kScore);
  serves(std::type_identity<ReservePlugin>{}, ExtensionPoint::kReserve);
  serves(std::type_identity<PermitPlugin>{}, ExtensionPoint::kPermit);
  serves(std::type_identity<PreBindPlugin>{}, ExtensionPoint::kPreBind);
  serves(std::type_identity<BindPlugin>{}, ExtensionPoint::kBind);
  serves(std::type_identity<PostBindPlugin>{}, ExtensionPoint::kPostBind);
  return points;
}

template <class T>
Entry Plain() {
  return {std::string(T::kName), PointsOf<T>(),
          [](const PluginContext& context, const Profile&) -> std::unique_ptr<Plugin> {
            if constexpr (std::is_constructible_v<T, const PluginContext&>) {
              return std::make_unique<T>(context);
            } else {
              return std::make_unique<T>();
            }
          }};
}

template <class T, class Args>
Entry WithArgs() {
  return {std::string(T::kName), PointsOf<T>(),
          [](const PluginContext& context, const Profile& profile) -> std::unique_ptr<Plugin> {
            return std::make_unique<T>(context, ArgsFor<Args>(profile));
          }};
}

// One line a plugin.
const std::vector<Entry>& Entries() {
  static const std::vector<Entry> kEntries{
      WithArgs<Coscheduling, CoschedulingArgs>(),
      Plain<DefaultBinder>(),
      Plain<DefaultPreBind>(),
      WithArgs<DefaultPreemption, DefaultPreemptionArgs>(),
      WithArgs<DynamicResources, DynamicResourcesArgs>(),
      Plain<ImageLocality>(),
      WithArgs<InterPodAffinity, InterPodAffinityArgs>(),
      WithArgs<LoadAwareScheduling, LoadAwareSchedulingArgs>(),
      WithArgs<NodeAffinity, NodeAffinityArgs>(),
      Plain<NodeName>(),
      WithArgs<NodeNumaResource, NodeNumaResourceArgs>(),
      Plain<NodePorts>(),
      WithArgs<NodeResourcesBalancedAllocation, NodeResourcesBalancedAllocationArgs>(),
      WithArgs<NodeResourcesFit, NodeResourcesFitArgs>(),
      WithArgs<NodeResourcesFitPlus, NodeResourcesFitPlusArgs>(),
      Plain<NodeUnschedulable>(),
      Plain<NodeVolumeLimits>(),
      WithArgs<PodTopologySpread, PodTopologySpreadArgs>(),
      Plain<PrioritySort>(),
      WithArgs<ReservationPlugin, ReservationArgs>(),
      WithArgs<ScarceResourceAvoidance, ScarceResourceAvoidanceArgs>(),
      Plain<SchedulingGates>(),
      WithArgs<SchedulingHint, SchedulingHintArgs>(),
      Plain<TaintToleration>(),
      WithArgs<VolumeBinding, VolumeBindingArgs>(),
      Plain<VolumeRestrictions>(),
      Plain<VolumeZone>(),
  };
  return kEntries;
}

// Makes each plugin once, however many points name it.
class Lineup {
 public:
  Lineup(const Profile& profile, const ProfilePlugins& enabled, const PluginContext& context)
      : profile_(profile), enabled_(enabled), context_(context) {
    made_.name = profile.scheduler_name;
  }

  template <class Point>
  void Fill(ExtensionPoint point, std::vector<Point*>& into) {
    for (const EnabledPlugin& each : enabled_.At(point)) {
      if (auto* plugin = dynamic_cast<Point*>(PluginOf(each.name))) into.push_back(plugin);
    }
  }
  void FillScorers() {
    for (const EnabledPlugin& each : enabled_.At(ExtensionPoint::kScore)) {
      if (auto* plugin = dynamic_cast<ScorePlugin*>(PluginOf(each.name))) {
        made_.score.push_back({plugin, each.weight});
      }
    }
  }
  // No profile names this point: whoever is in it may have a say.
  void FillNextPod() {
    for (const auto& each : made_.plugins) {
      if (auto* plugin = dynamic_cast<NextPodPlugin*>(each.get())) made_.next_pod.push_back(plugin);
    }
  }
  PluginLineup& made() { return made_; }

 private:
  Plugin* PluginOf(const std::string& name) {
    const auto known = by_name_.find(name);
    if (known != by_name_.end()) return known->second;
    for (const Entry& entry : Entries()) {
      if (entry.name != name) continue;
      made_.plugins.push_back(entry.make(context_, profile_));
      made_.plugins.back()->set_slot(made_.plugins.size() - 1);
      return by_name_[name] = made_.plugins.back().get();
    }
    return nullptr;
  }

  const Profile& profile_;
  const ProfilePlugins& enabled_;
  const PluginContext& context_;
  PluginLineup made_;
  std::map<std::string, Plugin*, std::less<>> by_name_;
};

}  // namespace

const PluginCatalog& BuiltInPlugins() {
  static const PluginCatalog kCatalog = [] {
    PluginCatalog catalog;
    for (const Entry& entry : Entries()) catalog.emplace(entry.name, entry.points);
    return catalog;
  }();
  return kCatalog;
}

StatusOr<PluginLineup> MakeLineup(const Profile& profile, const ProfilePlugins& enabled,
                                  int percentage_of_nodes_to_score, PluginContext context) {
  context.profile = profile.scheduler_name;
  context.trials = std::make_shared<ProfileTrials>();
  Lineup lineup(profile, enabled, context);
  PluginLineup& made = lineup.made();
  std::vector<QueueSortPlugin*> sorts;
  lineup.Fill(ExtensionPoint::kQueueSort, sorts);
  if (sorts.size() != 1) {
    return InvalidArgument("profile {}: expected one queueSort plugin, found {}",
                           profile.scheduler_name, sorts.size());
  }
  made.queue_sort = sorts.front();
  lineup.Fill(ExtensionPoint::kPreEnqueue, made.pre_enqueue);
  lineup.Fill(ExtensionPoint::kPreFilter, made.pre_filter);
  lineup.Fill(ExtensionPoint::kPreFilter, made.admit);
  lineup.Fill(ExtensionPoint::kPreFilter, made.prefer_nodes);
  lineup.Fill(ExtensionPoint::kFilter, made.filter);
  lineup.Fill(ExtensionPoint::kFilter, made.filter_transformers);
  lineup.Fill(ExtensionPoint::kPostFilter, made.post_filter);
  lineup.Fill(ExtensionPoint::kPostFilter, made.after_post_filter);
  lineup.FillScorers();
  lineup.Fill(ExtensionPoint::kReserve, made.reserve);
  lineup.Fill(ExtensionPoint::kPermit, made.permit);
  lineup.Fill(ExtensionPoint::kPreBind, made.pre_bind);
  lineup.Fill(ExtensionPoint::kBind, made.bind);
  lineup.Fill(ExtensionPoint::kPostBind, made.post_bind);
  lineup.FillNextPod();
  made.percentage_of_nodes_to_score =
      profile.percentage_of_nodes_to_score.value_or(percentage_of_nodes_to_score);
  return std::move(made);
}

}  // namespace koord::scheduler
