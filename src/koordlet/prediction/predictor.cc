#include "koordlet/prediction/predictor.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "api/node_annotations.h"
#include "api/priority.h"
#include "base/log.h"

namespace koord::koordlet {
namespace {

constexpr std::string_view kNodeItem = "__node__";
constexpr std::string_view kSystemItem = "__node-sys__";

std::string ClassItem(api::PriorityBand band) {
  return fmt::format("__node-{}__", api::ToString(band));
}

bool IsInternal(std::string_view key) { return key.starts_with("__node") && key.ends_with("__"); }

CpuAndMemory AmountsOf(const kube::ResourceList& list) {
  return {MilliCpu(kube::AmountOf(list, kube::kCpu).MilliValue()),
          kube::AmountOf(list, kube::kMemory).Value()};
}

bool IsProdOrNone(const NodePod& pod) {
  // What the pod itself says: the class that follows from its QoS does not count here.
  const api::PriorityBand band = api::RawPriorityBand(*pod.pod);
  return band == api::PriorityBand::kProd || band == api::PriorityBand::kNone;
}

}  // namespace

Predictor::Predictor(EventLoop& loop, const NodeState& state, const MetricStore& metrics,
                     metrics::Registry& internal, metrics::Registry& external, Options options)
    : loop_(loop),
      state_(state),
      metrics_(metrics),
      options_(std::move(options)),
      shapes_{CpuHistogramShape(options_.cpu_half_life),
              MemoryHistogramShape(options_.memory_half_life)},
      start_wall_(loop.clock().Now()),
      start_steady_(loop.clock().Steady()),
      files_(options_.checkpoint_directory),
      predicted_reclaimable_(
          internal.AddGauges("koordlet_node_predicted_resource_reclaimable",
                             "Requests of production pods that are not needed at their peak.",
                             {"node", "predictor", "resource", "unit"})),
      predicted_peak_(internal.AddGauges("koordlet_node_predicted_resource_peak",
                                         "What production pods need at their peak.",
                                         {"node", "predictor", "resource", "unit"})),
      priority_reclaimable_(external.AddGauges("koordlet_node_priority_resource_reclaimable",
                                               "Requests of a priority class that others may use.",
                                               {"node", "priority", "resource", "unit"})),
      reclaimable_status_(external.AddGauges(
          "koordlet_node_resource_priority_reclaimable_status",
          "1: what is reclaimable from the class could not be predicted.", {"node", "priority"})),
      timer_(loop) {}

void Predictor::Start() {
  timer_.Set(options_.training_interval, [this] { Step(); });
  Restore();
}

void Predictor::Step() {
  timer_.Set(options_.training_interval, [this] { Step(); });
  Restore();
  if (!restored_) return;
  Train();
  DropExpired();
  WriteCheckpoints(static_cast<size_t>(std::max(options_.max_checkpoints_per_step, 0)),
                   options_.checkpoint_interval);
}

void Predictor::Restore() {
  if (restored_ || !state_.has_pods()) return;
  restored_ = true;
  if (!files_.enabled()) return;
  StringSet pods;
  for (const NodePod& pod : *state_.pods()) pods.insert(pod.uid());
  const SteadyTime now = loop_.clock().Steady();
  for (const std::string& key : files_.List()) {
    const auto text = files_.Read(key);
    auto model = text.ok() ? UsageModel::FromCheckpoint(shapes_, key, *text, Now())
                           : StatusOr<UsageModel>(text.status());
    if (model.ok() && (IsInternal(key) || pods.contains(key))) {
      items_.emplace(key, Item{std::move(*model), now, now, true});
      continue;
    }
    if (!model.ok()) {
      LOG_WARNING("Removed a broken checkpoint", {"file", key}, {"err", model.status()});
    }
    files_.Remove(key);
  }
}

std::optional<Predictor::Usage> Predictor::Measure(Metric cpu, Metric memory,
                                                   std::string_view subject) const {
  const auto cores = metrics_.Summarize({cpu, subject}, options_.training_interval);
  const auto bytes = metrics_.Summarize({memory, subject}, options_.training_interval);
  if (!cores.has_value() || !bytes.has_value()) return std::nullopt;
  return Usage{cores->p90, bytes->p90};
}

void Predictor::Train() {
  std::array<Usage, api::kPriorityBands.size()> classes{};
  Usage all;
  for (const NodePod& pod : *state_.pods()) {
    const auto usage = Measure(Metric::kPodCpu, Metric::kPodMemory, pod.uid());
    if (!usage.has_value()) continue;
    TrainItem(pod.uid(), *usage);
    for (Usage* sum : {&all, &classes[static_cast<size_t>(api::RawPriorityBand(*pod.pod))]}) {
      sum->cores += usage->cores;
      sum->bytes += usage->bytes;
    }
  }
  for (const api::PriorityBand band : api::kPriorityBands) {
    TrainItem(ClassItem(band), classes[static_cast<size_t>(band)]);
  }
  const auto node = Measure(Metric::kNodeCpu, Metric::kNodeMemory, "");
  if (!node.has_value()) return;
  TrainItem(std::string(kNodeItem), *node);
  TrainItem(std::string(kSystemItem),
            {std::max(node->cores - all.cores, 0.0), std::max(node->bytes - all.bytes, 0.0)});
}

void Predictor::TrainItem(const std::string& key, const Usage& usage) {
  const SteadyTime now = loop_.clock().Steady();
  const auto [it, is_new] = items_.try_emplace(key, Item{UsageModel(shapes_), now, now, false});
  it->second.model.Add(usage.cores, usage.bytes, Now());
  it->second.updated = now;
  it->second.is_saved = false;
}

void Predictor::DropExpired() {
  const SteadyTime now = loop_.clock().Steady();
  absl::erase_if(items_, [&](const auto& item) {
    if (now - item.second.updated < options_.model_expiration) return false;
    if (files_.enabled()) files_.Remove(item.first);
    return true;
  });
}

void Predictor::WriteCheckpoint(const std::string& key, Item& item) {
  const Status status = files_.Write(key, item.model.ToCheckpoint(key));
  item.checkpointed = loop_.clock().Steady();
  item.is_saved = status.ok();
  if (status.ok() || std::exchange(complained_, true)) return;
  LOG_WARNING("Cannot write a checkpoint", {"model", key}, {"err", status});
}

void Predictor::WriteCheckpoints(size_t limit, Duration min_age) {
  if (!files_.enabled()) return;
  const SteadyTime now = loop_.clock().Steady();
  std::vector<std::pair<SteadyTime, std::string_view>> due;
  for (const auto& [key, item] : items_) {
    if (!item.is_saved && now - item.checkpointed >= min_age) {
      due.emplace_back(item.checkpointed, key);
    }
  }
  const size_t count = std::min(limit, due.size());
  std::partial_sort(due.begin(), due.begin() + static_cast<std::ptrdiff_t>(count), due.end());
  for (size_t i = 0; i < count; ++i) {
    const std::string key(due[i].second);
    WriteCheckpoint(key, items_.find(key)->second);
  }
}

void Predictor::SaveAll() { WriteCheckpoints(items_.size(), Duration(0)); }

std::optional<CpuAndMemory> Predictor::PeakOf(std::string_view key) const {
  const auto it = items_.find(key);
  if (it == items_.end()) return std::nullopt;
  return it->second.model.Peak();
}

std::optional<PriorityPeaks> Predictor::PrioritiesOf() const {
  const auto sys = PeakOf(kSystemItem);
  const auto prod = PeakOf(ClassItem(api::PriorityBand::kProd));
  const auto none = PeakOf(ClassItem(api::PriorityBand::kNone));
  if (!sys || !prod || !none) return std::nullopt;
  return PriorityPeaks{*sys, *prod, *none};
}

std::optional<CpuAndMemory> Predictor::Allocatable() const {
  if (state_.node() == nullptr) return std::nullopt;
  const kube::Node& node = *state_.node();
  // The amounts before amplification are what the machine has; an unreadable annotation is none.
  const auto raw = api::RawAllocatableOf(node.metadata.annotations);
  if (raw.ok() && raw->has_value()) return AmountsOf(**raw);
  return AmountsOf(node.status.allocatable);
}

PredictedPod Predictor::Describe(const NodePod& pod) const {
  const kube::Pod& object = *pod.pod;
  return {.request = AmountsOf(pod.requests),
          .is_young = Now() - object.metadata.creation_timestamp <= options_.cold_start,
          .is_ending = object.metadata.deletion_timestamp.has_value() || kube::IsTerminal(object),
          .peak = PeakOf(pod.uid())};
}

ProdPrediction Predictor::Predict(std::span<const NodePod* const> pods) {
  std::vector<PredictedPod> predicted;
  for (const NodePod* pod : pods) {
    if (IsProdOrNone(*pod)) predicted.push_back(Describe(*pod));
  }
  const ProdPrediction prediction =
      PredictProd(predicted, PrioritiesOf(), Allocatable(), options_.safety_margin_percent);
  Show(prediction);
  return prediction;
}

void Predictor::ShowAmounts(metrics::Gauges& gauges, std::string_view label,
                            const std::optional<CpuAndMemory>& amounts) {
  if (!amounts.has_value()) return;
  gauges.With({options_.node_name, label, "cpu", "core"}).Set(amounts->cpu.cores());
  gauges.With({options_.node_name, label, "memory", "byte"})
      .Set(static_cast<double>(amounts->memory));
}

void Predictor::Show(const ProdPrediction& prediction) {
  ShowAmounts(predicted_reclaimable_, "podReclaimablePredictor", prediction.reclaimable_by_pods);
  ShowAmounts(predicted_reclaimable_, "priorityReclaimablePredictor",
              prediction.reclaimable_by_priority);
  ShowAmounts(predicted_reclaimable_, "minPredictor", prediction.reclaimable);
  ShowAmounts(predicted_peak_, "podReclaimablePredictor", prediction.peak_by_pods);
  ShowAmounts(predicted_peak_, "priorityReclaimablePredictor", prediction.peak_by_priority);
  ShowAmounts(predicted_peak_, "minPredictor", prediction.peak);
  const std::string_view prod = api::ToString(api::PriorityBand::kProd);
  ShowAmounts(priority_reclaimable_, prod, prediction.reclaimable);
  reclaimable_status_.With({options_.node_name, prod})
      .Set(prediction.reclaimable.has_value() ? 0 : 1);
}

size_t Predictor::bytes() const {
  size_t bytes = items_.capacity() * sizeof(std::pair<std::string, Item>);
  for (const auto& [key, item] : items_) bytes += key.capacity() + item.model.bytes();
  return bytes;
}

}  // namespace koord::koordlet
