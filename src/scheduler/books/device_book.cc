#include "scheduler/books/device_book.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "model/device/resource_type.h"

namespace koord::scheduler {
namespace {

using model::DeviceAmounts;
using model::DeviceResource;
using model::DeviceType;
using model::NodeDevices;
using enum model::DeviceResource;

void BookFunctions(NodeDevices& devices, DeviceType type, const Holdings::Device& held, int sign) {
  for (const api::VirtualFunction& vf : held.vfs) {
    if (sign > 0) {
      devices.UseFunction(type, held.minor, vf.bus_id);
    } else {
      devices.ReleaseFunction(type, held.minor, vf.bus_id);
    }
  }
}

// The reservation that a pod holds or draws from; null: none.
const std::string* ReservationOf(const PodInfo& pod) {
  if (pod.held->reserves) return &pod.held->reserves->uid;
  return pod.held->draws_from ? &pod.held->draws_from->uid : nullptr;
}

}  // namespace

DeviceResourceIds::DeviceResourceIds(ResourceNames& names) {
  for (size_t i = 0; i < model::kDeviceResources; ++i) {
    ids_[i] = names.Intern(ToString(static_cast<DeviceResource>(i)));
  }
}

DeviceAmounts DeviceResourceIds::In(const ResourceAmounts& amounts) const {
  DeviceAmounts found;
  for (const ResourceAmount& each : amounts) {
    const auto at = std::ranges::find(ids_, each.id);
    if (at != ids_.end()) found.Set(static_cast<DeviceResource>(at - ids_.begin()), each.amount);
  }
  return found;
}

ResourceAmounts DeviceResourceIds::From(const DeviceAmounts& amounts) const {
  ResourceAmounts found;
  amounts.ForEach([&](DeviceResource resource, int64_t amount) {
    if (amount != 0) found.push_back({IdOf(resource), amount});
  });
  std::ranges::sort(found, {}, &ResourceAmount::id);
  return found;
}

DeviceBook::DeviceBook(Ledger& ledger, ObjectCache<api::Device>& devices)
    : ledger_(ledger), objects_(devices), ids_(ledger.resources()) {
  ledger.AddListener(*this);
  devices.AddWatcher([this](const auto& before, const auto& after) { OnDevice(before, after); });
}

void DeviceBook::Book(NodeDevices& devices, const PodInfo& pod, int sign) const {
  for (const Holdings::Device& held : pod.held->devices) {
    const auto type = model::ParseDeviceType(held.type);
    if (!type) continue;
    devices.Use(*type, held.minor, ids_.In(held.amounts), sign);
    BookFunctions(devices, *type, held, sign);
  }
}

void DeviceBook::BookAll(NodeDevices& devices, std::span<const PodInfo* const> pods) const {
  struct Shared {
    DeviceAmounts reserved, used;
  };
  std::map<std::tuple<std::string_view, DeviceType, int32_t>, Shared> shared;
  for (const PodInfo* pod : pods) {
    const std::string* const reservation = ReservationOf(*pod);
    if (reservation == nullptr) {
      Book(devices, *pod, 1);
      continue;
    }
    for (const Holdings::Device& held : pod->held->devices) {
      const auto type = model::ParseDeviceType(held.type);
      if (!type) continue;
      Shared& into = shared[{*reservation, *type, held.minor}];
      (pod->held->reserves ? into.reserved : into.used).Add(ids_.In(held.amounts));
      BookFunctions(devices, *type, held, 1);
    }
  }
  for (const auto& [where, each] : shared) {
    const auto& [uid, type, minor] = where;
    devices.Use(type, minor, each.reserved.AtLeast(each.used), 1);
  }
}

NodeDevices DeviceBook::With(NodeRow row, std::span<const PodInfo* const> removed,
                             std::span<const PodInfo* const> added) const {
  NodeDevices changed = rows_[row].devices;
  changed.ReleaseAll();
  std::vector<const PodInfo*> pods = rows_[row].holders;
  std::erase_if(
      pods, [&](const PodInfo* pod) { return std::ranges::find(removed, pod) != removed.end(); });
  std::ranges::copy_if(added, std::back_inserter(pods), HoldsDevices);
  BookAll(changed, pods);
  return changed;
}

std::vector<DeviceBook::Left> DeviceBook::LeftOf(const PodInfo& reserve_pod,
                                                 std::span<const PodInfo* const> gone) const {
  std::vector<Left> left;
  for (const Holdings::Device& held : reserve_pod.held->devices) {
    if (const auto type = model::ParseDeviceType(held.type)) {
      left.push_back({*type, held.minor, ids_.In(held.amounts)});
    }
  }
  const std::string& uid = reserve_pod.held->reserves->uid;
  for (const PodInfo* pod : rows_[reserve_pod.row].holders) {
    if (!pod->held->draws_from || pod->held->draws_from->uid != uid) continue;
    if (std::ranges::find(gone, pod) != gone.end()) continue;
    for (const Holdings::Device& held : pod->held->devices) {
      const auto type = model::ParseDeviceType(held.type);
      for (Left& each : left) {
        if (type == each.type && held.minor == each.minor) {
          each.amounts = each.amounts.Less(ids_.In(held.amounts));
        }
      }
    }
  }
  return left;
}

void DeviceBook::GrowTo(size_t rows) {
  if (rows <= rows_.size()) return;
  rows_.resize(rows);
  free_cards_.resize(rows);
  for (size_t i = 0; i < model::kDeviceResources; ++i) {
    totals_[i].resize(rows);
    used_[i].resize(rows);
  }
}

void DeviceBook::Count(NodeRow at) {
  const NodeDevices& devices = rows_[at].devices;
  for (size_t i = 0; i < model::kDeviceResources; ++i) {
    const auto resource = static_cast<DeviceResource>(i);
    int64_t total = 0, free = 0;
    for (const model::DeviceCard& card : devices.of(TypeOf(resource))) {
      total += card.total().Get(resource);
      free += card.free.Get(resource);
    }
    totals_[i][at] = total;
    used_[i][at] = std::max<int64_t>(0, total - free);
  }
  FreeCards cards;
  const std::vector<model::DeviceCard>& list = devices.of(DeviceType::kGpu);
  cards.is_complete = devices.inventory() != nullptr && list.size() <= FreeCards::kMost;
  cards.honors_partitions =
      devices.inventory() != nullptr && devices.inventory()->honors_partitions;
  for (const model::DeviceCard& card : list) {
    if (!cards.is_complete) break;
    if (card.total().IsZero()) continue;
    const int64_t core = card.free.Get(kGpuCore), ratio = card.free.Get(kGpuMemoryRatio);
    cards.is_complete = card.total().Has(kGpuCore) && card.total().Has(kGpuMemoryRatio) &&
                        core <= UINT8_MAX && ratio <= UINT8_MAX;
    cards.core[cards.cards] = static_cast<uint8_t>(core);
    cards.ratio[cards.cards] = static_cast<uint8_t>(ratio);
    ++cards.cards;
  }
  free_cards_[at] = cards;
}

void DeviceBook::OnNodeAdded(NodeRow row) {
  GrowTo(ledger_.nodes().rows());
  SetDevice(row, objects_.Find(ledger_.nodes().name(row)));
}

void DeviceBook::OnNodeRemoved(NodeRow row) { SetDevice(row, nullptr); }

void DeviceBook::OnDevice(const std::shared_ptr<const api::Device>& before,
                          const std::shared_ptr<const api::Device>& after) {
  const auto row = ledger_.nodes().Find((after ? after : before)->metadata.name);
  if (!row || !ledger_.nodes().IsLive(*row)) return;
  if (after != nullptr) {
    SetDevice(*row, after.get());
  } else {
    // The devices are known still; nobody says that they work.
    api::Device gone = *before;
    for (api::DeviceInfo& device : gone.spec.devices) device.health = false;
    SetDevice(*row, &gone);
  }
  ledger_.nodes().Touch(*row);
}

void DeviceBook::SetDevice(NodeRow row, const api::Device* object) {
  rows_[row].devices.SetInventory(object == nullptr ? nullptr : reader_.Read(*object));
  Count(row);
}

void DeviceBook::OnPodAdded(const PodInfo& pod) {
  if (!HoldsDevices(&pod)) return;
  GrowTo(ledger_.nodes().rows());
  Row& row = rows_[pod.row];
  row.holders.push_back(&pod);
  if (ReservationOf(pod) == nullptr) {
    Book(row.devices, pod, 1);
  } else {
    row.devices.ReleaseAll();
    BookAll(row.devices, row.holders);
  }
  Count(pod.row);
}

void DeviceBook::OnPodRemoved(const PodInfo& pod) {
  if (!HoldsDevices(&pod)) return;
  Row& row = rows_[pod.row];
  std::erase(row.holders, &pod);
  if (ReservationOf(pod) == nullptr) {
    Book(row.devices, pod, -1);
  } else {
    row.devices.ReleaseAll();
    BookAll(row.devices, row.holders);
  }
  Count(pod.row);
}

}  // namespace koord::scheduler
