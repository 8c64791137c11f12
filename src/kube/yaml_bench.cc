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

// What hostile or just large bodies cost, for each MiB: a server does nothing else meanwhile.
std::string Repeat(std::string head, std::string_view part) {
  constexpr size_t kMiB = 1 << 20;
  while (head.size() < kMiB) head += part;
  return head;
}

void ParseMiB(benchmark::State& state, const std::string& text) {
  bool ok = true;
  for (auto _ : state) ok &= ParseYaml(text).ok();
  if (!ok) state.SkipWithError("not parsed");
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
}

std::string Keys() {
  std::string text = "data:\n";
  for (int i = 0; text.size() < (1 << 20); ++i) text += fmt::format("  k{}: v\n", i);
  return text;
}

#define BENCHMARK_MIB(name, text) \
  BENCHMARK_CAPTURE(ParseMiB, name, text)->Unit(benchmark::kMillisecond)
BENCHMARK_MIB(Containers, Repeat("spec:\n  containers:\n",
                                 "  - name: web\n    image: registry.example/web:1.2.3\n"
                                 "    args: [\"--port=8080\", \"--verbose\"]\n"
                                 "    resources:\n      requests: {cpu: 500m, memory: 512Mi}\n"));
BENCHMARK_MIB(Keys, Keys());
BENCHMARK_MIB(Literal, Repeat("data: |\n", "  some lines of the file of a program\n"));
BENCHMARK_MIB(List, Repeat("a:\n", "- 1\n"));
BENCHMARK_MIB(BlankLines, Repeat("a: 1\n", "\n"));
BENCHMARK_MIB(FlowList, Repeat("a: [", "1,") + "]\n");
BENCHMARK_MIB(FlowMaps, Repeat("a: [", "{a: 1},") + "]\n");
BENCHMARK_MIB(NestedFlowLists,
              "a: " + std::string(7, '[') + Repeat("", "1,") + std::string(7, ']') + "\n");

void PrintPod(benchmark::State& state) {
  const Json pod = *ParseYaml(kPod);
  for (auto _ : state) benchmark::DoNotOptimize(ToYaml(pod));
}
BENCHMARK(PrintPod);

}  // namespace
}  // namespace koord::kube
