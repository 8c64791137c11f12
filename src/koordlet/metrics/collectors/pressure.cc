#include "koordlet/metrics/collectors/pressure.h"

#include <utility>

namespace koord::koordlet {
namespace {

struct Kind {
  CgroupFile file;
  std::string_view name;
  std::string_view some;  // details of series
  std::string_view full;
};
constexpr std::array<Kind, 3> kKinds{{
    {CgroupFile::kCpuPressure, "cpu", "cpu/some", "cpu/full"},
    {CgroupFile::kMemoryPressure, "mem", "mem/some", "mem/full"},
    {CgroupFile::kIoPressure, "io", "io/some", "io/full"},
}};

}  // namespace

PressureCollector::PressureCollector(CollectorContext context)
    : Collector(context),
      pod_psi_(context.external.AddGauges(
          "koordlet_pod_psi", "Percentage of time in which tasks of the pod waited.",
          {"node", "pod_namespace", "pod_name", "pod_uid", "psi_resource_type", "psi_precision",
           "psi_degree", "cpu_full_supported"})),
      container_psi_(context.external.AddGauges(
          "koordlet_container_psi", "Percentage of time in which tasks of the container waited.",
          {"node", "pod_namespace", "pod_name", "container_id", "container_name", "pod_uid",
           "psi_resource_type", "psi_precision", "psi_degree", "cpu_full_supported"})) {}

std::optional<PressureCollector::Pressures> PressureCollector::Read(Pods::Entry& entry) {
  Pressures pressures;
  for (size_t i = 0; i < kKinds.size(); ++i) {
    const auto text =
        entry.memory.files[i].Read(context_.host.cgroups(), kKinds[i].file, entry.dir(), buffer_);
    auto pressure = text.ok() ? ParsePressure(*text) : StatusOr<Pressure>(text.status());
    if (!pressure.ok()) {
      Complain(entry.dir(), pressure.status());
      return std::nullopt;
    }
    pressures[i] = *pressure;
  }
  return pressures;
}

void PressureCollector::Store(const Pods::Entry& entry, const Pressures& pressures) {
  const Metric metric =
      entry.container == nullptr ? Metric::kPodPressure : Metric::kContainerPressure;
  for (size_t i = 0; i < kKinds.size(); ++i) {
    const Pressure& pressure = pressures[i];
    context_.store.Append({metric, entry.subject(), kKinds[i].some}, pressure.some.avg10);
    context_.store.Append({metric, entry.subject(), kKinds[i].full},
                          pressure.full.has_value() ? pressure.full->avg10 : 0);
  }
}

metrics::Gauge& PressureCollector::GaugeOf(const Pods::Entry& entry, std::string_view kind,
                                           std::string_view precision, std::string_view degree) {
  const std::string_view node = context_.options.node_name;
  const std::string_view full = entry.memory.full_supported ? "true" : "false";
  if (entry.container == nullptr) {
    return pod_psi_.With(
        {node, entry.ns(), entry.pod_name(), entry.pod->uid(), kind, precision, degree, full});
  }
  return container_psi_.With({node, entry.ns(), entry.pod_name(), entry.full_container_id(),
                              entry.container_name(), entry.pod->uid(), kind, precision, degree,
                              full});
}

void PressureCollector::Show(Pods::Entry& entry, const Pressures& pressures) {
  entry.memory.full_supported = pressures[0].full.has_value();
  auto gauge = entry.memory.gauges.begin();
  for (size_t i = 0; i < kKinds.size(); ++i) {
    const auto show = [&](std::string_view degree, const Pressure::Averages& averages) {
      const std::pair<std::string_view, double> values[] = {
          {"avg10", averages.avg10}, {"avg60", averages.avg60}, {"avg300", averages.avg300}};
      for (const auto& [precision, value] : values) {
        if (*gauge == nullptr) *gauge = &GaugeOf(entry, kKinds[i].name, precision, degree);
        (*gauge++)->Set(value);
      }
    };
    show("some", pressures[i].some);
    if (pressures[i].full.has_value()) {
      show("full", *pressures[i].full);
    } else {
      gauge += 3;
    }
  }
}

// Thousands of series are looked up once, and made anew only when pods or what is known of them
// have changed.
void PressureCollector::ForgetGauges() {
  pod_psi_.Clear();
  container_psi_.Clear();
  for (Pods::Entry& entry : pods_.entries()) entry.memory.gauges.fill(nullptr);
}

void PressureCollector::Collect() {
  if (!context_.state.has_pods()) return;
  has_synced_ = true;
  const std::string kubepods = context_.host.cgroups().layout().QosDir(kube::PodQos::kGuaranteed);
  if (!context_.host.cgroups().IsSupported(CgroupFile::kCpuPressure, kubepods)) return;
  bool stale = pods_.Follow(context_.state);
  readings_.clear();
  for (Pods::Entry& entry : pods_.entries()) {
    const auto& reading = readings_.emplace_back(Read(entry));
    if (reading.has_value()) Store(entry, *reading);
    const bool full_supported = reading.has_value() && (*reading)[0].full.has_value();
    const bool shown = entry.memory.gauges[0] != nullptr;
    stale |= shown && (!reading.has_value() || full_supported != entry.memory.full_supported);
  }
  if (stale) ForgetGauges();
  for (size_t i = 0; i < readings_.size(); ++i) {
    if (readings_[i].has_value()) Show(pods_.entries()[i], *readings_[i]);
  }
}

}  // namespace koord::koordlet
