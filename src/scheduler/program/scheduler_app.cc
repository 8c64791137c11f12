#include "scheduler/program/scheduler_app.h"

#include <algorithm>
#include <iterator>

#include "api/resources.h"
#include "model/device/device_inventory.h"
#include "scheduler/config/scheduler_gates.h"
#include "scheduler/extender/extender_settings.h"
#include "scheduler/registry/plugin_registry.h"
#include "scheduler/service/scheduler_service.h"

namespace koord::scheduler {

SchedulerApp::SchedulerApp(EventLoop& loop, kube::Client& client, Options options)
    : loop_(loop),
      client_(client),
      options_(std::move(options)),
      transforms_(TransformsOf(options_.gates)),
      recorder_(kube::MakeSeriesEventRecorder(
          client, {.component = "koord-scheduler", .host = {}, .seed = options_.seed})),
      problems_(loop.clock(), options_.may_write) {
  problems_.Use(*recorder_);
  LeaveToExtenders(options_.configuration);
}

StatusOr<std::unique_ptr<SchedulerApp>> SchedulerApp::Make(EventLoop& loop, kube::Client& client,
                                                           Options options) {
  auto app = std::unique_ptr<SchedulerApp>(new SchedulerApp(loop, client, std::move(options)));
  if (program::ComponentApi* api = app->options_.api) {
    app->metrics_ = std::make_unique<SchedulerMetrics>(api->metrics(), loop.clock());
  }
  RETURN_IF_ERROR(app->MakeScheduler());
  app->MakeFeed();
  app->MakeObservers();
  if (program::ComponentApi* api = app->options_.api) app->Serve(*api);
  return app;
}

Status SchedulerApp::MakeScheduler() {
  const SchedulerConfiguration& configuration = options_.configuration;
  ASSIGN_OR_RETURN(ExpandedPlugins expanded, ExpandPlugins(configuration, BuiltInPlugins()));
  warnings_ = std::move(expanded.warnings);
  std::ranges::move(WarningsAbout(configuration.extenders, options_.connect != nullptr),
                    std::back_inserter(warnings_));
  ASSIGN_OR_RETURN(std::unique_ptr<Extenders> extenders, MakeExtenders());
  Scheduler::Options options{
      .seed = options_.seed,
      .queue = {.backoff = {std::chrono::seconds(configuration.pod_initial_backoff_seconds),
                            std::chrono::seconds(configuration.pod_max_backoff_seconds)},
                .flush_after = options_.flush_after},
      .observer = &observers_,
      .may_write = options_.may_write,
      .extenders = std::move(extenders),
      .check_owner_before_binding = options_.gates.Enabled("DynamicSchedulerCheck"),
      .metrics = options_.api == nullptr ? nullptr : &options_.api->metrics(),
      .gates = &options_.gates};
  if (metrics_ != nullptr) {
    options.queue.on_incoming = [this](std::string_view pool, std::string_view event) {
      metrics_->OnIncoming(pool, event);
    };
  }
  for (size_t i = 0; i < configuration.profiles.size(); ++i) {
    const Profile& profile = configuration.profiles[i];
    options.profiles.push_back(
        {.name = profile.scheduler_name,
         .recorder = kube::MakeSeriesEventRecorder(
             client_,
             {.component = profile.scheduler_name, .host = {}, .seed = options_.seed + i + 1}),
         .make = [&profile, &configuration,
                  enabled = expanded.profiles[i]](const PluginContext& context) {
           return MakeLineup(profile, enabled, configuration.percentage_of_nodes_to_score, context);
         }});
  }
  ASSIGN_OR_RETURN(scheduler_, Scheduler::Make(loop_, client_, std::move(options)));
  return absl::OkStatus();
}

StatusOr<std::unique_ptr<Extenders>> SchedulerApp::MakeExtenders() const {
  const std::vector<Extender>& configured = options_.configuration.extenders;
  if (configured.empty() || options_.connect == nullptr) return nullptr;
  std::vector<std::unique_ptr<ExtenderClient>> clients;
  for (size_t i = 0; i < configured.size(); ++i) {
    auto transport = options_.connect(ConnectionOf(configured[i]));
    if (!transport.ok()) {
      return InvalidArgument("extenders[{}]: {}", i, Message(transport.status()));
    }
    clients.push_back(std::make_unique<ExtenderClient>(configured[i], *std::move(transport)));
  }
  return std::make_unique<Extenders>(std::move(clients));
}

void SchedulerApp::MakeFeed() {
  scheduler_->objects().devices.AddWatcher([this](const auto& before, const auto& after) {
    problems_.Report(api::kDevices.kind, (after ? after : before)->metadata,
                     after ? model::InventoryOf(*after).problems : std::vector<std::string>(),
                     api::kDevices.api_version());
  });
  feed_ = std::make_unique<ClusterFeed>(
      client_, *scheduler_,
      ClusterFeed::Transforms{
          .pod = [this](const Scheduler::PodPtr& pod) { return TransformPod(pod); },
          .node = [this](const Scheduler::NodePtr& node) { return TransformNode(node); }},
      kube::InformerSet::Options{.seed = options_.seed, .lender = options_.lender});
}

void SchedulerApp::MakeObservers() {
  const NodeTable& nodes = scheduler_->ledger().nodes();
  debug_ = std::make_unique<DebugLog>(loop_, options_.debug, nodes, scheduler_->reasons());
  decisions_ = std::make_unique<DecisionLog>(nodes);
  observers_.Add(*debug_);
  observers_.Add(*decisions_);
  if (metrics_ != nullptr) {
    metrics_->Show(*scheduler_);
    monitor_ = std::make_unique<AttemptMonitor>(loop_, options_.monitor, options_.api->metrics());
    observers_.Add(*metrics_);
    observers_.Add(*monitor_);
  }
  if (options_.observer != nullptr) observers_.Add(*options_.observer);
}

void SchedulerApp::Serve(program::ComponentApi& api) {
  api.AddSettingProblems(warnings_);
  api.ShowSettingProblems([this] { return feed_->absences(); });
  api.ShowConfig("componentconfig", [this] { return ToJson(options_.configuration); });
  AddSchedulerRoutes(
      api, {.scheduler = *scheduler_,
            .decisions = *decisions_,
            .debug = debug_->flags(),
            .initialized = [this] { return synced(); },
            .is_leader = options_.may_write,
            .find_pod = [this](const kube::ObjectKey& key) { return feed_->FindPod(key); }});
}

Scheduler::PodPtr SchedulerApp::TransformPod(const Scheduler::PodPtr& pod) {
  model::Transformed<kube::Pod> result = model::Transform(pod, transforms_);
  problems_.Report("Pod", pod->metadata, result.problems);
  return std::move(result.object);
}

Scheduler::NodePtr SchedulerApp::TransformNode(const Scheduler::NodePtr& node) {
  model::Transformed<kube::Node> result = model::Transform(node);
  problems_.Report("Node", node->metadata, result.problems);
  return std::move(result.object);
}

void SchedulerApp::Watch() { feed_->Start(); }

void SchedulerApp::Lead(bool another_led) {
  leads_ = true;
  feed_->WhenSynced(scope_.Wrap([this, another_led] {
    if (!another_led) return Begin();
    // What a standby has seen may be older than the last bindings of the leader before.
    feed_->RefreshHolders([this] { Begin(); });
  }));
}

void SchedulerApp::Begin() {
  if (!leads_) return;
  problems_.Retry();
  scheduler_->Start();
}

void SchedulerApp::Stop(Task done) {
  leads_ = false;
  scheduler_->Stop();
  scheduler_->WhenDrained(std::move(done));
}

}  // namespace koord::scheduler
