#include "manager/noderesource/rdma/rdma.h"

#include <gtest/gtest.h>

#include "manager/noderesource/common/facts_testing.h"

namespace koord::manager::rdma_test {
namespace {

TEST(Rdma, AHundredForEachHealthyDevice) {
  const auto published = [](const api::Device* device) {
    return Text(PlanRdma(device), "koordinator.sh/rdma");
  };
  EXPECT_EQ(published(nullptr), "gone");
  api::Device device;
  EXPECT_EQ(published(&device), "gone");
  device.spec.devices.resize(4);
  for (api::DeviceInfo& each : device.spec.devices) {
    each.type = "rdma";
    each.health = true;
  }
  device.spec.devices[0].health = false;
  device.spec.devices[1].type = "gpu";
  EXPECT_EQ(published(&device), "200");
}

}  // namespace
}  // namespace koord::manager::rdma_test
