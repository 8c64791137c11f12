#include "model/device/device_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/device/device_testing.h"

namespace koord::model::device_request_test {
namespace {

using enum DeviceResource;
using Amounts = std::vector<std::pair<std::string_view, std::string_view>>;

StatusOr<DeviceRequests> Read(const Amounts& amounts, kube::Annotations annotations = {}) {
  return DeviceRequestsOf(Resources(amounts), annotations, {});
}

std::string ErrorOf(const Amounts& amounts, kube::Annotations annotations = {}) {
  const auto read = Read(amounts, std::move(annotations));
  return read.ok() ? "" : std::string(Message(read.status()));
}

struct Normalised {
  std::string_view name;
  Amounts asked;
  int64_t count;
  Amounts per_card;
  bool is_shared;
};

class Normalisation : public ::testing::TestWithParam<Normalised> {};

TEST_P(Normalisation, Vector19) {
  const auto read = Read(GetParam().asked);
  ASSERT_TRUE(read.ok()) << read.status();
  const DeviceRequest& cards = *read->of(DeviceType::kGpu);
  EXPECT_EQ(cards.count, GetParam().count);
  EXPECT_EQ(cards.per_device, DeviceAmountsIn(Resources(GetParam().per_card)));
  EXPECT_EQ(read->is_shared, GetParam().is_shared);
}

constexpr std::string_view kCore = "koordinator.sh/gpu-core",
                           kRatio = "koordinator.sh/gpu-memory-ratio",
                           kMemory = "koordinator.sh/gpu-memory",
                           kShared = "koordinator.sh/gpu.shared", kGpu = "koordinator.sh/gpu",
                           kNpu = "huawei.com/npu-core", kNpuCpuName = "huawei.com/npu-cpu",
                           kDvpp = "huawei.com/npu-dvpp";

INSTANTIATE_TEST_SUITE_P(
    Requests, Normalisation,
    ::testing::Values(
        Normalised{
            "nvidia", {{"nvidia.com/gpu", "2"}}, 2, {{kCore, "100"}, {kRatio, "100"}}, false},
        Normalised{"amd", {{"amd.com/gpu", "1"}}, 1, {{kCore, "100"}, {kRatio, "100"}}, false},
        Normalised{"half", {{kGpu, "50"}}, 1, {{kCore, "50"}, {kRatio, "50"}}, true},
        Normalised{"two_by_percent", {{kGpu, "200"}}, 2, {{kCore, "100"}, {kRatio, "100"}}, false},
        Normalised{"two_halves",
                   {{kShared, "2"}, {kCore, "100"}, {kRatio, "100"}},
                   2,
                   {{kCore, "50"}, {kRatio, "50"}},
                   true},
        Normalised{"by_memory",
                   {{kCore, "100"}, {kMemory, "1Ki"}},
                   1,
                   {{kCore, "100"}, {kMemory, "1Ki"}},
                   true},
        Normalised{"memory_alone", {{kMemory, "8Gi"}}, 1, {{kMemory, "8Gi"}}, true},
        Normalised{
            "memory_of_two", {{kShared, "2"}, {kMemory, "8Gi"}}, 2, {{kMemory, "4Gi"}}, true},
        Normalised{"ratio_alone", {{kRatio, "30"}}, 1, {{kRatio, "30"}}, true},
        Normalised{
            "npu", {{kNpu, "16"}, {kRatio, "200"}}, 2, {{kNpu, "8"}, {kRatio, "100"}}, false},
        Normalised{
            "vnpu",
            {{kShared, "1"}, {kNpu, "4"}, {kNpuCpuName, "3"}, {kMemory, "8Gi"}, {kDvpp, "50"}},
            1,
            {{kNpu, "4"}, {kNpuCpuName, "3"}, {kMemory, "8Gi"}, {kDvpp, "50"}},
            true}),
    [](const auto& each) { return std::string(each.param.name); });

TEST(DeviceRequest, Vector19InvalidOnesAreNamed) {
  EXPECT_EQ(ErrorOf({{kCore, "100"}}),
            "invalid resource device requests: [koordinator.sh/gpu-core]");
  EXPECT_EQ(ErrorOf({{kGpu, "101"}}), "invalid resource unit koordinator.sh/gpu: 101");
  EXPECT_EQ(ErrorOf({{"koordinator.sh/rdma", "150"}}),
            "invalid resource unit koordinator.sh/rdma: 150");
  EXPECT_EQ(ErrorOf({{"koordinator.sh/fpga", "101"}}),
            "invalid resource unit koordinator.sh/fpga: 101");
  for (const Amounts& each : std::vector<Amounts>{
           {{kShared, "1"}, {kRatio, "101"}},
           {{kShared, "2"}, {kCore, "101"}, {kMemory, "64Gi"}},
           {{kShared, "2"}, {kNpu, "4"}, {kNpuCpuName, "3"}, {kMemory, "8Gi"}},
           {{kShared, "1"}, {kNpu, "4"}, {kNpuCpuName, "3"}, {kMemory, "8Gi"}, {kDvpp, "101"}},
           {{kNpu, "4"}},
           {{"nvidia.com/gpu", "1"}, {kGpu, "100"}},
           {{kCore, "150"}, {kRatio, "100"}},
           {{kMemory, "1Gi"}, {kRatio, "50"}},
           {{kShared, "1"}}}) {
    EXPECT_THAT(ErrorOf(each), ::testing::StartsWith("invalid resource device requests: ["));
  }
}

TEST(DeviceRequest, NamesOfInvalidRequestsAreSorted) {
  EXPECT_EQ(ErrorOf({{kRatio, "50"}, {kMemory, "1Gi"}}),
            "invalid resource device requests: [koordinator.sh/gpu-memory "
            "koordinator.sh/gpu-memory-ratio]");
}

TEST(DeviceRequest, ZerosAndOtherResourcesAskForNoDevices) {
  const auto read = Read({{"cpu", "4"}, {kGpu, "0"}});
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(read->empty());
}

TEST(DeviceRequest, OtherDevicesAreCountedByPercentAndByStrategy) {
  const auto rdma = [](std::string_view amount, std::string_view strategy) {
    const auto read =
        Read({{"koordinator.sh/rdma", amount}},
             {{"scheduling.koordinator.sh/device-allocate-hint", std::string(strategy)}});
    return *read->of(DeviceType::kRdma);
  };
  EXPECT_EQ(rdma("50", "{}").count, 1);
  EXPECT_EQ(rdma("300", "{}").count, 3);
  EXPECT_EQ(rdma("300", "{}").per_device.Get(kRdma), 100);
  const DeviceRequest as_count = rdma("4", R"({"rdma":{"allocateStrategy":"RequestsAsCount"}})");
  EXPECT_EQ(as_count.count, 4);
  EXPECT_EQ(as_count.per_device.Get(kRdma), 1);
  EXPECT_EQ(
      rdma("4",
           R"({"rdma":{"allocateStrategy":"RequestsAsCount","exclusivePolicy":"DeviceLevel"}})")
          .per_device.Get(kRdma),
      100);
  EXPECT_EQ(rdma("4", R"({"rdma":{"allocateStrategy":"ApplyForAll"}})").counted,
            DeviceRequest::Count::kAll);
}

TEST(DeviceRequest, AnnotationsThatMakeNoSenseAreSaid) {
  const auto error = [](std::string_view key, std::string_view value) {
    return ErrorOf({{"nvidia.com/gpu", "1"}},
                   {{fmt::format("scheduling.koordinator.sh/{}", key), std::string(value)}});
  };
  using ::testing::StartsWith;
  EXPECT_THAT(error("device-allocate-hint", "{"),
              StartsWith("invalid DeviceAllocateHint annotation, err: "));
  EXPECT_THAT(error("device-joint-allocate", "[]"),
              StartsWith("invalid DeviceJointAllocate annotation, err: "));
  EXPECT_THAT(error("gpu-partition-spec", "7"),
              StartsWith("invalid GPUPartitionSpec annotation, err: "));
  EXPECT_THAT(error("device-allocate-hint",
                    R"({"gpu":{"selector":{"matchExpressions":[{"key":"a","operator":"Near"}]}}})"),
              StartsWith("invalid Selector of DeviceHint, deviceType: gpu, err: "));
  EXPECT_THAT(error("device-allocate-hint",
                    R"({"gpu":{"vfSelector":{"matchExpressions":[{"key":"a","operator":"In"}]}}})"),
              StartsWith("invalid VFSelector of DeviceHint, deviceType: gpu, err: "));
  EXPECT_EQ(error("device-allocate-hint", R"({"gpu":null})"), "");
}

TEST(DeviceRequest, JointTypesAreThoseThatArePartOfIt) {
  const auto read =
      Read({{"nvidia.com/gpu", "1"}, {"koordinator.sh/rdma", "1"}},
           {{"scheduling.koordinator.sh/device-joint-allocate",
             R"({"deviceTypes":["fpga","gpu","rdma","gpu"],"requiredScope":"SamePCIe"})"}});
  ASSERT_TRUE(read.ok());
  EXPECT_THAT(read->joint, ::testing::ElementsAre(DeviceType::kGpu, DeviceType::kRdma));
  EXPECT_TRUE(read->same_pcie);
}

TEST(GpuTemplates, AreFoundByWhatIsAskedForExactly) {
  const auto templates = ParseGpuTemplates(R"(
huawei-Ascend-310P3:
  vir04: {huawei.com/npu-core: 4, huawei.com/npu-cpu: 4, koordinator.sh/gpu-memory: 12Gi}
  vir02: {huawei.com/npu-core: 2, huawei.com/npu-cpu: 2, koordinator.sh/gpu-memory: 6Gi}
)");
  ASSERT_TRUE(templates.ok()) << templates.status();
  const DeviceRequestRules rules{.templated = {kNpuCore}, .templates = &*templates};
  const auto read = [&](std::string_view memory) {
    return DeviceRequestsOf(
        Resources({{kShared, "1"}, {kNpu, "4"}, {kNpuCpuName, "4"}, {kMemory, memory}}), {}, rules);
  };
  ASSERT_TRUE(read("12Gi").ok());
  EXPECT_THAT(read("12Gi")->templates->at("huawei-Ascend-310P3"), ::testing::ElementsAre("vir04"));
  EXPECT_EQ(Message(read("11Gi").status()), "no matched GPU shared resource template");
  EXPECT_FALSE(ParseGpuTemplates("a: [").ok());
}

}  // namespace
}  // namespace koord::model::device_request_test
