#include "scheduler/app/scheduler_app.h"

#include "base/log.h"
#include "scheduler/registry/plugin_registry.h"

namespace koord::scheduler {
namespace {

void LogProblems(std::string_view kind, const std::string& name,
                 const std::vector<std::string>& problems) {
  for (const std::string& problem : problems) {
    LOG_WARNING("Ignored a part of an object", {"kind", kind}, {"name", name}, {"err", problem});
  }
}

}  // namespace

StatusOr<std::unique_ptr<SchedulerApp>> SchedulerApp::Make(EventLoop& loop, kube::Client& client,
                                                           Options options) {
  auto app = std::unique_ptr<SchedulerApp>(new SchedulerApp(client, std::move(options)));
  RETURN_IF_ERROR(app->MakeParts(loop));
  return app;
}

Status SchedulerApp::MakeParts(EventLoop& loop) {
  const SchedulerConfiguration& configuration = options_.configuration;
  ASSIGN_OR_RETURN(ExpandedPlugins expanded, ExpandPlugins(configuration, BuiltInPlugins()));
  warnings_ = std::move(expanded.warnings);
  Scheduler::Options options{
      .seed = options_.seed,
      .queue = {.backoff = {std::chrono::seconds(configuration.pod_initial_backoff_seconds),
                            std::chrono::seconds(configuration.pod_max_backoff_seconds)},
                .flush_after = options_.flush_after},
      .observer = options_.observer,
      .may_write = options_.may_write,
      .check_owner_before_binding = options_.gates.Enabled("DynamicSchedulerCheck")};
  for (size_t i = 0; i < configuration.profiles.size(); ++i) {
    const Profile& profile = configuration.profiles[i];
    options.profiles.push_back(
        {.name = profile.scheduler_name,
         .recorder = kube::MakeSeriesEventRecorder(
             client_, {.component = profile.scheduler_name, .seed = options_.seed + i}),
         .make = [&profile, &configuration,
                  enabled = expanded.profiles[i]](const PluginContext& context) {
           return MakeLineup(profile, enabled, configuration.percentage_of_nodes_to_score, context);
         }});
  }
  ASSIGN_OR_RETURN(scheduler_, Scheduler::Make(loop, client_, std::move(options)));
  feed_ = std::make_unique<ClusterFeed>(
      client_, *scheduler_,
      ClusterFeed::Transforms{
          .pod = [this](const Scheduler::PodPtr& pod) { return TransformPod(pod); },
          .node = [this](const Scheduler::NodePtr& node) { return TransformNode(node); }},
      options_.seed);
  return absl::OkStatus();
}

Scheduler::PodPtr SchedulerApp::TransformPod(const Scheduler::PodPtr& pod) const {
  Transformed<kube::Pod> result = Transform(pod, transforms_);
  LogProblems("Pod", KeyOf(pod->metadata).ToString(), result.problems);
  return std::move(result.object);
}

Scheduler::NodePtr SchedulerApp::TransformNode(const Scheduler::NodePtr& node) const {
  Transformed<kube::Node> result = Transform(node);
  LogProblems("Node", node->metadata.name, result.problems);
  return std::move(result.object);
}

void SchedulerApp::Watch() { feed_->Start(); }

void SchedulerApp::Lead() {
  leads_ = true;
  // What a standby has seen may be older than the last bindings of the leader before.
  feed_->WhenSynced(scope_.Wrap([this] {
    feed_->RefreshPods([this] {
      if (leads_) scheduler_->Start();
    });
  }));
}

void SchedulerApp::Stop() {
  leads_ = false;
  scheduler_->Stop();
}

}  // namespace koord::scheduler
