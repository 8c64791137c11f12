#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "api/qos.h"
#include "base/status.h"
#include "kube/objects/pod.h"

namespace koord::api {

// What a pod's resources are paid from. Kubernetes' priorities are cut into bands; a pod outside of
// all of them, or without a priority, is in none.
enum class PriorityBand : uint8_t { kNone, kProd, kMid, kBatch, kFree };

// In the order of lists and metrics.
inline constexpr std::array kPriorityBands{PriorityBand::kProd, PriorityBand::kMid,
                                           PriorityBand::kBatch, PriorityBand::kFree,
                                           PriorityBand::kNone};

std::string_view ToString(PriorityBand band);           // "koord-prod", ...; "" for none
PriorityBand ParsePriorityBand(std::string_view text);  // none if it is nothing else
PriorityBand BandOfPriority(int32_t priority);
int32_t DefaultPriority(PriorityBand band);  // 9500, 7500, 5500, 3500; 0 for none

// What the label says if there is one (an unknown name is none), or what spec.priority says.
PriorityBand RawPriorityBand(const kube::Pod& pod);
// The same, or what follows from the QoS class where that is none.
PriorityBand PriorityBandOf(const kube::Pod& pod);
// spec.priority where it is set and not zero, or its band's default.
int32_t PriorityValueOf(const kube::Pod& pod);

// Orders pods inside one band, higher is more important; 0 where the label is absent or empty.
// Understands 0x10, 010, 0b1 and 1_000.
StatusOr<int32_t> SubPriority(const kube::Labels& pod_labels);

// Never or PreemptLowerPriority, as the label says; "" where it says anything else.
std::string_view PreemptionPolicyOf(const kube::Labels& pod_labels);

// Whether admission lets a pod have both (raw) classes. Best effort must be paid from mid, batch or
// free, reserved CPUs from prod; everything else is allowed.
bool MayCombine(QosClass qos, PriorityBand band);

}  // namespace koord::api
