#include "koordlet/app/koordlet.h"

#include <utility>

#include "base/log.h"
#include "base/strings.h"
#include "koordlet/reporters/node_metric_report.h"
#include "koordlet/states/node_slo_merge.h"

namespace koord::koordlet {
namespace {

// How often to look whether collectors have their first results.
constexpr Duration kPhaseCheck = std::chrono::milliseconds(200);

class NoEvictor final : public PodEvictor {
 public:
  Result Evict(const NodePod&, std::string_view, std::string_view) override { return {}; }
  bool WasRefused(std::string_view) const override { return true; }
};

Predictor::Options PredictionOptions(const KoordletOptions& options) {
  Predictor::Options prediction = options.prediction;
  prediction.node_name = options.node_name;
  return prediction;
}

MetricAdvisor::Options CollectingOptions(const KoordletOptions& options) {
  MetricAdvisor::Options advisor;
  advisor.collectors = options.collectors;
  advisor.collectors.node_name = options.node_name;
  advisor.gc_interval = options.metric_gc_interval;
  advisor.store_directory = options.metric_directory;
  return advisor;
}

KoordletOptions WithNodeName(KoordletOptions options) {
  options.hooks.node_name = options.node_name;
  options.hooks.trust = options.trust;
  options.hooks.dry_run = options.dry_run;
  return options;
}

PredictedUsage ToUsage(const ProdPrediction& prediction) {
  PredictedUsage usage;
  if (prediction.reclaimable) {
    usage.reclaimable =
        ResourcesOf(prediction.reclaimable->cpu_milli, prediction.reclaimable->memory);
  }
  if (prediction.peak) {
    usage.peak = ResourcesOf(prediction.peak->cpu_milli, prediction.peak->memory);
  }
  return usage;
}

}  // namespace

Koordlet::Koordlet(EventLoop& loop, Host& host, kube::Client& client, KoordletOptions options,
                   Parts parts)
    : loop_(loop),
      host_(host),
      options_(WithNodeName(std::move(options))),
      parts_(parts),
      internal_(parts.internal != nullptr ? *parts.internal : own_internal_),
      external_(parts.external != nullptr ? *parts.external : own_external_),
      random_(options_.seed),
      metrics_(loop.clock(), options_.metrics),
      executor_(host, loop.clock(), parts.auditor, &internal_,
                {.force_update_after = options_.force_update_after, .dry_run = options_.dry_run}),
      pods_(host.cgroups().layout(), options_.trust, &internal_),
      footprint_(options_.dry_run ? "" : options_.footprint_file),
      advisor_({.loop = loop,
                .host = host,
                .executor = executor_,
                .state = state_,
                .store = metrics_,
                .info = info_,
                .gates = options_.gates,
                .internal = internal_,
                .external = external_,
                .gpus = parts.gpus},
               CollectingOptions(options_)),
      no_evictor_(std::make_unique<NoEvictor>()),
      qos_(loop, StrategyContext()),
      predictor_(loop, state_, metrics_, internal_, external_, PredictionOptions(options_)),
      metric_reporter_(
          loop, client, options_.node_name,
          [this](const NodeMetricPolicy& policy) { return BuildNodeMetric(policy); }, random_()),
      topology_reporter_(loop, client, options_.node_name, state_, info_, host.kubelet(),
                         parts.kubelet,
                         {.interval = options_.topology_interval,
                          .report = options_.gates.Enabled("NodeTopologyReport"),
                          .report_huge_pages = options_.gates.Enabled("HugePageReport"),
                          .ask_kubelet = options_.ask_kubelet_config}),
      device_reporter_(loop, client, options_.node_name, state_, info_, host.sys(), parts.xpu_files,
                       {.interval = options_.topology_interval,
                        .gpus = options_.gates.Enabled("Accelerators"),
                        .rdma = options_.gates.Enabled("RDMADevices"),
                        .only_files = options_.only_xpu_files}),
      bounds_timer_(loop),
      phase_timer_(loop) {
  if (parts_.kubelet != nullptr && !options_.pods_from_api_server) {
    kubelet_pods_ =
        std::make_unique<KubeletPods>(loop, *parts_.kubelet, options_.kubelet_sync_interval,
                                      [this](const PodListReader::Pods& pods) { OnPods(pods); });
  }
  hooks_ = std::make_unique<hooks::RuntimeHooks>(HookSurroundings(), options_.hooks);
}

hooks::RuntimeHooks::Surroundings Koordlet::HookSurroundings() {
  return {.host = host_,
          .executor = executor_,
          .state = state_,
          .loop = loop_,
          .gates = options_.gates,
          .registry = internal_,
          .tools = parts_.hook_tools,
          .footprint = &footprint_,
          .record_event = parts_.record_event,
          .recreate_directory = parts_.recreate_directory};
}

Koordlet::~Koordlet() { Stop(); }

QosContext Koordlet::StrategyContext() {
  return {.host = host_,
          .executor = executor_,
          .state = state_,
          .metrics = metrics_,
          .info = info_,
          .clock = loop_.clock(),
          .gates = options_.gates,
          .evictor = parts_.evictor != nullptr ? *parts_.evictor : *no_evictor_,
          .auditor = parts_.auditor,
          .registry = internal_,
          .random = random_,
          .collect_interval = options_.collectors.usage_interval,
          .reconcile_interval = options_.reconcile_interval,
          .options = options_.qos,
          .node_name = options_.node_name,
          .volume_of_claim = parts_.volume_of_claim,
          .on_decision = parts_.on_decision,
          .footprint = &footprint_,
          .trust_pod_authors = options_.trust.trust_pod_authors};
}

void Koordlet::Start(Task ready) {
  ready_ = std::move(ready);
  phase_ = Phase::kSyncing;
  Advance();
}

void Koordlet::Stop() {
  const Phase before = std::exchange(phase_, Phase::kStopped);
  if (before == Phase::kStopped) return;
  phase_timer_.Cancel();
  bounds_timer_.Cancel();
  restorer_.reset();
  qos_.Stop();
  hooks_.reset();
  if (kubelet_pods_ != nullptr) kubelet_pods_->Stop();
  metric_reporter_.Stop();
  topology_reporter_.Stop();
  device_reporter_.Stop();
  if (before == Phase::kNew || before == Phase::kSyncing) return;
  advisor_.Stop();
  predictor_.SaveAll();
}

Status Koordlet::Healthy() const {
  switch (phase_) {
    case Phase::kActing:
      return absl::OkStatus();
    case Phase::kNew:
    case Phase::kSyncing:
      return Unavailable("the node and its pods are not known yet");
    case Phase::kCollecting:
      return Unavailable("usage has not been measured yet");
    case Phase::kStopped:
      break;
  }
  return Unavailable("stopped");
}

// From what is known, over what is measured, to what is done.
void Koordlet::Advance() {
  if (phase_ == Phase::kSyncing && state_.node() != nullptr && state_.has_pods() && slo_known_) {
    StartCollecting();
  }
  if (phase_ == Phase::kCollecting && advisor_.has_synced()) StartActing();
  if (phase_ == Phase::kSyncing || phase_ == Phase::kCollecting) {
    phase_timer_.Set(kPhaseCheck, [this] { Advance(); });
  }
}

void Koordlet::StartCollecting() {
  LOG_V(1, "The node and its pods are known, starting to measure", {"node", options_.node_name});
  phase_ = Phase::kCollecting;
  advisor_.Start();
  UpdateBounds();
  bounds_timer_.Set(options_.topology_interval, [this] { KeepBounds(); });
  topology_reporter_.Start();
  if (options_.gates.Enabled("Accelerators") || options_.gates.Enabled("RDMADevices")) {
    device_reporter_.Start();
  }
  if (options_.report_node_metric) metric_reporter_.Start();
}

void Koordlet::StartActing() {
  LOG_V(1, "Usage is measured, starting to act", {"node", options_.node_name});
  phase_ = Phase::kActing;
  predictor_.Start();
  Restore();
  qos_.Start();
  hooks_->Start();
  Task ready = std::exchange(ready_, [] {});
  ready();
}

void Koordlet::Restore() {
  const Footprint::Features enabled = EnforcingFeatures(options_.gates);
  Footprint::Features left = footprint_.features();
  for (const std::string& feature : enabled) left.erase(feature);
  if (options_.dry_run || left.empty()) return footprint_.SetFeatures(enabled);
  LOG_INFO("Putting back what features did that are off now", {"features", Join(left, ",")});
  // Both, should koordlet end before that is done.
  Footprint::Features all = left;
  all.insert(enabled.begin(), enabled.end());
  footprint_.SetFeatures(std::move(all));
  restorer_ = std::make_unique<Restorer>(loop_, state_, left, StrategyContext(), HookSurroundings(),
                                         options_.hooks);
  restorer_->Start([this, enabled] {
    footprint_.SetFeatures(enabled);
    restorer_.reset();
  });
}

void Koordlet::OnNode(std::shared_ptr<const kube::Node> node) {
  if (node == nullptr) return;  // it comes back, or nobody will ask us any more
  const bool asks_kubelet = !options_.pods_from_api_server || options_.ask_kubelet_config;
  if (parts_.kubelet != nullptr && asks_kubelet) {
    const Status found = parts_.kubelet->SetNode(*node);
    if (!found.ok()) LOG_ERROR("The kubelet cannot be reached", {"err", found});
    if (found.ok() && kubelet_pods_ != nullptr && phase_ != Phase::kStopped) {
      kubelet_pods_->Start();
    }
  }
  state_.SetNode(std::move(node));
}

// Without a NodeSLO there is no strategy at all; one that was deleted still holds.
void Koordlet::OnNodeSlo(const std::shared_ptr<const api::NodeSlo>& slo) {
  slo_known_ = true;
  if (slo == nullptr) return;
  state_.SetSlo(std::make_shared<const api::NodeSloSpec>(
      MergeNodeSlo(slo->spec, slo->metadata.name, slo_complaints_)));
  UpdateBounds();
}

void Koordlet::OnNodeMetric(const std::shared_ptr<const api::NodeMetric>& metric) {
  metric_reporter_.SetObject(metric);
}

void Koordlet::OnTopology(std::shared_ptr<const api::NodeResourceTopology> topology) {
  topology_reporter_.SetObject(std::move(topology));
}

void Koordlet::OnDevice(std::shared_ptr<const api::Device> device) {
  state_.SetDevice(device);
  device_reporter_.SetObject(std::move(device));
}

void Koordlet::OnPods(const PodListReader::Pods& pods) { SetPods(pods_.Update(pods)); }

void Koordlet::OnPodCgroup() {
  if (kubelet_pods_ != nullptr) kubelet_pods_->SyncSoon();
}

void Koordlet::SetPods(std::shared_ptr<const NodePods> pods) { state_.SetPods(std::move(pods)); }

void Koordlet::KeepBounds() {
  UpdateBounds();
  bounds_timer_.Set(options_.topology_interval, [this] { KeepBounds(); });
}

// What the node grants to pods follows from its processors and its strategy.
void Koordlet::UpdateBounds() {
  PodBounds bounds;
  if (info_.cpu() != nullptr) bounds.cpus = info_.cpu()->cpus();
  if (state_.topology() != nullptr) bounds.kept_cpus = state_.topology()->KeptCpus();
  if (state_.slo() != nullptr && state_.slo()->cpu_burst_strategy) {
    bounds.cpu_burst = *state_.slo()->cpu_burst_strategy;
  }
  if (pods_.SetBounds(std::move(bounds)) && state_.has_pods()) SetPods(pods_.Refresh());
}

api::NodeMetricStatus Koordlet::BuildNodeMetric(const NodeMetricPolicy& policy) {
  return BuildNodeMetricStatus({.policy = policy,
                                .metrics = metrics_,
                                .info = info_,
                                .pods = *state_.pods(),
                                .slo = state_.slo().get(),
                                .predict =
                                    [this](std::span<const NodePod* const> pods) {
                                      return ToUsage(predictor_.Predict(pods));
                                    },
                                .has_cold_pages = options_.gates.Enabled("ColdPageCollector"),
                                .now = loop_.clock().Now()});
}

void Koordlet::CollectOnce() {
  advisor_.CollectOnce();
  topology_reporter_.Update();
  UpdateBounds();
}

void Koordlet::EnforceOnce() {
  hooks_->RunOnce();
  qos_.RunOnce();
}

}  // namespace koord::koordlet
