// How fast reviews are answered: by the handler alone, from the body of the request to that of the
// answer, and over TLS on the loopback, client and server on one thread.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/asio_loop.h"
#include "kube/serving/http_server.h"
#include "kube/serving/x509.h"
#include "kube/transport/http_transport.h"
#include "manager/webhook/review/fake_view_testing.h"
#include "manager/webhook/server/webhook_handler.h"
#include "program/ask_testing.h"

namespace koord::manager::webhook {
namespace {

// As a Deployment's pod arrives at a webhook of a real cluster.
constexpr char kPod[] = R"(
apiVersion: v1
kind: Pod
metadata:
  generateName: web-7d4b9c6f5-
  creationTimestamp: null
  labels: {app: job, pod-template-hash: 7d4b9c6f5, team: search}
  annotations: {prometheus.io/scrape: "true", prometheus.io/port: "8080"}
  ownerReferences:
  - {apiVersion: apps/v1, kind: ReplicaSet, name: web-7d4b9c6f5, uid: 0c5e8a0e-5b7c-4d11-9c57-1f2d3c4b5a69, controller: true, blockOwnerDeletion: true}
spec:
  volumes:
  - {name: config, configMap: {name: web, defaultMode: 420}}
  - name: kube-api-access-x7x2p
    projected:
      defaultMode: 420
      sources:
      - serviceAccountToken: {expirationSeconds: 3607, path: token}
      - configMap: {name: kube-root-ca.crt, items: [{key: ca.crt, path: ca.crt}]}
  initContainers:
  - {name: init, image: "registry.example.com/init:1.2", command: [sh, -c, "cp -r /src /dst"], resources: {requests: {cpu: 100m, memory: 128Mi}, limits: {cpu: 100m, memory: 128Mi}}}
  containers:
  - name: main
    image: registry.example.com/web:3.4.5
    args: [--port=8080, --workers=4]
    env: [{name: A, value: "1"}, {name: B, value: "2"}, {name: NODE, valueFrom: {fieldRef: {apiVersion: v1, fieldPath: spec.nodeName}}}]
    ports: [{containerPort: 8080, protocol: TCP, name: http}]
    resources: {requests: {cpu: 500m, memory: 1Gi}, limits: {cpu: "1", memory: 2Gi}}
    livenessProbe: {httpGet: {path: /healthz, port: 8080, scheme: HTTP}, timeoutSeconds: 1, periodSeconds: 10}
    volumeMounts: [{name: config, mountPath: /etc/web}, {name: kube-api-access-x7x2p, readOnly: true, mountPath: /var/run/secrets/kubernetes.io/serviceaccount}]
  - name: sidecar
    image: registry.example.com/proxy:1.0
    resources: {requests: {cpu: 50m, memory: 64Mi}, limits: {cpu: 200m, memory: 128Mi}}
  restartPolicy: Always
  serviceAccountName: default
  schedulerName: default-scheduler
  priority: 0
  tolerations:
  - {key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 300}
  - {key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 300}
)";

struct Handlers {
  Handlers() {
    for (int i = 0; i < 20; ++i) {  // most profiles are for others
      view.profile_set.Set(Read<api::ClusterColocationProfile>(fmt::format(
          "{{metadata: {{name: other-{}}}, spec: {{selector: {{matchLabels: {{app: other-{}}}}}, "
          "namespaceSelector: {{matchLabels: {{team: x}}}}, qosClass: BE}}}}",
          i, i)));
    }
    view.profile_set.Set(Read<api::ClusterColocationProfile>(
        "{metadata: {name: batch}, spec: {namespaceSelector: {matchLabels: {batch: 'true'}}, "
        "selector: {matchLabels: {app: job}}, qosClass: BE, priorityClassName: koord-batch, "
        "schedulerName: koord-scheduler, labels: {a: b}, patch: {spec: {terminationGracePeriod"
        "Seconds: 30}}}}"));
    view.namespaces["default"] = {{"batch", "true"}};
    view.priority_classes["koord-batch"] =
        Read<kube::PriorityClass>("{metadata: {name: koord-batch}, value: 5500}");
  }

