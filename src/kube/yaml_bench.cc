#include "kube/yaml.h"

#include <benchmark/benchmark.h>

namespace koord::kube {
namespace {

constexpr std::string_view kPod = R"(apiVersion: v1
kind: Pod
metadata:
  name: web
  labels: {app: web, tier: frontend}
spec:
  containers:
  - name: web
    image: registry.example/web:1.2.3
    args: ["--port=8080", "--verbose"]
    resources:
      requests: {cpu: 500m, memory: 512Mi}
      limits: {cpu: 1, memory: 1Gi}
  tolerations:
  - {key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute}
)";

void ParsePod(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(ParseYaml(kPod));
}
BENCHMARK(ParsePod);

void ParsePodWithLines(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(ParseYamlDocuments(kPod));
}
BENCHMARK(ParsePodWithLines);

void PrintPod(benchmark::State& state) {
  const Json pod = *ParseYaml(kPod);
  for (auto _ : state) benchmark::DoNotOptimize(ToYaml(pod));
}
BENCHMARK(PrintPod);

}  // namespace
}  // namespace koord::kube
