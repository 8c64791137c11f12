#include "scheduler/books/device_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/device/device_testing.h"
#include "scheduler/books/books.h"
#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::device_book_test {
namespace {

using enum model::DeviceResource;
using model::DeviceType;

class DeviceBookTest : public ::testing::Test {
 protected:
  DeviceBookTest() {
    n_ = bed_.AddNode("{metadata: {name: n}, status: {allocatable: {cpu: '16'}}}");
  }

  void SetDevice(api::Device device = model::MachineG8()) {
    bed_.objects.devices.Set(std::make_shared<const api::Device>(std::move(device)));
  }
  // `allocated`: what the annotation says.
  void AddPod(std::string_view name, std::string_view allocated, std::string_view more = "") {
    bed_.AddPod(
        fmt::format("{{metadata: {{name: {}, annotations: "
                    "{{scheduling.koordinator.sh/device-allocated: '{}'{}}}}}, "
                    "spec: {{nodeName: n}}}}",
                    name, allocated, more));
  }
  static std::string Card(int minor, int percent) {
    return fmt::format(R"({{"gpu":[{{"minor":{},"resources":{{"koordinator.sh/gpu-core":"{}",)"
                       R"("koordinator.sh/gpu-memory-ratio":"{}"}}}}]}})",
                       minor, percent, percent);
  }
  // What is left of a card, in percent.
  int64_t FreeOf(int minor) const {
    const model::DeviceCard* card = bed_.books.devices.row(n_).Find(DeviceType::kGpu, minor);
    return card == nullptr ? -1 : card->free.Get(kGpuCore);
  }

  PluginBed bed_;
  NodeRow n_;
};

TEST_F(DeviceBookTest, PodsHoldWhatTheirAnnotationsSay) {
  SetDevice();
  AddPod("a", Card(3, 40));
  AddPod("b", Card(3, 25));
  EXPECT_EQ(FreeOf(3), 35);
  EXPECT_EQ(FreeOf(2), 100);
  bed_.ledger.RemovePod("a");
  EXPECT_EQ(FreeOf(3), 75);
}

TEST_F(DeviceBookTest, WhatIsHeldIsKnownWheneverTheObjectComes) {
  AddPod("a", Card(3, 40));
  EXPECT_EQ(FreeOf(3), 0) << "nobody knows that there is such a card";
  SetDevice();
  EXPECT_EQ(FreeOf(3), 60);
  bed_.objects.devices.Remove({"", "n"});
  EXPECT_EQ(FreeOf(3), 0);
  EXPECT_EQ(FreeOf(2), 0) << "nobody says that it works";
  AddPod("b", Card(3, 10));
  SetDevice();
  EXPECT_EQ(FreeOf(3), 50);
}

TEST_F(DeviceBookTest, NodesThatComeBackHaveTheirDevices) {
  SetDevice();
  AddPod("a", Card(3, 40));
  bed_.ledger.RemoveNode("n");
  n_ = bed_.AddNode("{metadata: {name: n}}");
  EXPECT_EQ(FreeOf(3), 60);
}

TEST_F(DeviceBookTest, AnnotationsThatMakeNoSenseHoldNothing) {
  SetDevice();
  AddPod("a", "{");
  AddPod("b", R"({"gpu":[{"minor":-1,"resources":{"koordinator.sh/gpu-core":"50"}}]})");
  AddPod("c", R"({"gpu":[{"minor":1,"resources":{"koordinator.sh/gpu-core":"-50"}}]})");
  AddPod("d", Card(77, 50));
  for (int minor = 0; minor < 8; ++minor) EXPECT_EQ(FreeOf(minor), 100);
  EXPECT_EQ(FreeOf(77), 0);
}

TEST_F(DeviceBookTest, ReservationsAndTheirOwnersAreChargedOnce) {
  SetDevice();
  bed_.AddPod(fmt::format(
      "{{metadata: {{name: r1, uid: r1, annotations: {{scheduling.koordinator.sh/reserve-pod: "
      "'true', scheduling.koordinator.sh/reservation-name: r, "
      "scheduling.koordinator.sh/device-allocated: '{}'}}}}, spec: {{nodeName: n}}}}",
      Card(0, 50)));
  EXPECT_EQ(FreeOf(0), 50);
  const std::string draws =
      R"(, scheduling.koordinator.sh/reservation-allocated: '{"name":"r","uid":"r1"}')";
  AddPod("owner", Card(0, 30), draws);
  EXPECT_EQ(FreeOf(0), 50) << "of what is reserved";
  const PodInfo* const reserve_pod = bed_.ledger.Find("r1");
  const auto left = bed_.books.devices.LeftOf(*reserve_pod, {});
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].amounts.Get(kGpuCore), 20);
  AddPod("another", Card(0, 40), draws);
  EXPECT_EQ(FreeOf(0), 30) << "owners took more than there was";
  const std::vector<const PodInfo*> gone{reserve_pod};
  EXPECT_EQ(bed_.books.devices.With(n_, gone, {}).Find(DeviceType::kGpu, 0)->free.Get(kGpuCore),
            30);
  bed_.ledger.RemovePod("another");
  EXPECT_EQ(bed_.books.devices.With(n_, gone, {}).Find(DeviceType::kGpu, 0)->free.Get(kGpuCore),
            70);
  bed_.ledger.RemovePod("r1");
  EXPECT_EQ(FreeOf(0), 70);
}

TEST_F(DeviceBookTest, ColumnsFollow) {
  SetDevice();
  AddPod("a", Card(3, 40));
  const DeviceBook& book = bed_.books.devices;
  EXPECT_EQ(book.totals(kGpuCore)[n_], 800);
  EXPECT_EQ(book.used(kGpuCore)[n_], 40);
  EXPECT_EQ(book.totals(kRdma)[n_], 400);
  EXPECT_TRUE(book.free_cards()[n_].is_complete);
  EXPECT_EQ(book.free_cards()[n_].core[3], 60);
}

}  // namespace
}  // namespace koord::scheduler::device_book_test
