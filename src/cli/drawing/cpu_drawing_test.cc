#include "cli/drawing/cpu_drawing.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"

namespace koord::cli::cpu_drawing_test {
namespace {

using ::testing::HasSubstr;

// Sockets with one NUMA node each, threads of a core side by side.
kube::Json Machine(int64_t sockets, int64_t cores, std::string_view more) {
  kube::json::object details;
  int64_t cpu = 0;
  for (int64_t socket = 0; socket < sockets; ++socket) {
    for (int64_t core = 0; core < cores; ++core) {
      for (int thread = 0; thread < 2; ++thread, ++cpu) {
        details[std::to_string(cpu)] = kube::json::object{{"cpuID", cpu},
                                                          {"coreID", socket << 16 | core},
                                                          {"nodeID", socket},
                                                          {"socketID", socket}};
      }
    }
  }
  kube::Json node = kube::ParseJson(fmt::format("{{\"name\": \"n\"{}}}", more)).value();
  node.as_object()["cpuTopology"] = kube::json::object{{"numCPUs", cpu},
                                                       {"numCores", sockets * cores},
                                                       {"numNodes", sockets},
                                                       {"numSockets", sockets},
                                                       {"cpuDetails", std::move(details)}};
  return node;
}

TEST(CpuDrawing, ShowsWhoHoldsWhat) {
  const kube::Json node = Machine(2, 4, R"(,
      "availableCPUs": "6-11", "reservedCPUs": "14-15", "numaTopologyPolicy": "SingleNUMANode",
      "numaNodeResources": [{"node": 0, "resources": {"cpu": "8", "memory": "16Gi"}}],
      "remainingNUMANodeResources": [{"node": 0, "resources": {"cpu": "2", "memory": "6Gi"}}],
      "allocatedPods": [
        {"namespace": "default", "name": "b", "cpuset": "4-5", "drawsFrom": "r"},
        {"namespace": "default", "name": "a", "cpuset": "0-3",
         "numaNodeResources": [{"node": 0, "resources": {"cpu": "4", "memory": "10Gi"}}]},
        {"namespace": "", "name": "uid", "reservation": "r", "cpuset": "4-5,12-13"},
        {"namespace": "default", "name": "shared",
         "numaNodeResources": [{"node": 0, "resources": {"cpu": "2"}}]}])");
  EXPECT_EQ(DrawCpus(node).value(),
            "n: 16 CPUs on 8 cores, 2 NUMA nodes, 2 sockets; 6 are nobody's own, 2 reserved\n"
            "NUMA topology policy SingleNUMANode\n"
            "socket 0\n"
            "  NUMA node 0: cpu 8, memory 16Gi; not given to pods: cpu 2, memory 6Gi\n"
            "    CPU 0     AA AA BB ..\n"
            "socket 1\n"
            "  NUMA node 1\n"
            "    CPU 8     .. .. CC ##\n"
            "\n"
            "  A default/a  CPUs 0-3, of NUMA node 0 cpu 4, memory 10Gi\n"
            "  B default/b of reservation r  CPUs 4-5\n"
            "  C reservation r  CPUs 4-5,12-13\n"
            "    default/shared  of NUMA node 0 cpu 2\n"
            "  . nobody's own, # kept by the system or the kubelet (14-15)\n");
}

TEST(CpuDrawing, LargeMachinesFitTheWidth) {
  std::string pods;
  for (int i = 0; i < 70; ++i) {
    pods += fmt::format(
        "{}{{\"namespace\": \"a-rather-long-namespace\", \"name\": "
        "\"a-rather-long-name-of-a-pod-{}\", "
        "\"cpuset\": \"{},{}\"}}",
        i == 0 ? "" : ", ", i, 2 * i, 2 * i + 1);
  }
  const auto drawn = DrawCpus(
      Machine(8, 32, fmt::format(", \"availableCPUs\": \"\", \"allocatedPods\": [{}]", pods)), 100);
  ASSERT_TRUE(drawn.ok()) << drawn.status();
  for (const std::string_view line : Split(*drawn, '\n')) EXPECT_LE(line.size(), 100u) << line;
  EXPECT_THAT(*drawn, HasSubstr("    CPU 32    QQ RR SS TT"));
  // There are more holders than letters.
  EXPECT_THAT(*drawn, HasSubstr("++ ++"));
}

TEST(CpuDrawing, SaysWhatIsMissing) {
  EXPECT_THAT(std::string(DrawCpus(kube::ParseJson("{}").value()).status().message()),
              HasSubstr("cpuTopology.cpuDetails: expected an object"));
}

}  // namespace
}  // namespace koord::cli::cpu_drawing_test