  static std::string Review() {
    return kube::Serialize({{"apiVersion", "admission.k8s.io/v1"},
                            {"kind", "AdmissionReview"},
                            {"request",
                             {{"uid", "705ab4f5-6393-11e8-b7cc-42010a800002"},
                              {"operation", "CREATE"},
                              {"namespace", "default"},
                              {"resource", {{"group", ""}, {"resource", "pods"}}},
                              {"userInfo", {{"username", "system:serviceaccount:kube-system:rs"}}},
                              {"object", Yaml(kPod)},
                              {"options", {{"kind", "CreateOptions"}}}}}});
  }

  FakeView view;
  SystemClock clock;
  metrics::Registry registry;
  WebhookHandler handler{{.view = view, .clock = clock, .metrics = registry}, {}};
};

void BM_Handler(benchmark::State& state, const char* path) {
  Handlers handlers;
  const std::string body = Handlers::Review();
  for (auto _ : state) {
    const auto recorder = std::make_shared<program::Recorder>();
    kube::HttpRequest request{.method = "POST", .target = path, .body = body};
    request.headers.Set("Content-Type", "application/json");
    handlers.handler.Handle(std::move(request), recorder);
    if (recorder->answer->status != 200) state.SkipWithError("not answered");
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["body_bytes"] = static_cast<double>(body.size());
}
BENCHMARK_CAPTURE(BM_Handler, mutate, "/mutate-pod");
BENCHMARK_CAPTURE(BM_Handler, validate, "/validate-pod");

// Keeps a number of requests under way and notes how long each takes.
class Load {
 public:
  Load(AsioLoop& loop, kube::Transport& transport, std::string body)
      : loop_(loop), transport_(transport), body_(std::move(body)) {}

  void Run(size_t requests, size_t at_once) {
    left_ = requests;
    pending_ = requests;
    for (size_t i = 0; i < at_once; ++i) Send();
    while (pending_ > 0) loop_.RunOnce(std::chrono::seconds(1));
  }
  double Percentile(double share) {
    std::sort(times_.begin(), times_.end());
    return times_.empty() ? 0 : times_[static_cast<size_t>(share * (times_.size() - 1))];
  }
  bool failed() const { return failed_; }

 private:
  void Send() {
    if (left_ == 0) return;
    --left_;
    kube::HttpRequest request{.method = "POST", .target = "/mutate-pod", .body = body_};
    request.headers.Set("Content-Type", "application/json");
    const SteadyTime start = loop_.clock().Steady();
    transport_.Send(
        std::move(request), std::chrono::seconds(10),
        [this, start](StatusOr<kube::HttpResponse> answer) {
          failed_ |= !answer.ok() || answer->status != 200;
          times_.push_back(
              std::chrono::duration<double, std::milli>(loop_.clock().Steady() - start).count());
          --pending_;
          Send();
        });
  }

  AsioLoop& loop_;
  kube::Transport& transport_;
  const std::string body_;
  size_t left_ = 0, pending_ = 0;
  bool failed_ = false;
  std::vector<double> times_;
};

void BM_OverTls(benchmark::State& state) {
  Handlers handlers;
  AsioLoop loop;
  const WallTime now = loop.clock().Now();
  const auto pair = kube::IssueCertificate({.use = kube::CertificateUse::kServer,
                                            .common_name = "localhost",
                                            .names = {"127.0.0.1"},
                                            .from = now - std::chrono::hours(1),
                                            .until = now + std::chrono::hours(1)},
                                           nullptr);
  const auto server = kube::HttpServer::Start(
      loop, {.tls = kube::TlsIdentity{.certificate = pair->certificate, .key = pair->key}},
      handlers.handler);
  kube::ClientConfig config;
  config.server = (*server)->url();
  config.ca_data = pair->certificate;
  const auto transport = *kube::HttpTransport::Make(loop, config);
  const std::string body = Handlers::Review();
  const auto at_once = static_cast<size_t>(state.range(0));
  constexpr size_t kRequests = 2000;
  { Load(loop, *transport, body).Run(100, at_once); }  // connections are made
  double p50 = 0, p99 = 0;
  for (auto _ : state) {
    Load load(loop, *transport, body);
    load.Run(kRequests, at_once);
    if (load.failed()) state.SkipWithError("not answered");
    p50 = load.Percentile(0.5);
    p99 = load.Percentile(0.99);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kRequests));
  state.counters["p50_ms"] = p50;
  state.counters["p99_ms"] = p99;
}
BENCHMARK(BM_OverTls)->Arg(1)->Arg(4)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace koord::manager::webhook
