#include "api/extended_resources.h"

#include <gtest/gtest.h>

namespace koord::api::extended_resources_test {
namespace {

using kube::ResourceList;

ResourceList MakeList(std::string_view text) {
  return kube::Decode<ResourceList>(kube::ParseJson(text).value()).value();
}

std::string Text(const ResourceList& list) { return kube::Serialize(kube::Encode(list)); }

TEST(TranslateResourceTest, Names) {
  struct Case {
    PriorityBand band;
    std::string_view cpu;
    std::string_view memory;
  };
  for (const Case& each :
       {Case{PriorityBand::kNone, "cpu", "memory"}, Case{PriorityBand::kProd, "cpu", "memory"},
        Case{PriorityBand::kMid, "kubernetes.io/mid-cpu", "kubernetes.io/mid-memory"},
        Case{PriorityBand::kBatch, "kubernetes.io/batch-cpu", "kubernetes.io/batch-memory"},
        Case{PriorityBand::kFree, "", ""}}) {
    EXPECT_EQ(TranslateResource(each.band, "cpu"), each.cpu);
    EXPECT_EQ(TranslateResource(each.band, "memory"), each.memory);
    EXPECT_EQ(TranslateResource(each.band, "nvidia.com/gpu"), "nvidia.com/gpu");
  }
}

TEST(TranslateResourcesTest, CpuBecomesMilliCoresAndMemoryKeepsItsForm) {
  ResourceList list = MakeList(R"({"cpu":"1500m","memory":"2Gi","x.io/y":"1"})");
  TranslateResources(PriorityBand::kBatch, list);
  EXPECT_EQ(
      Text(list),
      R"({"kubernetes.io/batch-cpu":"1500","kubernetes.io/batch-memory":"2Gi","x.io/y":"1"})");
  ResourceList two = MakeList(R"({"cpu":"2"})");
  TranslateResources(PriorityBand::kMid, two);
  EXPECT_EQ(Text(two), R"({"kubernetes.io/mid-cpu":"2k"})");
}

TEST(TranslateResourcesTest, OverwritesWhatIsThere) {
  ResourceList list = MakeList(R"({"cpu":"1","kubernetes.io/batch-cpu":"7"})");
  TranslateResources(PriorityBand::kBatch, list);
  EXPECT_EQ(Text(list), R"({"kubernetes.io/batch-cpu":"1k"})");
}

TEST(TranslateResourcesTest, FreeAndProdStay) {
  for (const PriorityBand band : {PriorityBand::kFree, PriorityBand::kProd, PriorityBand::kNone}) {
    ResourceList list = MakeList(R"({"cpu":"1","memory":"1Gi"})");
    TranslateResources(band, list);
    EXPECT_EQ(Text(list), R"({"cpu":"1","memory":"1Gi"})");
  }
}

TEST(RenameDeprecatedTest, MovesOnlyWhereTheNewNameIsAbsent) {
  kube::PodSpec pod;
  pod.containers.Mutable().emplace_back().resources.requests =
      MakeList(R"({"koordinator.sh/batch-cpu":"1","kubernetes.io/gpu-memory-ratio":"50"})");
  pod.containers.Mutable().back().resources.limits =
      MakeList(R"({"koordinator.sh/batch-memory":"1","kubernetes.io/batch-memory":"2"})");
  pod.init_containers.Mutable().emplace_back().resources.requests =
      MakeList(R"({"kubernetes.io/rdma":"1"})");
  pod.overhead = MakeList(R"({"koordinator.sh/batch-cpu":"3"})");
  EXPECT_TRUE(HasDeprecatedResources(pod));
  RenameDeprecatedResources(pod);
  EXPECT_FALSE(HasDeprecatedResources(pod));
  EXPECT_EQ(Text(pod.containers[0].resources.requests),
            R"({"koordinator.sh/gpu-memory-ratio":"50","kubernetes.io/batch-cpu":"1"})");
  EXPECT_EQ(Text(pod.containers[0].resources.limits),
            R"({"koordinator.sh/batch-memory":"1","kubernetes.io/batch-memory":"2"})");
  EXPECT_EQ(Text(pod.init_containers[0].resources.requests), R"({"koordinator.sh/rdma":"1"})");
  EXPECT_EQ(Text(pod.overhead), R"({"kubernetes.io/batch-cpu":"3"})");
}

TEST(RenameDeprecatedTest, TellsBeforehandWhetherAnythingChanges) {
  const struct {
    const char* list;
    bool batch;
    bool device;
  } kCases[] = {
      {"{}", false, false},
      {R"({"cpu":"1","memory":"1"})", false, false},
      {R"({"koordinator.sh/batch-cpu":"1"})", true, false},
      {R"({"koordinator.sh/batch-memory":"1","kubernetes.io/batch-memory":"1"})", false, false},
      {R"({"kubernetes.io/batch-cpu":"1","koordinator.sh/gpu":"1"})", false, false},
      {R"({"kubernetes.io/gpu":"1"})", false, true},
      {R"({"kubernetes.io/fpga":"1","koordinator.sh/fpga":"1"})", false, false},
  };
  for (const auto& test : kCases) {
    EXPECT_EQ(HasDeprecatedBatchResources(MakeList(test.list)), test.batch) << test.list;
    EXPECT_EQ(HasDeprecatedDeviceResources(MakeList(test.list)), test.device) << test.list;
  }
}

}  // namespace
}  // namespace koord::api::extended_resources_test
