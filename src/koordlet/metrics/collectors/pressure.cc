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

void PressureCollector::Show(const Pods::Entry& entry, const Pressures& pressures) {
  const std::string_view node = context_.options.node_name;
  const std::string_view full_supported = pressures[0].full.has_value() ? "true" : "false";
  for (size_t i = 0; i < kKinds.size(); ++i) {
    const auto show = [&](std::string_view degree, const Pressure::Averages& averages) {
      const std::pair<std::string_view, double> values[] = {
          {"avg10", averages.avg10}, {"avg60", averages.avg60}, {"avg300", averages.avg300}};
      for (const auto& [precision, value] : values) {
        metrics::Gauge& gauge =
            entry.container == nullptr
                ? pod_psi_.With({node, entry.ns(), entry.pod_name(), entry.pod->uid(),
                                 kKinds[i].name, precision, degree, full_supported})
                : container_psi_.With({node, entry.ns(), entry.pod_name(),
                                       entry.full_container_id(), entry.container_name(),
                                       entry.pod->uid(), kKinds[i].name, precision, degree,
                                       full_supported});
        gauge.Set(value);
      }
    };
    show("some", pressures[i].some);
    if (pressures[i].full.has_value()) show("full", *pressures[i].full);
  }
}

void PressureCollector::Collect() {
  if (!context_.state.has_pods()) return;
  has_synced_ = true;
  const std::string kubepods = context_.host.cgroups().layout().QosDir(kube::PodQos::kGuaranteed);
  if (!context_.host.cgroups().IsSupported(CgroupFile::kCpuPressure, kubepods)) return;
  pods_.Follow(context_.state);
  pod_psi_.Clear();
  container_psi_.Clear();
  for (Pods::Entry& entry : pods_.entries()) {
    const auto pressures = Read(entry);
    if (!pressures.has_value()) continue;
    Store(entry, *pressures);
    Show(entry, *pressures);
  }
}

}  // namespace koord::koordlet
