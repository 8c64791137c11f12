#include "scheduler/core/profiles.h"

#include <utility>

namespace koord::scheduler {

Profiles::Profiles(const Parts& parts, BindingHooks hooks, uint64_t seed)
    : parts_(parts),
      hooks_(std::move(hooks)),
      writers_(parts.client),
      patcher_(parts.loop, writers_, seed),
      random_(seed),
      order_(parts.ledger),
      shared_{.nominations = parts.nominations,
              .waiting = parts.waiting,
              .writers = writers_,
              .observer = &parts.observer} {}

StatusOr<std::unique_ptr<SchedulingQueue>> Profiles::Make(std::vector<ProfileOptions> profiles,
                                                          QueueOptions options) {
  if (profiles.empty()) return InvalidArgument("no profile is configured");
  std::vector<QueueProfile> queue_profiles;
  for (ProfileOptions& profile : profiles) {
    ASSIGN_OR_RETURN(QueueProfile added, Add(std::move(profile)));
    queue_profiles.push_back(std::move(added));
  }
  auto queue =
      std::make_unique<SchedulingQueue>(parts_.loop, *runtimes_.front()->plugins().queue_sort,
                                        std::move(queue_profiles), std::move(options));
  shared_.queue = queue.get();
  return queue;
}

StatusOr<QueueProfile> Profiles::Add(ProfileOptions profile) {
  auto runtime = std::make_unique<Runtime>(shared_, parts_.client, std::move(profile.recorder));
  const PluginContext context{.ledger = parts_.ledger,
                              .books = parts_.books,
                              .objects = parts_.objects,
                              .reasons = parts_.reasons,
                              .loop = parts_.loop,
                              .random = random_,
                              .handle = runtime.get(),
                              .client = &parts_.client,
                              .recorder = &runtime->recorder(),
                              .pending = &parts_.pending,
                              .leader_parts = &parts_.leader_parts,
                              .profile = profile.name,
                              .metrics = parts_.metrics,
                              .gates = parts_.gates};
  ASSIGN_OR_RETURN(PluginLineup made, profile.make(context));
  auto plugins = std::make_unique<PluginLineup>(std::move(made));
  auto pipeline = std::make_unique<Pipeline>(*plugins, parts_.ledger, parts_.nominations.rows(),
                                             order_, random_);
  QueueProfile queue_profile{.name = plugins->name,
                             .pre_enqueue = plugins->pre_enqueue,
                             .requeue = {},
                             .probe = pipeline.get()};
  for (const auto& plugin : plugins->plugins) {
    if (auto* requeue = dynamic_cast<RequeuePlugin*>(plugin.get())) {
      queue_profile.requeue.emplace(plugin->name(), requeue);
    }
  }
  auto binding = std::make_unique<BindingCycle>(*plugins, patcher_, hooks_.still_wanted,
                                                hooks_.point_done, hooks_.bind_instead);
  by_name_.emplace(plugins->name, runtime.get());
  runtime->Set(std::move(plugins), std::move(pipeline), std::move(binding));
  runtimes_.push_back(std::move(runtime));
  return queue_profile;
}

Runtime* Profiles::For(const kube::Pod& pod) const {
  const auto found = by_name_.find(pod.spec.scheduler_name);
  return found == by_name_.end() ? nullptr : found->second;
}

std::vector<const PluginLineup*> Profiles::lineups() const {
  std::vector<const PluginLineup*> lineups;
  for (const auto& runtime : runtimes_) lineups.push_back(&runtime->plugins());
  return lineups;
}

std::vector<NextPodPlugin*> Profiles::next_pod_plugins() const {
  std::vector<NextPodPlugin*> all;
  for (const auto& runtime : runtimes_) {
    const auto& own = runtime->plugins().next_pod;
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

size_t Profiles::writing() const {
  size_t pods = 0;
  for (const auto& runtime : runtimes_) pods += runtime->binding().writing();
  return pods;
}

}  // namespace koord::scheduler
