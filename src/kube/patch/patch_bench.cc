#include <benchmark/benchmark.h>
#include <fmt/format.h>

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

// Hostile patches: the time must grow as their size does.
json::object Labels(int64_t count, const Json& value) {
  json::object labels;
  for (int64_t i = 0; i < count; ++i) labels[fmt::format("key{}", i)] = value;
  return labels;
}

void MergePatchRemovesAll(benchmark::State& state) {
  const Json document = Labels(state.range(0), "v"), patch = Labels(state.range(0), nullptr);
  for (auto _ : state) benchmark::DoNotOptimize(ApplyMergePatch(document, patch));
  state.SetComplexityN(state.range(0));
}
BENCHMARK(MergePatchRemovesAll)
    ->RangeMultiplier(4)
    ->Range(1 << 10, 1 << 16)
    ->Complexity(benchmark::oN);

void StrategicPatchRemovesAll(benchmark::State& state) {
  const Json document{{"metadata", {{"labels", Labels(state.range(0), "v")}}}};
  const Json patch{{"metadata", {{"labels", Labels(state.range(0), nullptr)}}}};
  const Type& type = *FindBuiltinType("v1", "Pod");
  for (auto _ : state) benchmark::DoNotOptimize(ApplyStrategicMergePatch(document, patch, type));
  state.SetComplexityN(state.range(0));
}
BENCHMARK(StrategicPatchRemovesAll)
    ->RangeMultiplier(4)
    ->Range(1 << 10, 1 << 16)
    ->Complexity(benchmark::oN);

void StrategicPatchOfALongList(benchmark::State& state) {
  json::array containers;
  for (int64_t i = 0; i < state.range(0); ++i) {
    containers.push_back({{"name", fmt::format("c{}", i)}, {"image", "i"}});
  }
  const Json document{{"spec", {{"containers", containers}}}};
  const Type& type = *FindBuiltinType("v1", "Pod");
  for (auto _ : state) benchmark::DoNotOptimize(ApplyStrategicMergePatch(document, document, type));
  state.SetComplexityN(state.range(0));
}
BENCHMARK(StrategicPatchOfALongList)
    ->RangeMultiplier(4)
    ->Range(1 << 8, 1 << 14)
    ->Complexity(benchmark::oN);

void JsonPatchRemovesAll(benchmark::State& state) {
  const Json document = Labels(state.range(0), "v");
  json::array patch;
  for (const auto& member : document.get_object()) {
    patch.push_back({{"op", "remove"}, {"path", fmt::format("/{}", std::string(member.key()))}});
  }
  for (auto _ : state) benchmark::DoNotOptimize(ApplyJsonPatch(document, patch));
  state.SetComplexityN(state.range(0));
}
BENCHMARK(JsonPatchRemovesAll)
    ->RangeMultiplier(2)
    ->Range(1 << 10, 1 << 13)
    ->Complexity(benchmark::oN);

void CopyPod(benchmark::State& state) {
  const Json pod = Pod();
  for (auto _ : state) benchmark::DoNotOptimize(Json(pod));
}
BENCHMARK(CopyPod);

}  // namespace
}  // namespace koord::kube
