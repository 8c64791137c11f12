#include "cli/drawing/device_drawing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"

namespace koord::cli::device_drawing_test {
namespace {

TEST(DeviceDrawing, ShowsWhoHasWhatWhere) {
  const kube::Json node = kube::ParseJson(R"({
    "deviceTotalDetail": {"gpu": {"0": {"koordinator.sh/gpu-core": "100"}, "1": {},
                                  "2": {"koordinator.sh/gpu-core": "100"}},
                          "rdma": {"1": {"koordinator.sh/rdma": "100"}}},
    "deviceUsedDetail": {"gpu": {"0": {"koordinator.sh/gpu-core": "75"}}, "rdma": {"1": {}}},
    "deviceTopology": {"gpu": {"0": {"nodeID": 0, "pcieID": "a"}, "1": {"nodeID": 0, "pcieID": "a"},
                               "2": {"nodeID": 1, "pcieID": "b"}},
                       "rdma": {"1": {"nodeID": 0, "pcieID": "a"}}},
    "allocateSet": {"gpu": {"default/x": {"0": {"koordinator.sh/gpu-core": "50"}},
                            "default/y": {"0": {"koordinator.sh/gpu-core": "25"}}}}})")
                              .value();
  EXPECT_EQ(DrawDevices(node).value(), R"(Devices
NUMA node 0
  PCIe a
    gpu  0   [########..]  75%  default/x 50%, default/y 25%
    gpu  1   not healthy
    rdma 1   [..........]   0%
NUMA node 1
  PCIe b
    gpu  2   [..........]   0%
)");
}

TEST(DeviceDrawing, NoLineIsTooLong) {
  std::string holders;
  for (int i = 0; i < 40; ++i) {
    holders += (i == 0 ? "" : ",") + std::string(R"("team-with-a-name/service-)") +
               std::to_string(i) + R"(": {"0": {"koordinator.sh/gpu-core": "2"}})";
  }
  const kube::Json node = kube::ParseJson(R"({"deviceTotalDetail": {"gpu": {"0":
      {"koordinator.sh/gpu-core": "100"}}}, "allocateSet": {"gpu": {)" +
                                          holders + "}}}")
                              .value();
  for (const size_t width : {60, 80, 100}) {
    const auto drawn = DrawDevices(node, width);
    ASSERT_TRUE(drawn.ok());
    for (const std::string_view line : Split(*drawn, '\n')) EXPECT_LE(line.size(), width) << line;
  }
  EXPECT_THAT(DrawDevices(node, 100).value(), ::testing::HasSubstr("service-0 2%, and 39 more"));
}

TEST(DeviceDrawing, WithoutDevicesThereIsNothingToDraw) {
  EXPECT_FALSE(DrawDevices(kube::Json(kube::json::object())).ok());
}

}  // namespace
}  // namespace koord::cli::device_drawing_test
