#include <benchmark/benchmark.h>

#include "kube/schema/type.h"
#include "kube/time.h"
#include "localcluster/apiserver/apply/managed_fields.h"

namespace koord::apiserver {
namespace {

using kube::Json;

// A pod as it is after defaulting.
const Json& Pod() {
  static const Json pod = kube::ParseJson(R"({
    "apiVersion": "v1", "kind": "Pod",
    "metadata": {"name": "web-0", "namespace": "default", "generateName": "web-",
                 "labels": {"app": "web", "tier": "front", "pod-template-hash": "5d4f"},
                 "annotations": {"koordinator.sh/qosClass": "LS"},
                 "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web",
                                      "uid": "0b6c", "controller": true, "blockOwnerDeletion": true}]},
    "spec": {
      "containers": [{
        "name": "web", "image": "nginx:1.25", "imagePullPolicy": "IfNotPresent",
        "ports": [{"containerPort": 80, "protocol": "TCP", "name": "http"}],
        "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
        "resources": {"requests": {"cpu": "500m", "memory": "1Gi"}, "limits": {"cpu": "1", "memory": "2Gi"}},
        "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
        "volumeMounts": [{"name": "data", "mountPath": "/data"}]}],
      "volumes": [{"name": "data", "emptyDir": {}}],
      "restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "schedulerName": "koord-scheduler",
      "securityContext": {}, "terminationGracePeriodSeconds": 30, "enableServiceLinks": true,
      "serviceAccountName": "default", "serviceAccount": "default", "priority": 9000,
      "priorityClassName": "koord-prod", "nodeSelector": {"pool": "a"},
      "tolerations": [{"key": "x", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}]},
    "status": {"phase": "Pending", "qosClass": "Burstable"}})")
                              .value();
  return pod;
}

const FieldSchema& PodSchema() { return FieldSchema::Of(kube::FindBuiltinType("v1", "Pod")); }

FieldWriter Writer(std::string_view manager, std::string_view subresource = {}) {
  return {manager, "v1", subresource, kube::ParseTime("2026-07-01T10:00:00Z").value()};
}

void BM_TrackPodCreate(benchmark::State& state) {
  const FieldSchema& schema = PodSchema();
  const FieldWriter writer = Writer("kubectl-create");
  for (auto _ : state) {
    state.PauseTiming();
    Json pod = Pod();
    state.ResumeTiming();
    TrackUpdate(nullptr, pod, writer, schema);
    benchmark::DoNotOptimize(pod);
    state.PauseTiming();
    pod = nullptr;
    state.ResumeTiming();
  }
}
BENCHMARK(BM_TrackPodCreate);

// The usual update: something sets one condition on an object that has an owner already.
void BM_TrackPodStatusUpdate(benchmark::State& state) {
  const FieldSchema& schema = PodSchema();
  Json live = Pod();
  TrackUpdate(nullptr, live, Writer("kubectl-create"), schema);
  Json updated = live;
  kube::At(updated, {"status", "conditions"}) =
      kube::ParseJson(R"([{"type": "Ready", "status": "True"}])").value();
  for (auto _ : state) {
    state.PauseTiming();
    Json pod = updated;
    state.ResumeTiming();
    TrackUpdate(&live, pod, Writer("kubelet", "status"), schema);
    benchmark::DoNotOptimize(pod);
    state.PauseTiming();
    pod = nullptr;
    state.ResumeTiming();
  }
}
BENCHMARK(BM_TrackPodStatusUpdate);

void BM_NoChange(benchmark::State& state) {
  Json live = Pod();
  TrackUpdate(nullptr, live, Writer("kubectl-create"), PodSchema());
  const Json updated = live;
  for (auto _ : state) benchmark::DoNotOptimize(UnchangedButForTimes(live, updated));
}
BENCHMARK(BM_NoChange);

}  // namespace
}  // namespace koord::apiserver
