// How fast pods are placed, without any I/O: every default and Koordinator plugin, every node
// considered, one thread.
#include <fmt/format.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>

#include "kube/json.h"
#include "scheduler/bench/core_driver.h"
#include "scheduler/bench/workloads.h"

namespace koord::scheduler {
namespace {

constexpr std::string_view kConfiguration = R"(
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: koord-scheduler
  plugins:
    preFilter:
      enabled: [{name: SchedulingHint}]
    filter:
      enabled: [{name: LoadAwareScheduling}]
    score:
      enabled:
      - {name: LoadAwareScheduling, weight: 1}
      - {name: NodeResourcesFitPlus, weight: 1}
      - {name: ScarceResourceAvoidance, weight: 1}
    reserve:
      enabled: [{name: LoadAwareScheduling}]
  pluginConfig:
  - name: NodeResourcesFitPlus
    args:
      apiVersion: kubescheduler.config.k8s.io/v1
      kind: NodeResourcesFitPlusArgs
      resources:
        cpu: {type: LeastAllocated, weight: 1}
        memory: {type: LeastAllocated, weight: 1}
        nvidia.com/gpu: {type: MostAllocated, weight: 2}
  - name: ScarceResourceAvoidance
    args:
      apiVersion: kubescheduler.config.k8s.io/v1
      kind: ScarceResourceAvoidanceArgs
      resources: [nvidia.com/gpu]
)";

struct Options {
  size_t nodes = 5000;
  std::optional<size_t> pods;
  std::optional<size_t> init_pods;
  uint64_t seed = 1;
};

struct Result {
  std::string workload;
  size_t nodes = 0;
  size_t pods = 0;
  size_t bound = 0;
  double seconds = 0;
  double p50_us = 0, p99_us = 0, max_us = 0;
  double max_rss_mib = 0;

  double pods_per_second() const { return static_cast<double>(bound) / seconds; }
};

double MaxRssMib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

double At(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  return sorted[std::min(sorted.size() - 1,
                         static_cast<size_t>(share * static_cast<double>(sorted.size())))];
}

StatusOr<Result> Run(const Workload& workload, const Options& options) {
  ASSIGN_OR_RETURN(auto driver, CoreDriver::Make(kConfiguration, options.seed));
  std::vector<kube::Node> nodes;
  for (size_t i = 0; i < options.nodes; ++i) {
    nodes.push_back(workload.node(i));
    driver->ledger().SetNode(std::make_shared<const kube::Node>(nodes.back()));
  }
  if (workload.objects) workload.objects(driver->objects(), nodes);
  const size_t init = options.init_pods.value_or(workload.default_init_pods);
  for (size_t i = 0; i < init; ++i) {
    driver->Add(std::make_shared<const kube::Pod>(workload.init_pod(i)));
    driver->TryNext();
  }
  if (driver->bound() != init) {
    return FailedPrecondition("only {} of {} pods fit before measuring", driver->bound(), init);
  }

  std::vector<std::shared_ptr<const kube::Pod>> pods;
  const size_t count = options.pods.value_or(workload.default_pods);
  for (size_t i = 0; i < count; ++i) {
    pods.push_back(std::make_shared<const kube::Pod>(workload.pod(i)));
  }
  const SystemClock clock;
  std::vector<double> latencies;
  latencies.reserve(count);
  const SteadyTime start = clock.Steady();
  for (const auto& pod : pods) {
    driver->Add(pod);
    const size_t bound = driver->bound();
    // Preemption takes two attempts: one that makes room and one that uses it.
    for (int attempt = 0; attempt < 2 && driver->bound() == bound; ++attempt) {
      const SteadyTime began = clock.Steady();
      if (!driver->TryNext()) break;
      latencies.push_back(static_cast<double>((clock.Steady() - began).count()) / 1000);
    }
  }
  const Duration took = clock.Steady() - start;
  std::ranges::sort(latencies);
  return Result{.workload = workload.name,
                .nodes = options.nodes,
                .pods = count,
                .bound = driver->bound() - init,
                .seconds = std::chrono::duration<double>(took).count(),
                .p50_us = At(latencies, 0.50),
                .p99_us = At(latencies, 0.99),
                .max_us = latencies.empty() ? 0 : latencies.back(),
                .max_rss_mib = MaxRssMib()};
}

kube::Json ToJson(const Result& result) {
  return {{"workload", result.workload},
          {"nodes", result.nodes},
          {"pods", result.pods},
          {"bound", result.bound},
          {"pods_per_second", result.pods_per_second()},
          {"p50_us", result.p50_us},
          {"p99_us", result.p99_us},
          {"max_us", result.max_us},
          {"max_rss_mib", result.max_rss_mib}};
}

int Main(int argc, char** argv) {
  CLI::App app{"Measures how fast pods are placed, without I/O, on one thread."};
  Options options;
  std::string name = "all";
  bool json = false;
  std::string names;
  for (const Workload& workload : Workloads()) {
    names += fmt::format("\n  {:<28} {}", workload.name, workload.description);
  }
  app.add_option("--nodes", options.nodes, "nodes of the cluster")->capture_default_str();
  app.add_option("--pods", options.pods, "pods to measure; the workload's own number if not given");
  app.add_option("--init-pods", options.init_pods, "pods that are there before");
  app.add_option("--workload", name, "one of these, or all:" + names)->capture_default_str();
  app.add_option("--seed", options.seed, "of the choice among equals")->capture_default_str();
  app.add_flag("--json", json, "print JSON, one object a line");
  CLI11_PARSE(app, argc, argv);

  std::vector<const Workload*> chosen;
  if (name == "all") {
    for (const Workload& workload : Workloads()) chosen.push_back(&workload);
  } else if (const Workload* workload = FindWorkload(name)) {
    chosen.push_back(workload);
  } else {
    fmt::print(stderr, "scheduler_bench: unknown workload \"{}\"; choose one of:{}\n", name, names);
    return 2;
  }
  if (!json) {
    fmt::print("{:<29}{:>7}{:>8}{:>12}{:>9}{:>9}{:>9}{:>8}\n", "WORKLOAD", "NODES", "BOUND",
               "PODS/S", "P50(us)", "P99(us)", "MAX(us)", "RSS(Mi)");
  }
  for (const Workload* workload : chosen) {
    const StatusOr<Result> result = Run(*workload, options);
    if (!result.ok()) {
      fmt::print(stderr, "scheduler_bench: {}: {}\n", workload->name, Message(result.status()));
      return 1;
    }
    if (json) {
      std::cout << kube::Serialize(ToJson(*result)) << std::endl;
      continue;
    }
    fmt::print("{:<29}{:>7}{:>8}{:>12.0f}{:>9.1f}{:>9.1f}{:>9.1f}{:>8.0f}\n", result->workload,
               result->nodes, result->bound, result->pods_per_second(), result->p50_us,
               result->p99_us, result->max_us, result->max_rss_mib);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace koord::scheduler

int main(int argc, char** argv) { return koord::scheduler::Main(argc, argv); }
