#include "koordlet/agent/koordlet.h"

#include <memory>
#include <utility>

#include "base/log.h"

namespace koord::koordlet {
namespace {

class NoEvictor final : public PodEvictor {
 public:
  Result Evict(const NodePod&, std::string_view, std::string_view) override { return {}; }
  bool WasRefused(std::string_view) const override { return true; }
};

PodEvictor& EvictorOf(const Koordlet::Parts& parts) {
  static NoEvictor nobody;
  return parts.evictor != nullptr ? *parts.evictor : nobody;
}

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

}  // namespace

Koordlet::Koordlet(EventLoop& loop, Host& host, kube::Client& client, KoordletOptions options,
                   Parts parts)
    : loop_(loop),
      host_(host),
      options_(WithNodeName(std::move(options))),
      parts_(std::move(parts)),
      internal_(parts_.internal != nullptr ? *parts_.internal : own_internal_),
      external_(parts_.external != nullptr ? *parts_.external : own_external_),
      random_(options_.seed),
      metrics_(loop.clock(), options_.metrics),
      executor_(host, loop.clock(), parts_.auditor, &internal_,
                {.force_update_after = options_.force_update_after, .dry_run = options_.dry_run}),
      knowledge_(loop,
                 {.client = client,
                  .layout = host.cgroups().layout(),
                  .info = info_,
                  .kubelet = parts_.kubelet},
                 options_, internal_, options_.seed),
      advisor_({.loop = loop,
                .host = host,
                .executor = executor_,
                .state = state(),
                .store = metrics_,
                .info = info_,
                .gates = options_.gates,
                .internal = internal_,
                .external = external_,
                .gpus = parts_.gpus},
               CollectingOptions(options_)),
      predictor_(loop, state(), metrics_, internal_, external_, PredictionOptions(options_)),
      enforcement_(
          loop, StrategyContext(), HookSurroundings(),
          {.hooks = options_.hooks, .undo_file = options_.undo_file, .dry_run = options_.dry_run}),
      reporting_(loop, client,
                 {.host = host,
                  .state = state(),
                  .info = info_,
                  .metrics = metrics_,
                  .predictor = predictor_,
                  .kubelet = parts_.kubelet,
                  .xpu_files = parts_.xpu_files},
                 options_, random_()),
      phases_(loop, {.knows_node = [this] { return knowledge_.complete(); },
                     .measure = [this] { StartCollecting(); },
                     .has_measured = [this] { return advisor_.has_synced(); },
                     .act = [this] { StartActing(); }}) {}

Koordlet::~Koordlet() { Stop(); }

hooks::RuntimeHooks::Surroundings Koordlet::HookSurroundings() {
  return {.host = host_,
          .executor = executor_,
          .state = state(),
          .loop = loop_,
          .gates = options_.gates,
          .registry = internal_,
          .tools = parts_.hook_tools,
          .record_event = parts_.record_event,
          .recreate_directory = parts_.recreate_directory};
}

QosContext Koordlet::StrategyContext() {
  return {.host = host_,
          .executor = executor_,
          .state = state(),
          .metrics = metrics_,
          .info = info_,
          .clock = loop_.clock(),
          .gates = options_.gates,
          .evictor = EvictorOf(parts_),
          .auditor = parts_.auditor,
          .registry = internal_,
          .random = random_,
          .collect_interval = options_.collectors.usage_interval,
          .reconcile_interval = options_.reconcile_interval,
          .options = options_.qos,
          .node_name = options_.node_name,
          .volume_of_claim = parts_.volume_of_claim,
          .on_decision = parts_.on_decision,
          .trust_pod_authors = options_.trust.trust_pod_authors};
}

void Koordlet::Start(Task ready) { phases_.Start(std::move(ready)); }

void Koordlet::Stop() {
  if (phases_.stopped()) return;
  phases_.Stop();
  enforcement_.Stop();
  knowledge_.Stop();
  reporting_.Stop();
  advisor_.Stop();
  predictor_.SaveAll();
}

void Koordlet::StartCollecting() {
  LOG_V(1, "The node and its pods are known, starting to measure", {"node", options_.node_name});
  advisor_.Start();
  knowledge_.KeepBounds();
  reporting_.Start();
}

void Koordlet::StartActing() {
  LOG_V(1, "Usage is measured, starting to act", {"node", options_.node_name});
  predictor_.Start();
  enforcement_.Start();
}

void Koordlet::OnNode(std::shared_ptr<const kube::Node> node) {
  knowledge_.SetNode(std::move(node));
}

void Koordlet::OnNodeSlo(const std::shared_ptr<const api::NodeSlo>& slo) { knowledge_.SetSlo(slo); }

void Koordlet::OnNodeMetric(const std::shared_ptr<const api::NodeMetric>& metric) {
  reporting_.SetNodeMetric(metric);
}

void Koordlet::OnTopology(std::shared_ptr<const api::NodeResourceTopology> topology) {
  reporting_.SetTopology(std::move(topology));
}

void Koordlet::OnDevice(std::shared_ptr<const api::Device> device) {
  knowledge_.SetDevice(device);
  reporting_.SetDevice(std::move(device));
}

void Koordlet::OnPods(const PodList::Pods& pods) { knowledge_.SetPods(pods); }

void Koordlet::OnPodCgroup() { knowledge_.AskForPodsSoon(); }

void Koordlet::CollectOnce() {
  advisor_.CollectOnce();
  reporting_.topology().Update();
  knowledge_.UpdateBounds();
}

void Koordlet::EnforceOnce() { enforcement_.RunOnce(); }

}  // namespace koord::koordlet
