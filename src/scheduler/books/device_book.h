#pragma once
#include <array>
#include <memory>
#include <span>
#include <vector>

#include "api/device.h"
#include "model/device/node_devices.h"
#include "scheduler/cluster/ledger.h"
#include "scheduler/cluster/object_cache.h"

namespace koord::scheduler {

// Device resources as the ledger numbers them. The names stay.
class DeviceResourceIds {
 public:
  explicit DeviceResourceIds(ResourceNames& names);

  ResourceId IdOf(model::DeviceResource resource) const {
    return ids_[static_cast<size_t>(resource)];
  }
  // Others are left out.
  model::DeviceAmounts In(const ResourceAmounts& amounts) const;
  ResourceAmounts From(const model::DeviceAmounts& amounts) const;

 private:
  std::array<ResourceId, model::kDeviceResources> ids_{};
};

// The devices of each node, and which shares of them its pods hold: facts as the ledger and the
// Device objects have them. What pods hold is kept whatever is known of their node's devices at the
// time, so that no device is given twice when its object comes late, vanishes or comes back.
//
// Once its object is gone a node has devices that do not work, until the node is gone as well: what
// pods ask for is not left to others because of that.
//
// Of what a reservation holds, a device is charged the larger of that and of what its owners use of
// it there: the view of a stranger.
class DeviceBook final : private LedgerListener {
 public:
  // What is left of the cards of a node, in a form that is quick to look through.
  struct FreeCards {
    static constexpr size_t kMost = 8;

    bool is_complete = false;  // no more than kMost cards, and of each it is known how much is left
    bool honors_partitions = false;  // the Device object does
    uint8_t cards = 0;
    std::array<uint8_t, kMost> core{};  // percent; 0 of cards that cannot be given
    std::array<uint8_t, kMost> ratio{};
  };

  // `devices` are watched only if somebody needs them.
  DeviceBook(Ledger& ledger, ObjectCache<api::Device>& devices);
  DeviceBook(const DeviceBook&) = delete;
  DeviceBook& operator=(const DeviceBook&) = delete;

  const model::NodeDevices& row(NodeRow row) const { return rows_[row].devices; }
  // The same with pods removed and added.
  model::NodeDevices With(NodeRow row, std::span<const PodInfo* const> removed,
                          std::span<const PodInfo* const> added) const;
  // What is left to owners of a reservation of the devices that it holds. In order of minors.
  struct Left {
    model::DeviceType type;
    int32_t minor;
    model::DeviceAmounts amounts;
  };
  // Pods in `gone` count as gone.
  std::vector<Left> LeftOf(const PodInfo& reserve_pod, std::span<const PodInfo* const> gone) const;

  // Columns by row, of the devices whose type the resource belongs to.
  const int64_t* totals(model::DeviceResource resource) const {
    return totals_[static_cast<size_t>(resource)].data();
  }
  const int64_t* used(model::DeviceResource resource) const {
    return used_[static_cast<size_t>(resource)].data();
  }
  const FreeCards* free_cards() const { return free_cards_.data(); }

  // Pods that hold devices of a row.
  std::span<const PodInfo* const> holders(NodeRow row) const { return rows_[row].holders; }
  const DeviceResourceIds& ids() const { return ids_; }
  static bool HoldsDevices(const PodInfo* pod) {
    return pod->held != nullptr && !pod->held->devices.empty();
  }

 private:
  struct Row {
    model::NodeDevices devices;
    std::vector<const PodInfo*> holders;
  };

  void OnNodeAdded(NodeRow row) override;
  void OnNodeRemoved(NodeRow row) override;
  void OnPodAdded(const PodInfo& pod) override;
  void OnPodRemoved(const PodInfo& pod) override;
  void OnDevice(const std::shared_ptr<const api::Device>& before,
                const std::shared_ptr<const api::Device>& after);
  void SetDevice(NodeRow row, const api::Device* object);
  void GrowTo(size_t rows);
  // Books one pod that has nothing to do with reservations.
  void Book(model::NodeDevices& devices, const PodInfo& pod, int sign) const;
  // Books all of them, with what reservations and their owners share counted once.
  void BookAll(model::NodeDevices& devices, std::span<const PodInfo* const> pods) const;
  void Count(NodeRow row);

  Ledger& ledger_;
  const ObjectCache<api::Device>& objects_;
  const DeviceResourceIds ids_;
  model::DeviceInventoryReader reader_;
  std::vector<Row> rows_;
  std::array<std::vector<int64_t>, model::kDeviceResources> totals_, used_;
  std::vector<FreeCards> free_cards_;
};

}  // namespace koord::scheduler
