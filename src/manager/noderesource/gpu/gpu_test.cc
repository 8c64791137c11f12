#include "manager/noderesource/gpu/gpu.h"

#include <gtest/gtest.h>

#include "manager/noderesource/common/facts_testing.h"

namespace koord::manager::gpu_test {
namespace {

api::DeviceInfo Gpu(const char* memory, bool health = true) {
  api::DeviceInfo gpu;
  gpu.type = "gpu";
  gpu.health = health;
  gpu.resources.emplace("koordinator.sh/gpu-core", kube::Quantity(100));
  gpu.resources.emplace("koordinator.sh/gpu-memory", *kube::Quantity::Parse(memory));
  gpu.resources.emplace("koordinator.sh/gpu-memory-ratio", kube::Quantity(100));
  return gpu;
}

api::Device TwoGpus() {
  api::Device device;
  device.metadata.labels = {{"node.koordinator.sh/gpu-vendor", "nvidia"},
                            {"node.koordinator.sh/gpu-model", "A100"},
                            {"node.koordinator.sh/gpu-driver-version", "480"}};
  device.spec.devices = {Gpu("8000"), Gpu("10000")};
  return device;
}

std::string Amounts(const NodePlan& plan) {
  std::string text;
  for (const char* name : {"gpu", "gpu-core", "gpu-memory", "gpu-memory-ratio", "gpu.shared"}) {
    text += Text(plan, std::string("koordinator.sh/") + name) + " ";
  }
  for (const char* name : {"npu-core", "npu-cpu", "npu-dvpp"}) {
    text += Text(plan, std::string("huawei.com/") + name) + " ";
  }
  return text;
}

TEST(Gpu, V17) {
  api::Device device = TwoGpus();
  EXPECT_EQ(Amounts(PlanGpu(&device, true)), "200 200 18k 200 200 - - - ");
  EXPECT_EQ(PlanGpu(&device, true).labels,
            (kube::Labels{{"kubernetes.io/gpu-driver", "480"},
                          {"kubernetes.io/gpu-model", "A100"},
                          {"node.koordinator.sh/gpu-driver-version", "480"},
                          {"node.koordinator.sh/gpu-model", "A100"},
                          {"node.koordinator.sh/gpu-vendor", "nvidia"}}))
      << "under the older names too";
  device.spec.devices[1].health = false;
  EXPECT_EQ(Amounts(PlanGpu(&device, true)), "100 100 8k 100 100 - - - ");
  EXPECT_EQ(Amounts(PlanGpu(nullptr, true)), "gone gone gone gone gone gone gone gone ");
  EXPECT_TRUE(PlanGpu(nullptr, true).labels.empty()) << "they stay";
}

TEST(Gpu, WithoutTheGateSharesAreLeftAlone) {
  const api::Device device = TwoGpus();
  EXPECT_EQ(Amounts(PlanGpu(&device, false)), "200 200 18k 200 - - - - ");
}

TEST(Gpu, OtherVendorsHaveNoWholeCards) {
  api::Device device = TwoGpus();
  device.metadata.labels.Mutable()["node.koordinator.sh/gpu-vendor"] = "huawei";
  device.spec.devices[0].resources.emplace("huawei.com/npu-core", kube::Quantity(20));
  device.spec.devices[0].resources.emplace("unknown.com/thing", kube::Quantity(20));
  const NodePlan plan = PlanGpu(&device, false);
  EXPECT_EQ(Amounts(plan), "- 200 18k 200 - 20 - - ");
  EXPECT_EQ(Text(plan, "unknown.com/thing"), "-");
}

TEST(Gpu, OtherDevicesDoNotCount) {
  api::Device device;
  device.spec.devices = {Gpu("8000", false)};
  device.spec.devices.push_back({.type = "rdma", .health = true});
  EXPECT_EQ(Amounts(PlanGpu(&device, true)), "gone gone gone gone gone gone gone gone ");
}

}  // namespace
}  // namespace koord::manager::gpu_test
