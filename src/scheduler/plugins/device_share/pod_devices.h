#pragma once
#include <memory>
#include <string>
#include <vector>

#include "model/device/device_allocator.h"
#include "scheduler/books/device_book.h"
#include "scheduler/config/device_share_args.h"
#include "scheduler/framework/pod_query.h"
#include "scheduler/framework/verdict.h"

namespace koord::scheduler {

// What pods of a shape ask for of devices.
struct PodDevices final : PluginState {
  // What looking at how much is left of each card decides exactly.
  enum class Quick : uint8_t {
    kNo,
    kShares,      // so much of each of so many cards
    kWholeCards,  // the same, unless the node gives cards by partitions
  };

  Verdict verdict;  // anything but success: it is none that can be given
  model::DeviceRequests requests;
  Quick quick = Quick::kNo;
  uint8_t core = 0, ratio = 0;  // of each card, where that is quick
  std::string isolation_provider;
  bool may_be_refused = false;  // by what nodes say of their cards
  ReasonHold texts;

  const model::DeviceRequest* of(model::DeviceType type) const {
    const auto& request = requests.of(type);
    return request ? &*request : nullptr;
  }
};

// Reads them. `templates` are the present ones.
class PodDevicesReader {
 public:
  PodDevicesReader(ResourceNames& names, const DeviceShareArgs& args);

  bool AsksForDevices(const PodShape& shape) const;
  // Null: pods of the shape ask for no devices.
  std::unique_ptr<PodDevices> Read(const PodShape& shape) const;

  void SetTemplates(model::GpuTemplates templates) { templates_ = std::move(templates); }

 private:
  const ResourceNames& names_;
  std::vector<uint8_t> is_device_;  // by resource
  const bool some_refuse_shares_;
  std::vector<model::DeviceResource> templated_;
  model::GpuTemplates templates_;
};

}  // namespace koord::scheduler
