#include <benchmark/benchmark.h>

#include "kube/patch/json_patch.h"
#include "kube/patch/merge_patch.h"
#include "kube/patch/strategic_merge_patch.h"

namespace koord::kube {
namespace {

Json Pod() {
  return *ParseJson(R"({"metadata":{"name":"p","labels":{"app":"web"}},"spec":{"nodeName":"n",
    "containers":[{"name":"a","image":"1"},{"name":"b","image":"1"}]},"status":{"phase":"Pending",
    "conditions":[{"type":"PodScheduled","status":"True"},{"type":"Ready","status":"False"}]}})");
}

void StrategicStatusPatch(benchmark::State& state) {
  const Json pod = Pod();
  const Json patch = *ParseJson(R"({"status":{"phase":"Running","$setElementOrder/conditions":
    [{"type":"PodScheduled"},{"type":"Ready"}],"conditions":[{"type":"Ready","status":"True"}]}})");
  const Type& type = *FindBuiltinType("v1", "Pod");
  for (auto _ : state) benchmark::DoNotOptimize(ApplyStrategicMergePatch(pod, patch, type));
}
BENCHMARK(StrategicStatusPatch);

void MergePatch(benchmark::State& state) {
  const Json pod = Pod();
  const Json patch = *ParseJson(R"({"metadata":{"labels":{"x":"y"}}})");
  for (auto _ : state) benchmark::DoNotOptimize(ApplyMergePatch(pod, patch));
}
BENCHMARK(MergePatch);

void JsonPatch(benchmark::State& state) {
  const Json pod = Pod();
  const Json patch = *ParseJson(R"([{"op":"add","path":"/metadata/labels/x","value":"y"}])");
  for (auto _ : state) benchmark::DoNotOptimize(ApplyJsonPatch(pod, patch));
}
BENCHMARK(JsonPatch);

void CopyPod(benchmark::State& state) {
  const Json pod = Pod();
  for (auto _ : state) benchmark::DoNotOptimize(Json(pod));
}
BENCHMARK(CopyPod);

}  // namespace
}  // namespace koord::kube
