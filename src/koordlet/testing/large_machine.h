#pragma once
#include <fmt/format.h>

#include <memory>

#include "koordlet/testing/test_host.h"
#include "koordlet/testing/test_pod.h"

// The node on which koordlet's cost is measured: large, with all kernel features that it can use.
namespace koord::koordlet {

inline constexpr int kLargeCpus = 64;

inline TestHost::Options LargeMachine(CgroupVersion version) {
  return {.version = version,
          .shape = {.sockets = 2, .nodes = 2, .cores = kLargeCpus / 2, .threads = 2},
          .memory = int64_t{256} << 30,
          .resctrl = ResctrlFlavour::kIntel,
          .anolis = true};
}

inline std::shared_ptr<const kube::Node> LargeNode(int cpus = kLargeCpus) {
  return TestNode(fmt::format(R"(
metadata: {{name: n, uid: node-uid}}
status:
  capacity: {{cpu: "{0}", memory: 256Gi, pods: "110"}}
  allocatable: {{cpu: "{0}", memory: 256Gi, pods: "110"}}
)",
                              cpus));
}

}  // namespace koord::koordlet
