#include "scheduler/plugins/image_locality/image_locality.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scheduler/testing/random_cluster.h"

namespace koord::scheduler::image_locality_test {
namespace {

using Scores = std::vector<int64_t>;
constexpr int64_t kMi = 1024 * 1024;

// Images as "name=MiB name=MiB".
std::string Node(std::string_view name,
                 const std::vector<std::pair<std::string, int64_t>>& images) {
  std::string list;
  for (const auto& [image, size] : images) {
    list +=
        fmt::format("{{names: ['{}', 'digest-of-{}'], sizeBytes: {}}}, ", image, image, size * kMi);
  }
  return fmt::format("{{metadata: {{name: {}}}, status: {{images: [{}]}}}}", name, list);
}

std::string Pod(std::string_view containers, std::string_view init_containers = "") {
  return fmt::format("{{spec: {{containers: [{}], initContainers: [{}]}}}}", containers,
                     init_containers);
}

TEST(ImageLocalityTest, NormalizesNames) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"nginx", "nginx:latest"},
      {"nginx:1.25", "nginx:1.25"},
      {"registry:5000/nginx", "registry:5000/nginx:latest"},
      {"registry:5000/nginx:1", "registry:5000/nginx:1"},
      {"a/b", "a/b:latest"},
      {"nginx@sha256:abc", "nginx@sha256:abc"},
      {"", ":latest"},
  };
  for (const auto& [image, expected] : cases) EXPECT_EQ(NormalizedImageName(image), expected);
}

TEST(ImageLocalityTest, CountsBytesInProportionToTheNodesThatHaveThem) {
  PluginBed bed;
  ImageLocality plugin(bed.context);
  bed.AddNode(Node("a", {{"one:latest", 600}}));
  bed.AddNode(Node("b", {}));
  EXPECT_EQ(bed.Scores(plugin, *bed.Query(plugin, Pod("{image: one}, {image: two}"))),
            (Scores{14, 0}));
  EXPECT_EQ(bed.Scores(plugin, *bed.Query(plugin, Pod("{image: one}"))), (Scores{28, 0}));
  EXPECT_EQ(bed.Scores(plugin, *bed.Query(plugin, Pod("{image: 'digest-of-one:latest'}"))),
            (Scores{28, 0}))
      << "any of its names";
  EXPECT_EQ(bed.Scores(plugin, *bed.Query(plugin, Pod("{image: two}", "{image: one}"))),
            (Scores{14, 0}))
      << "init containers count";
  EXPECT_EQ(bed.Scores(plugin, *bed.Query(plugin, Pod("{image: one}, {image: one}"))),
            (Scores{29, 0}))
      << "once a container";
  EXPECT_EQ(bed.Scores(plugin, *bed.Query(plugin, Pod("{image: 'one:v2'}"))), (Scores{0, 0}));
  EXPECT_EQ(bed.Scores(plugin, *bed.Query(plugin, Pod(""))), (Scores{0, 0}));
}

TEST(ImageLocalityTest, IsBoundedBelowAndAbove) {
  PluginBed bed;
  ImageLocality plugin(bed.context);
  bed.AddNode(Node("a", {{"absurd:1", int64_t{1} << 42},
                         {"negative:1", -5},
                         {"huge:1", 5000},
                         {"tiny:1", 23},
                         {"some:1", 33}}));
  EXPECT_EQ(bed.Scores(plugin, *bed.Query(plugin, Pod("{image: 'huge:1'}"))), Scores{100});
  EXPECT_EQ(bed.Scores(plugin, *bed.Query(plugin, Pod("{image: 'absurd:1'}"))), Scores{100});
  EXPECT_EQ(bed.Scores(plugin, *bed.Query(plugin, Pod("{image: 'negative:1'}"))), Scores{0});
  EXPECT_EQ(bed.Scores(plugin, *bed.Query(plugin, Pod("{image: 'tiny:1'}"))), Scores{0});
  EXPECT_EQ(bed.Scores(plugin, *bed.Query(plugin, Pod("{image: 'some:1'}"))), Scores{1});
}

