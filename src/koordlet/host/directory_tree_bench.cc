// What it costs to read the files of a full node: 110 pods with three containers each, three files
// in each of their directories.
#include <benchmark/benchmark.h>
#include <stdlib.h>

#include <filesystem>
#include <string>
#include <vector>

#include "koordlet/host/discovery.h"
#include "koordlet/host/open_file_limit.h"
#include "koordlet/testing/test_host.h"
#include "koordlet/testing/test_pod.h"

namespace koord::koordlet {
namespace {

constexpr int kPods = 110;

// A machine on a file system in memory.
class FullNode {
 public:
  explicit FullNode(CgroupVersion version) {
    RaiseOpenFileLimit();
    TestHost machine({.version = version});
    for (int i = 0; i < kPods; ++i) {
      const auto pod =
          TestPod(fmt::format("metadata: {{name: pod-{}}}\nspec: {{containers: [{{name: a}}, "
                              "{{name: b}}, {{name: c}}]}}",
                              i));
      machine.AddPod(*pod);
      dirs.push_back(machine.PodDir(*pod));
      for (const char* name : {"a", "b", "c"}) dirs.push_back(machine.ContainerDir(*pod, name));
    }
    for (const CgroupDir& dir : dirs) machine.UseCpu(dir, std::chrono::seconds(1));
    std::string path = "/dev/shm/koord-bench-XXXXXX";
    root_ = mkdtemp(path.data());
    machine.WriteTo(root_).IgnoreError();
    host = DiscoverHost(HostPaths::Below(root_)).value();
  }
  ~FullNode() { std::filesystem::remove_all(root_); }

  std::vector<CgroupDir> dirs;
  std::unique_ptr<Host> host;

 private:
  std::string root_;
};

constexpr CgroupFile kFiles[] = {CgroupFile::kCpuUsage, CgroupFile::kCpuStat,
                                 CgroupFile::kMemoryStat};

int64_t ParseAs(CgroupFile file, std::string_view text, CgroupVersion version) {
  switch (file) {
    case CgroupFile::kCpuUsage:
      return ParseCpuUsage(text, version).value_or(0);
    case CgroupFile::kCpuStat:
      return ParseCpuStat(text).value_or(CpuStat()).periods;
    default:
      return ParseMemoryStat(text, version).value_or(MemoryStat()).active_anon;
  }
}

CgroupVersion VersionOf(const benchmark::State& state) {
  return state.range(0) == 1 ? CgroupVersion::kV1 : CgroupVersion::kV2;
}

void BM_ReadOpenFiles(benchmark::State& state) {
  const CgroupVersion version = VersionOf(state);
  const FullNode node(version);
  std::vector<std::pair<CgroupFile, std::unique_ptr<OpenFile>>> files;
  for (const CgroupDir& dir : node.dirs) {
    for (const CgroupFile file : kFiles) {
      files.emplace_back(file, node.host->cgroups().Open(file, dir).value());
    }
  }
  std::string buffer;
  int64_t sum = 0;
  for (auto _ : state) {
    for (const auto& [file, open] : files)
      sum += ParseAs(file, open->Read(buffer).value(), version);
  }
  benchmark::DoNotOptimize(sum);
  state.counters["files"] = static_cast<double>(files.size());
}
BENCHMARK(BM_ReadOpenFiles)->Arg(1)->Arg(2)->Unit(benchmark::kMicrosecond);

void BM_OpenAndReadFiles(benchmark::State& state) {
  const CgroupVersion version = VersionOf(state);
  const FullNode node(version);
  int64_t sum = 0;
  for (auto _ : state) {
    for (const CgroupDir& dir : node.dirs) {
      for (const CgroupFile file : kFiles) {
        sum += ParseAs(file, node.host->cgroups().Read(file, dir).value(), version);
      }
    }
  }
  benchmark::DoNotOptimize(sum);
}
BENCHMARK(BM_OpenAndReadFiles)->Arg(1)->Arg(2)->Unit(benchmark::kMicrosecond);

void BM_ReadCpuInfo(benchmark::State& state) {
  const FullNode node(CgroupVersion::kV2);
  for (auto _ : state) benchmark::DoNotOptimize(node.host->ReadCpuInfo());
}
BENCHMARK(BM_ReadCpuInfo)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace koord::koordlet
