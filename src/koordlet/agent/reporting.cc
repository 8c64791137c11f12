#include "koordlet/agent/reporting.h"

#include <utility>

#include "koordlet/reporters/node_metric_report.h"

namespace koord::koordlet {
namespace {

PredictedUsage ToUsage(const ProdPrediction& prediction) {
  PredictedUsage usage;
  if (prediction.reclaimable) {
    usage.reclaimable = ResourcesOf(prediction.reclaimable->cpu, prediction.reclaimable->memory);
  }
  if (prediction.peak) {
    usage.peak = ResourcesOf(prediction.peak->cpu, prediction.peak->memory);
  }
  return usage;
}

}  // namespace

Reporting::Reporting(EventLoop& loop, kube::Client& client, const Sources& sources,
                     const KoordletOptions& options, uint64_t seed)
    : clock_(loop.clock()),
      sources_(sources),
      options_(options),
      metric_(
          loop, client, options.node_name,
          [this](const NodeMetricPolicy& policy) { return BuildNodeMetric(policy); }, seed),
      topology_(loop, client, options.node_name, sources.state, sources.info,
                sources.host.kubelet(), sources.kubelet,
                {.interval = options.topology_interval,
                 .report = options.gates.Enabled("NodeTopologyReport"),
                 .report_huge_pages = options.gates.Enabled("HugePageReport"),
                 .ask_kubelet = options.ask_kubelet_config}),
      device_(loop, client, options.node_name, sources.state, sources.info, sources.host.sys(),
              sources.xpu_files,
              {.interval = options.topology_interval,
               .gpus = options.gates.Enabled("Accelerators"),
               .rdma = options.gates.Enabled("RDMADevices"),
               .only_files = options.only_xpu_files}) {}

void Reporting::SetNodeMetric(const std::shared_ptr<const api::NodeMetric>& metric) {
  metric_.SetObject(metric);
}

void Reporting::SetTopology(std::shared_ptr<const api::NodeResourceTopology> topology) {
  topology_.SetObject(std::move(topology));
}

void Reporting::SetDevice(std::shared_ptr<const api::Device> device) {
  device_.SetObject(std::move(device));
}

void Reporting::Start() {
  topology_.Start();
  if (options_.gates.Enabled("Accelerators") || options_.gates.Enabled("RDMADevices")) {
    device_.Start();
  }
  if (options_.report_node_metric) metric_.Start();
}

void Reporting::Stop() {
  metric_.Stop();
  topology_.Stop();
  device_.Stop();
}

api::NodeMetricStatus Reporting::BuildNodeMetric(const NodeMetricPolicy& policy) {
  return BuildNodeMetricStatus({.policy = policy,
                                .metrics = sources_.metrics,
                                .info = sources_.info,
                                .pods = *sources_.state.pods(),
                                .slo = sources_.state.slo().get(),
                                .predict =
                                    [this](std::span<const NodePod* const> pods) {
                                      return ToUsage(sources_.predictor.Predict(pods));
                                    },
                                .has_cold_pages = options_.gates.Enabled("ColdPageCollector"),
                                .now = clock_.Now()});
}

}  // namespace koord::koordlet
