// What kubectl asks of nodes and of what measures them: logs, exec, top.
#include <gmock/gmock.h>

#include "kube/yaml.h"
#include "localcluster/apiserver/server_testing.h"

namespace koord::apiserver::kubelet_paths_test {
namespace {

using testing::HasSubstr;

constexpr char kMetrics[] = "/apis/metrics.k8s.io/v1beta1";

class KubeletPathsTest : public testing::Test {
 protected:
  // The part of the definition that matters here.
  void DefineNodeMetrics() {
    const TestAnswer answer =
        server.Post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", *kube::ParseYaml(R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: nodemetrics.slo.koordinator.sh}
spec:
  group: slo.koordinator.sh
  scope: Cluster
  names: {plural: nodemetrics, singular: nodemetric, kind: NodeMetric, listKind: NodeMetricList}
  versions:
    - name: v1alpha1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
)"));
    ASSERT_EQ(answer.code, 201) << answer.body;
    server.loop.Advance(5s);
  }
  void CreateNode(const std::string& name) {
    server.Post("/api/v1/nodes",
                *kube::ParseYaml("{metadata: {name: " + name + ", labels: {zone: " + name + "}}}"));
  }
  void Run(const std::string& pod, const std::string& node) {
    server.Post(kPodsPath, TestPod(pod));
    server.Post(std::string(kPodsPath) + "/" + pod + "/binding",
                *kube::ParseYaml("{target: {name: " + node + "}}"));
    server.MergePatch(std::string(kPodsPath) + "/" + pod + "/status",
                      Parse(R"({"status":{"phase":"Running"}})"));
  }
  void Report(const std::string& node) {
    const TestAnswer answer =
        server.Post("/apis/slo.koordinator.sh/v1alpha1/nodemetrics", *kube::ParseYaml(R"(
apiVersion: slo.koordinator.sh/v1alpha1
kind: NodeMetric
metadata: {name: )" + node + R"(}
spec: {metricCollectPolicy: {aggregateDurationSeconds: 90}}
status:
  updateTime: "2024-05-01T12:00:00Z"
  nodeMetric: {nodeUsage: {resources: {cpu: 1500m, memory: 2Gi}}}
  podsMetric:
    - {name: p, namespace: default, podUsage: {resources: {cpu: 250m, memory: 64Mi}}}
    - {name: gone, namespace: default, podUsage: {resources: {cpu: "1", memory: 1Mi}}}
)"));
    ASSERT_EQ(answer.code, 201) << answer.body;
  }

  TestServer server;
};

TEST_F(KubeletPathsTest, SaysWhyThereAreNoContainers) {
  server.Post(kPodsPath, TestPod("p"));
  const std::string pod = std::string(kPodsPath) + "/p";
  const struct {
    const char *method, *path, *message;
  } kCases[] = {
      {"GET", "/log?container=c", "pod \"p\" has no logs"},
      {"POST", "/exec?command=ls", "pod \"p\" has nothing to execute a command in"},
      {"GET", "/exec?command=ls", "pod \"p\" has nothing to execute a command in"},
      {"POST", "/attach", "pod \"p\" has nothing to attach to"},
      {"POST", "/portforward", "pod \"p\" has no ports"},
  };
  for (const auto& test : kCases) {
    const TestAnswer answer = server.Send(test.method, pod + test.path);
    EXPECT_EQ(answer.code, 501) << test.path;
    EXPECT_EQ(answer.String({"reason"}), "NotImplemented");
    EXPECT_EQ(answer.String({"message"}),
              std::string(test.message) +
                  ": the nodes of the local cluster are simulated and run no containers");
  }
  EXPECT_EQ(server.Get(std::string(kPodsPath) + "/none/log").code, 404);
}

TEST_F(KubeletPathsTest, MeasuresNodesThatReport) {
  DefineNodeMetrics();
  CreateNode("a");
  CreateNode("b");
  Report("a");
  const TestAnswer one = server.Get(std::string(kMetrics) + "/nodes/a");
  EXPECT_EQ(one.body,
            R"({"kind":"NodeMetrics","apiVersion":"metrics.k8s.io/v1beta1","metadata":{"name":"a",)"
            R"("labels":{"zone":"a"},"creationTimestamp":"2024-05-01T12:00:00Z"},)"
            R"("timestamp":"2024-05-01T12:00:00Z","window":"1m30s",)"
            R"("usage":{"cpu":"1500m","memory":"2Gi"}})");
  const TestAnswer silent = server.Get(std::string(kMetrics) + "/nodes/b");
  EXPECT_EQ(silent.code, 404);
  EXPECT_EQ(silent.String({"message"}), "nodemetrics.metrics.k8s.io \"b\" not found");
  const TestAnswer all = server.Get(std::string(kMetrics) + "/nodes");
  EXPECT_EQ(all.String({"kind"}), "NodeMetricsList");
  EXPECT_EQ(all.json.at("items").as_array().size(), 1u);
  const TestAnswer none = server.Get(std::string(kMetrics) + "/nodes?labelSelector=zone%3Db");
  EXPECT_EQ(none.json.at("items").as_array().size(), 0u);
}

TEST_F(KubeletPathsTest, MeasuresPodsThatRun) {
  DefineNodeMetrics();
  CreateNode("a");
  Run("p", "a");
  Run("unreported", "a");
  Report("a");
  for (const char* path : {"/pods", "/namespaces/default/pods"}) {
    const TestAnswer all = server.Get(std::string(kMetrics) + path);
    ASSERT_EQ(all.json.at("items").as_array().size(), 1u) << all.body;
    EXPECT_EQ(kube::Serialize(all.json.at("items").at(0).at("containers")),
              R"([{"name":"c","usage":{"cpu":"250m","memory":"64Mi"}}])");
  }
  EXPECT_EQ(server.Get(std::string(kMetrics) + "/namespaces/kube-system/pods")
                .json.at("items")
                .as_array()
                .size(),
            0u);
  EXPECT_EQ(server.Get(std::string(kMetrics) + "/namespaces/default/pods/p").code, 200);
  EXPECT_EQ(server.Get(std::string(kMetrics) + "/namespaces/default/pods/gone").code, 404);
}

TEST_F(KubeletPathsTest, DiscoveryListsTheMetrics) {
  const TestAnswer answer = server.Get(kMetrics);
  EXPECT_THAT(answer.body, HasSubstr(R"("kind":"NodeMetrics","verbs":["get","list"])"));
  EXPECT_THAT(server.Get("/apis").body, HasSubstr(R"("name":"metrics.k8s.io")"));
  EXPECT_EQ(server.Send("POST", std::string(kMetrics) + "/nodes", "{}").code, 405);
}

}  // namespace
}  // namespace koord::apiserver::kubelet_paths_test
