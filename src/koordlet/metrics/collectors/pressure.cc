#include "koordlet/metrics/collectors/pressure.h"

#include <algorithm>

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
constexpr std::array<std::string_view, 2> kDegrees{"some", "full"};
constexpr std::array<std::string_view, 3> kPrecisions{"avg10", "avg60", "avg300"};

constexpr size_t IndexOf(size_t kind, size_t degree, size_t precision) {
  return (kind * kDegrees.size() + degree) * kPrecisions.size() + precision;
}

}  // namespace

PressureCollector::Series::Series(metrics::Gauges& gauges, Labels labels)
    : gauges_(gauges), labels_(labels.begin(), labels.end()) {}

PressureCollector::Series::~Series() {
  for (size_t i = 0; i < kGauges; ++i) {
    if (shown_[i] != nullptr) gauges_.Remove(LabelsOf(i));
  }
}

bool PressureCollector::Series::HasLabels(Labels labels) const {
  return std::ranges::equal(labels_, labels);
}

// Before the last one, which is of the object.
std::vector<std::string_view> PressureCollector::Series::LabelsOf(size_t index) const {
  std::vector<std::string_view> labels(labels_.begin(), labels_.end());
  const size_t of_series = labels.size() - 4;
  labels[of_series] = kKinds[index / (kDegrees.size() * kPrecisions.size())].name;
  labels[of_series + 1] = kPrecisions[index % kPrecisions.size()];
  labels[of_series + 2] = kDegrees[index / kPrecisions.size() % kDegrees.size()];
  return labels;
}

void PressureCollector::Series::Show(const Pressures& pressures) {
  const auto show = [this](size_t kind, size_t degree, const Pressure::Averages& averages) {
    const double values[] = {averages.avg10, averages.avg60, averages.avg300};
    for (size_t precision = 0; precision < kPrecisions.size(); ++precision) {
      const size_t index = IndexOf(kind, degree, precision);
      if (shown_[index] == nullptr) shown_[index] = &gauges_.With(LabelsOf(index));
      shown_[index]->Set(values[precision]);
    }
  };
  for (size_t kind = 0; kind < kKinds.size(); ++kind) {
    show(kind, 0, pressures[kind].some);
    if (pressures[kind].full.has_value()) show(kind, 1, *pressures[kind].full);
  }
}

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

void PressureCollector::Show(Pods::Entry& entry, const Pressures& pressures) {
  const std::string_view node = context_.options.node_name;
  const std::string_view full = pressures[0].full.has_value() ? "true" : "false";
  const std::string_view of_pod[] = {node, entry.ns(), entry.pod_name(), entry.pod->uid(), "", "",
                                     "",   full};
  std::array<std::string_view, 10> of_container;
  Labels labels = of_pod;
  if (entry.container != nullptr) {
    of_container = {node,
                    entry.ns(),
                    entry.pod_name(),
                    entry.full_container_id(),
                    entry.container_name(),
                    entry.pod->uid(),
                    "",
                    "",
                    "",
                    full};
    labels = of_container;
  }
  std::unique_ptr<Series>& series = entry.memory.series;
  if (series != nullptr && !series->HasLabels(labels)) series.reset();
  if (series == nullptr) {
    series =
        std::make_unique<Series>(entry.container == nullptr ? pod_psi_ : container_psi_, labels);
  }
  series->Show(pressures);
}

void PressureCollector::Collect() {
  if (!context_.state.has_pods()) return;
  has_synced_ = true;
  const CgroupDir kubepods = context_.host.cgroups().layout().QosDir(kube::PodQos::kGuaranteed);
  if (!context_.host.cgroups().IsSupported(CgroupFile::kCpuPressure, kubepods)) return;
  pods_.Follow(context_.state);
  for (Pods::Entry& entry : pods_.entries()) {
    if (const auto pressures = Read(entry)) {
      Store(entry, *pressures);
      Show(entry, *pressures);
    } else {
      entry.memory.series.reset();
    }
  }
}

}  // namespace koord::koordlet
