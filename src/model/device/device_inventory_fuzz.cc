#include <set>

#include "base/fuzz.h"
#include "kube/json.h"
#include "model/device/device_allocator.h"

// Whatever a Device object says, only devices that it lists are given, healthy ones, each once, and
// no more of them than there is.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace koord;
  using namespace koord::model;
  const auto json = kube::ParseJson(FuzzText(data, size));
  if (!json.ok()) return 0;
  const auto object = kube::Decode<api::Device>(*json);
  if (!object.ok()) return 0;
  NodeDevices devices;
  devices.SetInventory(std::make_shared<const DeviceInventory>(InventoryOf(*object)));
  const GpuNode node{.vendor = "", .model = "H800"};
  for (const int64_t percent : {30, 100, 200, 400}) {
    const kube::ResourceList asked{{"koordinator.sh/gpu", kube::Quantity(percent)},
                                   {"koordinator.sh/rdma", kube::Quantity(1)}};
    for (const char* scope : {"", "SamePCIe"}) {
      const kube::Annotations said{
          {"scheduling.koordinator.sh/device-joint-allocate",
           std::string(R"({"deviceTypes":["gpu","rdma"],"requiredScope":")") + scope + "\"}"},
          {"scheduling.koordinator.sh/device-allocate-hint", R"({"rdma":{"vfSelector":{}}})"}};
      const auto requests = DeviceRequestsOf(asked, said, {});
      FUZZ_ASSERT(requests.ok());
      const DeviceResult result = AllocateDevices(
          {.requests = *requests, .devices = devices, .node = node, .for_real = true});
      std::set<std::pair<DeviceType, int32_t>> given;
      for (const DeviceGrant& grant : result.grants) {
        const DeviceCard* const card = devices.Find(grant.type, grant.minor);
        FUZZ_ASSERT(card != nullptr && card->device != nullptr && !card->total().IsZero());
        FUZZ_ASSERT(grant.amounts.FitsIn(card->free));
        FUZZ_ASSERT(given.emplace(grant.type, grant.minor).second);
      }
      FUZZ_ASSERT(result.ok() != result.grants.empty());
    }
  }
  return 0;
}
