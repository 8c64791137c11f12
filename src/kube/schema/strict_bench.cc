#include "kube/schema/strict.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

namespace koord::kube {
namespace {

// About 1.5 KB, as a ReplicaSet makes it.
constexpr std::string_view kPod =
    R"({"apiVersion":"v1","kind":"Pod","metadata":{"generateName":"web-7d4b9c6f5-","namespace":"default","labels":{"app":"web","pod-template-hash":"7d4b9c6f5","tier":"frontend"},"annotations":{"koordinator.sh/qosClass":"LS"},"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web-7d4b9c6f5","uid":"0b3a1f0e-6b7c-4e6d-9b51-3b0c7a5e1f2d","controller":true,"blockOwnerDeletion":true}]},"spec":{"containers":[{"name":"web","image":"registry.example/web:1.2.3","args":["--port=8080","--verbose"],"ports":[{"name":"http","containerPort":8080,"protocol":"TCP"}],"env":[{"name":"MODE","value":"production"},{"name":"POD_NAME","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}}],"resources":{"requests":{"cpu":"500m","memory":"512Mi"},"limits":{"cpu":"1","memory":"1Gi"}},"volumeMounts":[{"name":"data","mountPath":"/data"}],"livenessProbe":{"httpGet":{"path":"/healthz","port":8080},"periodSeconds":10},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent"}],"volumes":[{"name":"data","emptyDir":{"sizeLimit":"1Gi"}}],"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","serviceAccountName":"default","schedulerName":"koord-scheduler","priorityClassName":"koord-prod","tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300},{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}]},"status":{}})";

void ConformPod(benchmark::State& state) {
  const Type& type = *FindBuiltinType("v1", "Pod");
  Json pod = *ParseJson(kPod);
  ReportedFields unknown;
  for (auto _ : state) {
    if (!Conform(type, pod, unknown).ok()) state.SkipWithError("not a pod");
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * kPod.size()));
}
BENCHMARK(ConformPod);

void FindDuplicates(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(FindDuplicateFields(kPod));
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * kPod.size()));
}
BENCHMARK(FindDuplicates);

std::string WithMembers(benchmark::State& state, std::string_view member) {
  std::string text = R"({"kind":"Pod","metadata":{)";
  for (int64_t i = 0; i < state.range(0); ++i) text += fmt::format(fmt::runtime(member), i) + ",";
  state.SetComplexityN(state.range(0));
  return text + R"("name":"p"}})";
}

// Hostile bodies: the time must grow as their size does.
void ConformUnknown(benchmark::State& state) {
  const Type& type = *FindBuiltinType("v1", "Pod");
  const Json document = *ParseJson(WithMembers(state, R"("unknown{}":1)"));
  for (auto _ : state) {
    Json copy = document;
    ReportedFields unknown;
    if (!Conform(type, copy, unknown).ok()) state.SkipWithError("not a pod");
  }
}
BENCHMARK(ConformUnknown)->RangeMultiplier(4)->Range(1 << 10, 1 << 16)->Complexity(benchmark::oN);

void FindManyDuplicates(benchmark::State& state) {
  const std::string text = WithMembers(state, R"("key{0}":1,"key{0}":2)");
  for (auto _ : state) benchmark::DoNotOptimize(FindDuplicateFields(text));
}
BENCHMARK(FindManyDuplicates)
    ->RangeMultiplier(4)
    ->Range(1 << 10, 1 << 16)
    ->Complexity(benchmark::oN);

// For comparison: what reading the text costs in the first place.
void ParsePod(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(ParseJson(kPod));
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * kPod.size()));
}
BENCHMARK(ParsePod);

}  // namespace
}  // namespace koord::kube
