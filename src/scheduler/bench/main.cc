// How fast pods are placed, without any I/O: every default and Koordinator plugin, every node
// considered, one thread.
#include <fmt/format.h>
#include <sys/resource.h>
#include <time.h>

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
      enabled: [{name: SchedulingHint}, {name: Reservation}]
    filter:
      enabled: [{name: LoadAwareScheduling}, {name: Reservation}]
    score:
      enabled:
      - {name: LoadAwareScheduling, weight: 1}
      - {name: NodeResourcesFitPlus, weight: 1}
      - {name: ScarceResourceAvoidance, weight: 1}
      - {name: Reservation, weight: 5000}
    reserve:
      enabled: [{name: LoadAwareScheduling}, {name: Reservation}]
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

constexpr std::string_view kBeforePlugins = "    preFilter:";

// Enables a plugin wherever it has a part.
void Enable(std::string_view plugin, std::string& configuration) {
  configuration.insert(configuration.find(kBeforePlugins),
                       fmt::format("    multiPoint: {{enabled: [{{name: {}}}]}}\n", plugin));
}

struct Options {
  size_t nodes = 5000;
  std::optional<size_t> pods;
  std::optional<size_t> init_pods;
  uint64_t seed = 1;
  bool cpu_time = false;
};

// What the thread itself has worked: on a busy machine the only time that says anything.
class ThreadClock final : public Clock {
 public:
  WallTime Now() const override { return WallTime(Steady()); }
  SteadyTime Steady() const override {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  }
};

struct Result {
  std::string workload;
  size_t nodes = 0;
  size_t pods = 0;
  size_t bound = 0;
  double cpu_seconds = 0;
  double p50_us = 0, p99_us = 0, max_us = 0;
  double max_rss_mib = 0;

  double per_second() const { return static_cast<double>(pods) / cpu_seconds; }
};

// What this thread has used: a busy machine makes no difference.
double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

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

// A cluster as the workload wants it, before anything is measured.
StatusOr<std::unique_ptr<CoreDriver>> Prepare(const Workload& workload, const Options& options) {
  std::string configuration(kConfiguration);
  if (workload.numa) Enable("NodeNUMAResource", configuration);
  if (workload.devices) Enable("DeviceShare", configuration);
  if (workload.quotas) Enable("ElasticQuota", configuration);
  ASSIGN_OR_RETURN(auto driver, CoreDriver::Make(configuration, options.seed));
  std::vector<kube::Node> nodes;
  for (size_t i = 0; i < options.nodes; ++i) {
    nodes.push_back(workload.node(i));
    driver->ledger().SetNode(std::make_shared<const kube::Node>(nodes.back()));
  }
  if (workload.objects) workload.objects(driver->objects(), nodes);
  for (size_t i = 0; i < workload.reservations; ++i) {
    driver->SetReservation(std::make_shared<const api::Reservation>(workload.reservation(i)));
  }
  const size_t init = options.init_pods.value_or(workload.default_init_pods);
  for (size_t i = 0; i < init; ++i) {
    driver->Add(std::make_shared<const kube::Pod>(workload.init_pod(i)));
    driver->TryNext();
  }
  if (driver->bound() != init) {
    return FailedPrecondition("only {} of {} pods fit before measuring", driver->bound(), init);
  }
  for (size_t i = 0; i < workload.waiting_pods; ++i) {
    driver->Add(std::make_shared<const kube::Pod>(workload.waiting_pod(i)));
    driver->TryNext();
  }
  if (driver->bound() != init) {
    return FailedPrecondition("{} pods that should wait fit", driver->bound() - init);
  }
  for (size_t i = 0; i < std::min(workload.promised, nodes.size()); ++i) {
    driver->Nominate(std::make_shared<const kube::Pod>(workload.promised_pod(i)),
                     nodes[i].metadata.name);
  }
  return driver;
}

using Steps = std::vector<std::function<void()>>;

// Made before measuring, as the pods are.
Steps StepsOf(const Workload& workload, size_t count, CoreDriver& driver) {
  Steps steps;
  for (size_t i = 0; i < count; ++i) {
    if (workload.step) {
      steps.emplace_back([&, i] { workload.step(driver, i); });
      continue;
    }
    steps.emplace_back([&, pod = std::make_shared<const kube::Pod>(workload.pod(i))] {
      driver.Add(pod);
      const size_t bound = driver.bound();
      // Preemption takes two attempts: one that makes room and one that uses it.
      for (int attempt = 0; attempt < 2 && driver.bound() == bound; ++attempt) driver.TryNext();
    });
  }
  return steps;
}

StatusOr<Result> Run(const Workload& workload, const Options& options) {
  ASSIGN_OR_RETURN(const auto driver, Prepare(workload, options));
  const size_t bound_before = driver->bound();
  const size_t count = options.pods.value_or(workload.default_pods);
  const Steps steps = StepsOf(workload, count, *driver);
  const SystemClock wall;
  const ThreadClock thread;
  const Clock& clock = options.cpu_time ? static_cast<const Clock&>(thread) : wall;
  std::vector<double> latencies;
  latencies.reserve(count);
  const double start = CpuSeconds();
  for (const auto& step : steps) {
    const SteadyTime began = clock.Steady();
    step();
    latencies.push_back(static_cast<double>((clock.Steady() - began).count()) / 1000);
  }
  const double took = CpuSeconds() - start;
  std::ranges::sort(latencies);
  return Result{.workload = workload.name,
                .nodes = options.nodes,
                .pods = count,
                .bound = driver->bound() - bound_before,
                .cpu_seconds = took,
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
          {"pods_per_second", result.per_second()},
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
  app.add_flag("--cpu-time", options.cpu_time,
               "count the thread's CPU time instead of the time of day: for busy machines");
  app.add_flag("--json", json, "print JSON, one object per line");
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
    fmt::print("{:<29}{:>7}{:>8}{:>12}{:>11}{:>11}{:>11}{:>8}\n", "WORKLOAD", "NODES", "BOUND",
               "PER CPU S", "P50(us)", "P99(us)", "MAX(us)", "RSS(Mi)");
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
    fmt::print("{:<29}{:>7}{:>8}{:>12.0f}{:>11.1f}{:>11.1f}{:>11.1f}{:>8.0f}\n", result->workload,
               result->nodes, result->bound, result->per_second(), result->p50_us, result->p99_us,
               result->max_us, result->max_rss_mib);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace koord::scheduler

int main(int argc, char** argv) { return koord::scheduler::Main(argc, argv); }
