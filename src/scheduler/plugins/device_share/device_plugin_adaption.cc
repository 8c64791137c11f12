#include "scheduler/plugins/device_share/device_plugin_adaption.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "api/extended_resources.h"
#include "api/keys.h"
#include "base/strings.h"
#include "kube/json.h"
#include "kube/time.h"

namespace koord::scheduler {
namespace {

using Cards = std::vector<api::DeviceAllocation>;

constexpr std::string_view kHami = "HAMi-core";
constexpr int64_t kMebibyte = int64_t{1} << 20;
constexpr int64_t kCambriconUnit = 256 * kMebibyte;

std::string MinorsOf(const Cards& cards, std::string_view prefix = "") {
  std::vector<std::string> texts;
  for (const api::DeviceAllocation& card : cards) {
    texts.push_back(fmt::format("{}{}", prefix, card.minor));
  }
  return Join(texts, ",");
}

std::string NanosecondsOf(WallTime time) {
  return std::to_string(
      std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count());
}

void Set(DevicePluginNotes& notes, std::string_view key, std::string value) {
  notes.annotations[std::string(key)] = std::move(value);
}

void AddHuawei(const Cards& cards, std::string_view model, WallTime now, DevicePluginNotes& notes) {
  Set(notes, api::kAnnotationPredicateTime, NanosecondsOf(now));
  if (model == "Ascend-310P3-300I-DUO") {
    return Set(notes, api::kAnnotationHuaweiAscend310P, MinorsOf(cards, "Ascend310P-"));
  }
  const auto& extension = cards.front().extension;
  const bool is_share = extension && !extension->gpu_shared_resource_template.empty();
  Set(notes, api::kAnnotationHuaweiNpuCore,
      is_share ? fmt::format("{}-{}", cards.front().minor, extension->gpu_shared_resource_template)
               : MinorsOf(cards));
}

// What a share is made of, checked.
struct CardShare {
  int64_t core = 0;
  int64_t memory = 0;
};
StatusOr<CardShare> CardShareOf(const api::DeviceAllocation& card, int64_t least_memory) {
  if (!card.resources.contains(api::kGpuCore)) {
    return InvalidArgument("gpu core resource is required");
  }
  const CardShare share{kube::AmountOf(card.resources, api::kGpuCore).Value(),
                        kube::AmountOf(card.resources, api::kGpuMemory).Value()};
  if (share.memory < least_memory) {
    return InvalidArgument("gpu memory must not be less than {} bytes", least_memory);
  }
  return share;
}

Status AddCambricon(const Cards& cards, DevicePluginNotes& notes) {
  if (cards.size() != 1) {
    return InvalidArgument("multiple gpu share is not supported on device side");
  }
  ASSIGN_OR_RETURN(const CardShare share, CardShareOf(cards.front(), kCambriconUnit));
  Set(notes, api::kAnnotationCambriconAssigned, "false");
  Set(notes, api::kAnnotationCambriconProfile,
      fmt::format("{}_{}_{}", cards.front().minor, share.core, share.memory / kCambriconUnit));
  notes.lock = api::kAnnotationCambriconLock;
  return {};
}

Status AddMetax(const Cards& cards, DevicePluginNotes& notes) {
  kube::json::array devices;
  for (const api::DeviceAllocation& card : cards) {
    ASSIGN_OR_RETURN(const CardShare share, CardShareOf(card, kMebibyte));
    devices.push_back(kube::json::object{
        {"uuid", card.id}, {"compute", share.core}, {"vRam", share.memory / kMebibyte}});
  }
  Set(notes, api::kAnnotationMetaxAllocated,
      kube::Serialize(kube::json::array{kube::Json(std::move(devices))}));
  notes.lock = api::kAnnotationHamiMutexLock;
  return {};
}

}  // namespace

Status AdaptionError(std::string_view vendor, std::string_view what) {
  return InvalidArgument("failed to adapt for GPU device plugin of vendor \"{}\": {}", vendor,
                         what);
}

StatusOr<DevicePluginNotes> NotesForDevicePlugin(const kube::Pod& pod, const std::string& node,
                                                 const api::DeviceAllocations& allocations,
                                                 std::string_view vendor, std::string_view model,
                                                 WallTime now) {
  DevicePluginNotes notes;
  Set(notes, api::kAnnotationBindTimestamp, NanosecondsOf(now));
  const auto cards = allocations.find(api::kDeviceGpu);
  if (cards == allocations.end() || cards->second.empty()) return notes;
  Set(notes, api::kAnnotationGpuMinors, MinorsOf(cards->second));
  if (kube::ValueOf(pod.metadata.labels, api::kLabelGpuIsolationProvider) == kHami) {
    notes.labels[std::string(api::kLabelHamiVgpuNode)] = node;
  }
  Status added;
  if (vendor == "huawei") AddHuawei(cards->second, model, now, notes);
  if (vendor == "cambricon") added = AddCambricon(cards->second, notes);
  if (vendor == "metax") added = AddMetax(cards->second, notes);
  if (!added.ok()) return AdaptionError(vendor, Message(added));
  return notes;
}

std::string ToString(const NodeLock& lock) {
  return fmt::format("{},{},{}", kube::FormatTime(lock.at), lock.ns, lock.pod);
}

StatusOr<NodeLock> ParseNodeLock(std::string_view text) {
  const std::vector<std::string_view> parts = Split(text, ',');
  const auto at = parts.size() == 3 ? kube::ParseTime(parts[0]) : std::nullopt;
  if (!at) return InvalidArgument("failed to lock node: invalid node lock value \"{}\"", text);
  return NodeLock{*at, std::string(parts[1]), std::string(parts[2])};
}

}  // namespace koord::scheduler
