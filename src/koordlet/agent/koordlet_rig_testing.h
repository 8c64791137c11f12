#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/virtual_loop.h"
#include "koordlet/agent/koordlet.h"
#include "koordlet/testing/large_machine.h"
#include "koordlet/testing/test_pod.h"
#include "kube/transport/in_process_transport.h"
#include "kube/yaml.h"

namespace koord::koordlet {

// Takes whatever it is told, and forgets it.
class SilentCluster final : public kube::HttpHandler {
 public:
  void Handle(kube::HttpRequest, std::shared_ptr<kube::ResponseWriter> response) override {
    ++requests;
    response->Finish({200, {}, "{}"});
  }
  size_t requests = 0;
};

// Takes whatever it is told, and remembers it.
class RecordingCluster final : public kube::HttpHandler {
 public:
  void Handle(kube::HttpRequest request, std::shared_ptr<kube::ResponseWriter> response) override {
    requests.push_back(request.method + " " + request.target);
    bodies.push_back(std::move(request.body));
    response->Finish({200, {}, "{}"});
  }
  std::vector<std::string> requests;
  std::vector<std::string> bodies;
};

// A node of eight processors, and two pods that compete for them.
inline constexpr char kNode[] = R"(
metadata: {name: n, uid: node-uid}
status:
  addresses: [{type: InternalIP, address: 10.0.0.1}]
  daemonEndpoints: {kubeletEndpoint: {Port: 10250}}
  capacity: {cpu: "8", memory: 32Gi, pods: "110"}
  allocatable: {cpu: "8", memory: 32Gi, pods: "110"}
)";
inline constexpr MachineShape kShape = {.sockets = 1, .nodes = 1, .cores = 4, .threads = 2};
inline constexpr char kService[] = R"(
metadata: {name: service, labels: {koordinator.sh/qosClass: LS}}
spec:
  containers:
  - {name: main, resources: {requests: {cpu: "1", memory: 1Gi}, limits: {cpu: "2", memory: 2Gi}}}
status: {qosClass: Burstable}
)";
inline constexpr char kBatch[] = R"(
metadata: {name: batch, labels: {koordinator.sh/qosClass: BE}}
spec:
  containers:
  - name: main
    resources:
      requests: {kubernetes.io/batch-cpu: "4000", kubernetes.io/batch-memory: 4Gi}
      limits: {kubernetes.io/batch-cpu: "4000", kubernetes.io/batch-memory: 4Gi}
status: {qosClass: BestEffort}
)";

inline std::shared_ptr<const api::NodeSlo> NodeSloOf(std::string_view spec) {
  auto slo = std::make_shared<api::NodeSlo>();
  slo->metadata.name = "n";
  slo->spec = *kube::Decode<api::NodeSloSpec>(*kube::ParseYaml(spec));
  return slo;
}

// A strategy of each kind, as an administrator would switch them on.
inline constexpr char kBusySlo[] = R"(
resourceUsedThresholdWithBE: {enable: true, cpuSuppressThresholdPercent: 65}
cpuBurstStrategy: {policy: auto}
resourceQOSStrategy:
  lsrClass: {cpuQOS: {enable: true}, memoryQOS: {enable: true, minLimitPercent: 50}}
  lsClass:
    cpuQOS: {enable: true}
    memoryQOS: {enable: true, minLimitPercent: 50, throttlingPercent: 90}
    resctrlQOS: {enable: true, catRangeEndPercent: 80}
  beClass:
    cpuQOS: {enable: true}
    memoryQOS: {enable: true, throttlingPercent: 80}
    resctrlQOS: {enable: true, catRangeEndPercent: 30, mbaPercent: 30}
systemStrategy: {watermarkScaleFactor: 150}
)";

// A pod of three containers, every third of them best-effort.
inline std::shared_ptr<const kube::Pod> PodOfThree(int number) {
  const bool be = number % 3 == 0;
  const std::string_view resources =
      be ? "{requests: {kubernetes.io/batch-cpu: 500, kubernetes.io/batch-memory: 64Mi},"
           " limits: {kubernetes.io/batch-cpu: 500, kubernetes.io/batch-memory: 64Mi}}"
         : "{requests: {cpu: 100m, memory: 64Mi}, limits: {cpu: 200m, memory: 128Mi}}";
  return TestPod(fmt::format(R"(
metadata: {{name: p{0}, labels: {{koordinator.sh/qosClass: {1}}}}}
spec:
  containers:
  - {{name: a, resources: {2}}}
  - {{name: b, resources: {2}}}
  - {{name: c, resources: {2}}}
)",
                             number, be ? "BE" : "LS", resources));
}

inline KoordletOptions PlainOptions() {
  KoordletOptions options;
  options.node_name = "n";
  options.ask_kubelet_config = false;
  return options;
}

inline KoordletOptions BusyOptions() {
  KoordletOptions options = PlainOptions();
  (void)options.gates.Set("CgroupReconcile=true,SystemConfig=true,PSICollector=true");
  return options;
}

// All that koordlet waits for before it measures; of pods only where the test tells of them.
inline void TellOfNode(Koordlet& koordlet, std::shared_ptr<const kube::Node> node,
                       std::string_view slo) {
  koordlet.OnNode(std::move(node));
  koordlet.OnNodeSlo(NodeSloOf(slo));
  koordlet.OnTopology(nullptr);
}

}  // namespace koord::koordlet
