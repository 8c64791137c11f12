#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/virtual_loop.h"
#include "koordlet/app/koordlet.h"
#include "koordlet/testing/large_machine.h"
#include "koordlet/testing/test_pod.h"
#include "kube/client/in_process_transport.h"
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

inline KoordletOptions BusyOptions() {
  KoordletOptions options;
  options.node_name = "n";
  options.ask_kubelet_config = false;
  (void)options.gates.Set("CgroupReconcile=true,SystemConfig=true,PSICollector=true");
  return options;
}

}  // namespace koord::koordlet
