#include "base/fuzz.h"
#include "koordlet/reporters/topology_report.h"

// The kubelet's cpu_manager_state is half written now and then: a report, or a reason why not.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace koord::koordlet;
  CpuInfo cpu;
  std::vector<koord::model::Processor> processors;
  for (int32_t i = 0; i < 8; ++i) processors.push_back({i, i / 2, i / 4, i / 4});
  cpu.topology = processors;
  const std::vector<NumaNode> numa{{.id = 0, .memory_total = 1 << 30},
                                   {.id = 1, .memory_total = 1 << 30}};
  KubeletConfig kubelet;
  kubelet.cpu_manager_policy = "static";
  const auto report = BuildTopologyReport({.node = {},
                                           .cpu = cpu,
                                           .numa = numa,
                                           .pods = {},
                                           .kubelet = &kubelet,
                                           .cpu_manager_state = koord::FuzzText(data, size)});
  FUZZ_ASSERT(report.ok() ? report->zones.size() == 2 : !report.status().message().empty());
  return 0;
}
