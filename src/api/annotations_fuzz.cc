#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "api/annotation_codec.h"
#include "api/cpu_annotations.h"
#include "api/descheduler_annotations.h"
#include "api/device_annotations.h"
#include "api/gang.h"
#include "api/keys.h"
#include "api/koordlet_annotations.h"
#include "api/node_annotations.h"
#include "api/pod_annotations.h"
#include "api/priority.h"
#include "api/reservation_annotations.h"

// Anybody who can annotate an object chooses these texts. No reader may crash on one, and what we
// write must be read back the same.
namespace koord::api {
namespace {

kube::Annotations With(std::string_view key, std::string_view text) {
  return {{std::string(key), std::string(text)}};
}

void ReadSingleValues(std::string_view text) {
  (void)SubPriority(With(kLabelPriority, text));
  (void)EvictionCostOf(With(kAnnotationEvictionCost, text));
  (void)RatioPercentOf(With(kLabelCpuReclaimRatio, text), kLabelCpuReclaimRatio);
  (void)CpuNormalizationRatioOf(With(kAnnotationCpuNormalizationRatio, text));
  (void)NetworkBandwidthOf(With(kAnnotationNetworkBandwidth, text));
  (void)OomScoreAdjOf(With(kAnnotationOomScoreAdj, text), "c");
  kube::ResourceList resources{{"cpu", kube::Quantity(1)}};
  Apply(ParseReplaceResources(text), resources);
}

void ReadPayloads(std::string_view text) {
  (void)ReservationAffinityOf(With(kAnnotationReservationAffinity, text));
  (void)NetworkLimitsOf(With(kAnnotationNetworkQos, text));
  (void)GpuPartitionsOf(With(kAnnotationGpuPartitions, text));
  (void)UsageThresholdsOf(With(kAnnotationUsageThresholds, text));
  (void)MemoryQosOf(With(kAnnotationMemoryQos, text));
  if (const auto reservation = NodeReservationOf(With(kAnnotationNodeReservation, text));
      reservation.ok() && *reservation) {
    (void)ReservedCpuCount(**reservation);
  }
}

void CheckRoundTrip(std::string_view text) {
  const auto first = DeviceAllocationsOf(With(kAnnotationDeviceAllocated, text));
  if (!first.ok() || !*first) return;
  const std::string written = EncodeDeviceAllocations(**first);
  const auto second = DeviceAllocationsOf(With(kAnnotationDeviceAllocated, written));
  if (!second.ok() || *second != *first) std::abort();
  if (EncodeDeviceAllocations(**second) != written) std::abort();
}

}  // namespace
}  // namespace koord::api

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  koord::api::ReadSingleValues(text);
  koord::api::ReadPayloads(text);
  koord::api::CheckRoundTrip(text);
  return 0;
}
