#include "manager/webhook/node/node_webhook.h"

#include <gtest/gtest.h>

#include "kube/patch/json_patch.h"
#include "manager/webhook/review/fake_view_testing.h"

namespace koord::manager::webhook::node_webhook_test {
namespace {

using kube::Json;

struct NodeCase {
  const char* name;
  const char* ratio;  // "" for none
  const char* raw;    // "" for none
  const char* old_cpu;
  const char* new_cpu;
  const char* expected_cpu;
  const char* expected_raw;  // "" for none
};

class NodeStatusTest : public testing::TestWithParam<NodeCase> {
 protected:
  static Json Node(std::string_view ratio, std::string_view raw, std::string_view cpu) {
    Json node = Yaml(fmt::format(
        "{{metadata: {{name: n, annotations: {{x: y}}}}, status: {{allocatable: {{cpu: '{}', pods: "
        "'110'}}}}}}",
        cpu));
    if (!ratio.empty()) {
      kube::At(node, {"metadata", "annotations",
                      "node.koordinator.sh/resource-amplification-ratio"}) = ratio;
    }
    if (!raw.empty()) {
      kube::At(node, {"metadata", "annotations", "node.koordinator.sh/raw-allocatable"}) = raw;
    }
    return node;
  }
};

TEST_P(NodeStatusTest, IsAmplified) {
  const NodeCase& test = GetParam();
  Request request;
  request.operation = Operation::kUpdate;
  request.resource = "nodes";
  request.subresource = "status";
  request.old_object = Node(test.ratio, test.raw, test.old_cpu);
  request.object = Node(test.ratio, test.raw, test.new_cpu);
  const Response response = MutateNodeStatus(request);
  ASSERT_TRUE(response.allowed) << response.message;
  const Json node = response.patch.is_null()
                        ? request.object
                        : *kube::ApplyJsonPatch(request.object, response.patch);
  EXPECT_EQ(kube::FindString(node, {"status", "allocatable", "cpu"}), test.expected_cpu);
  EXPECT_EQ(kube::FindString(node, {"status", "allocatable", "pods"}), "110");
  EXPECT_EQ(
      kube::FindString(node, {"metadata", "annotations", "node.koordinator.sh/raw-allocatable"}),
      test.expected_raw);
}

// V16
INSTANTIATE_TEST_SUITE_P(
    Cases, NodeStatusTest,
    testing::Values(
        NodeCase{"first", R"({"cpu":1.5})", "", "1", "1", "1500m", R"({"cpu":"1"})"},
        NodeCase{"another_actor", R"({"cpu":1.5})", R"({"cpu":"1"})", "1500m", "1500m", "1500m",
                 R"({"cpu":"1"})"},
        NodeCase{"kubelet_reports", R"({"cpu":1.5})", R"({"cpu":"1"})", "1500m", "900m", "1350m",
                 R"({"cpu":"900m"})"},
        NodeCase{"ratio_changed", R"({"cpu":2})", R"({"cpu":"1"})", "1500m", "1500m", "2",
                 R"({"cpu":"1"})"},
        NodeCase{"ratio_of_another_resource", R"({"memory":2})", R"({"cpu":"1"})", "1500m", "1500m",
                 "1", R"({"cpu":"1"})"},
        NodeCase{"ratio_removed", "", R"({"cpu":"1"})", "1500m", "1500m", "1", ""},
        NodeCase{"ratio_removed_as_the_kubelet_reports", "", R"({"cpu":"1"})", "1500m", "900m",
                 "900m", ""},
        NodeCase{"never_amplified", "", "", "1500m", "1500m", "1500m", ""},
        NodeCase{"ratio_removed_and_raw_unreadable", "", "x", "1500m", "1500m", "1500m", ""},
        NodeCase{"ratio_of_one", R"({"cpu":1,"memory":2})", "", "1", "1", "1", R"({"cpu":"1"})"},
        NodeCase{"raw_is_null", R"({"cpu":2})", "null", "1", "1", "1", "null"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(NodeWebhookTest, NamesWhatItCannotRead) {
  Request request;
  request.operation = Operation::kUpdate;
  request.resource = "nodes";
  request.subresource = "status";
  request.object = Yaml(
      "{metadata: {annotations: {node.koordinator.sh/resource-amplification-ratio: x}}, status: "
      "{allocatable: {cpu: 1}}}");
  request.old_object = request.object;
  EXPECT_EQ(MutateNodeStatus(request).code, 500);
  request.operation = Operation::kCreate;
  EXPECT_TRUE(MutateNodeStatus(request).allowed);
}

}  // namespace
}  // namespace koord::manager::webhook::node_webhook_test
