#include <benchmark/benchmark.h>

#include "kube/objects/pod.h"

// What an informer pays for each object that it is told about.
namespace koord::kube {
namespace {

constexpr std::string_view kPod = R"({
  "apiVersion": "v1", "kind": "Pod",
  "metadata": {"name": "web-6d4cf56db6-x7k2p", "generateName": "web-6d4cf56db6-",
    "namespace": "default", "uid": "0b2b4e1f-2f0c-4a9e-9d51-0f6a3c1c2d11",
    "resourceVersion": "123456", "creationTimestamp": "2026-07-01T10:00:00Z",
    "labels": {"app": "web", "pod-template-hash": "6d4cf56db6", "koordinator.sh/qosClass": "LS"},
    "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-6d4cf56db6",
      "uid": "7f1f2b3c-58f7-4a53-a3c2-4f0c0f3d5a10", "controller": true,
      "blockOwnerDeletion": true}]},
  "spec": {"volumes": [{"name": "token", "projected": {"defaultMode": 420}}],
    "containers": [{"name": "web", "image": "nginx:1.27", "ports": [{"containerPort": 80}],
      "resources": {"requests": {"cpu": "500m", "memory": "512Mi"},
                    "limits": {"cpu": "1", "memory": "1Gi"}},
      "volumeMounts": [{"name": "token", "mountPath": "/var/run/secrets"}]}],
    "restartPolicy": "Always", "terminationGracePeriodSeconds": 30, "dnsPolicy": "ClusterFirst",
    "serviceAccountName": "default", "nodeName": "node-17", "securityContext": {},
    "schedulerName": "koord-scheduler", "priority": 9000, "priorityClassName": "koord-prod",
    "tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists",
      "effect": "NoExecute", "tolerationSeconds": 300},
      {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute",
       "tolerationSeconds": 300}]},
  "status": {"phase": "Running", "podIP": "10.0.3.7", "podIPs": [{"ip": "10.0.3.7"}],
    "startTime": "2026-07-01T10:00:02Z", "qosClass": "Burstable",
    "conditions": [{"type": "Ready", "status": "True",
                    "lastTransitionTime": "2026-07-01T10:00:05Z"},
                   {"type": "PodScheduled", "status": "True",
                    "lastTransitionTime": "2026-07-01T10:00:01Z"}],
    "containerStatuses": [{"name": "web", "ready": true, "restartCount": 0, "image": "nginx:1.27",
      "imageID": "sha256:abc", "containerID": "containerd://def", "started": true,
      "state": {"running": {"startedAt": "2026-07-01T10:00:04Z"}}, "lastState": {}}]}})";

void BM_DecodePod(benchmark::State& state) {
  const Json json = ParseJson(kPod).value();
  for (auto _ : state) benchmark::DoNotOptimize(Decode<Pod>(json));
}
BENCHMARK(BM_DecodePod);

void BM_ParsePod(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(ParseJson(kPod));
}
BENCHMARK(BM_ParsePod);

void BM_EncodePod(benchmark::State& state) {
  const Pod pod = Decode<Pod>(ParseJson(kPod).value()).value();
  for (auto _ : state) benchmark::DoNotOptimize(Encode(pod));
}
BENCHMARK(BM_EncodePod);

}  // namespace
}  // namespace koord::kube