TEST(ImageLocalityTest, FollowsWhatNodesHave) {
  PluginBed bed;
  ImageLocality plugin(bed.context);
  bed.AddNode(Node("a", {{"one:1", 1000}}));
  bed.AddNode(Node("b", {}));
  const auto query = bed.Query(plugin, Pod("{image: 'one:1'}"));
  EXPECT_EQ(bed.Scores(plugin, *query), (Scores{48, 0}));

  uint64_t version = plugin.version();
  const auto has_moved = [&] {
    return plugin.version() != std::exchange(version, plugin.version());
  };
  bed.AddNode(Node("b", {{"one:1", 500}}));
  EXPECT_TRUE(has_moved()) << "another node has it";
  EXPECT_EQ(bed.Scores(plugin, *query), (Scores{100, 48}));
  bed.AddNode(Node("b", {{"one:1", 1000}}));
  EXPECT_FALSE(has_moved()) << "changes the row's own score only";
  EXPECT_EQ(bed.Scores(plugin, *query), (Scores{100, 100}));
  bed.AddNode(Node("b", {{"one:1", 1000}, {"other:1", 100}}));
  EXPECT_FALSE(has_moved()) << "no pod asks for it";
  bed.AddNode(Node("c", {}));
  EXPECT_TRUE(has_moved()) << "another node";
  EXPECT_EQ(bed.Scores(plugin, *query), (Scores{65, 65, 0}));
  bed.ledger.RemoveNode("a");
  EXPECT_TRUE(has_moved()) << "one node less";
  EXPECT_EQ(bed.Scores(plugin, *query), (Scores{48, 0}));
}

TEST(ImageLocalityTest, WithoutImagesNodesMayComeAndGo) {
  PluginBed bed;
  ImageLocality plugin(bed.context);
  const auto query = bed.Query(plugin, Pod("{image: 'one:1'}"));
  const uint64_t version = plugin.version();
  bed.AddNode(Node("a", {}));
  bed.AddNode(Node("b", {}));
  bed.ledger.RemoveNode("a");
  EXPECT_EQ(plugin.version(), version);
}

// The score as it is defined, from the objects.
int64_t Expected(const kube::Pod& pod, const NodeTable& nodes, NodeRow of) {
  const auto size_on = [&](NodeRow row, const std::string& name) -> int64_t {
    if (!nodes.IsLive(row)) return 0;
    for (const kube::ContainerImage& image : nodes.node(row).status.images) {
      for (const std::string& each : image.names) {
        if (each == name) return image.size_bytes;
      }
    }
    return 0;
  };
  int64_t sum = 0;
  int64_t containers = 0;
  for (const auto* list : {&pod.spec.containers, &pod.spec.init_containers}) {
    for (const kube::Container& container : *list) {
      ++containers;
      const std::string name = container.image + ":latest";
      int having = 0;
      for (NodeRow row{0}; row < nodes.rows(); ++row) having += size_on(row, name) > 0 ? 1 : 0;
      const double spread = static_cast<double>(having) / static_cast<double>(nodes.live_rows());
      sum += static_cast<int64_t>(static_cast<double>(size_on(of, name)) * spread);
    }
  }
  const int64_t most = 1000 * kMi * containers;
  return 100 * (std::clamp(sum, 23 * kMi, most) - 23 * kMi) / (most - 23 * kMi);
}

TEST(ImageLocalityTest, StaysRightWhileNodesComeGoAndChange) {
  Random random(17);
  PluginBed bed;
  ImageLocality plugin(bed.context);
  const auto pod = RandomPod(random, 1);
  for (int i = 0; i < 300; ++i) {
    const auto node = RandomNode(random, static_cast<int>(random.Below(30)));
    if (random.Chance(0.3)) {
      bed.ledger.RemoveNode(node->metadata.name);
    } else {
      bed.ledger.SetNode(node);
    }
    const auto query = bed.Query(plugin, pod);
    const NodeTable& nodes = bed.ledger.nodes();
    Scores expected;
    for (NodeRow row{0}; row < nodes.rows(); ++row) {
      if (nodes.IsLive(row)) expected.push_back(Expected(*pod, nodes, row));
    }
    ASSERT_EQ(bed.Scores(plugin, *query), expected);
    ExpectScoresOfSingleRowsAgree(plugin, *query);
  }
}

TEST(ImageLocalityTest, DroppingNamesThatNobodyAsksForLeavesTheOthers) {
  ImageIndex images;
  const auto kept = images.Find("kept");
  for (int i = 0; i < 5000; ++i) images.Find(fmt::format("image-{}", i));
  images.SetImages(NodeRow(0), {{{"kept"}, 5}});
  ASSERT_EQ(kept->holders.size(), 1u);
  EXPECT_EQ(kept->holders[0].size, 5);
}

}  // namespace
}  // namespace koord::scheduler::image_locality_test
