#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "cli/cli.h"
#include "cli/scenario/live_environment.h"
#include "cli/scenario/report.h"
#include "cli/scenario/suite.h"
#include "cli/scenario/virtual_environment.h"
#include "cli/terminal.h"

namespace koord::cli {
namespace {

using namespace scenario;

struct TestOptions {
  std::vector<std::string> paths;
  bool verbose = false;
  std::string junit;
  std::string kubeconfig;
};

Outcome ErrorOutcome(const Status& status) {
  return {Outcome::Kind::kError, {std::string(Message(status))}};
}

Outcome RunVirtual(const Scenario& scenario, const Progress& progress) {
  auto environment = VirtualEnvironment::Start(scenario);
  if (!environment.ok()) return ErrorOutcome(environment.status());
  return RunScenario(scenario, **environment, progress);
}

Outcome RunIn(LiveEnvironment& environment, const Scenario& scenario, const Progress& progress) {
  const auto reason = environment.WhyNot(scenario);
  if (!reason.ok()) return ErrorOutcome(reason.status());
  if (*reason) return {Outcome::Kind::kSkipped, {**reason}};
  if (Status status = environment.MakeNamespace(); !status.ok()) return ErrorOutcome(status);
  return RunScenario(scenario, environment, progress);
}

Outcome RunLive(const std::string& kubeconfig, const Scenario& scenario, const Progress& progress,
                bool& interrupted) {
  auto environment = LiveEnvironment::Connect(kubeconfig);
  if (!environment.ok()) return ErrorOutcome(environment.status());
  Outcome outcome = RunIn(**environment, scenario, progress);
  interrupted = (*environment)->interrupted();
  if (interrupted) outcome = ErrorOutcome(absl::CancelledError("interrupted"));
  if (Status status = (*environment)->CleanUp(); !status.ok()) {
    if (outcome.kind == Outcome::Kind::kPassed) outcome.kind = Outcome::Kind::kError;
    outcome.report.push_back(fmt::format("clean-up: {}", Message(status)));
  }
  return outcome;
}

Result RunOne(const TestOptions& options, const Scenario& scenario, const Clock& clock,
              bool& interrupted) {
  Result result{scenario.file, scenario.name, scenario.line, {}, {}};
  const SteadyTime start = clock.Steady();
  const Progress progress = [&](const std::string& step) {
    if (options.verbose) std::fprintf(stderr, "  %s\n", step.c_str());
  };
  result.outcome = options.kubeconfig.empty()
                       ? RunVirtual(scenario, progress)
                       : RunLive(options.kubeconfig, scenario, progress, interrupted);
  result.elapsed = clock.Steady() - start;
  return result;
}

int ExitCode(const std::vector<Result>& results) {
  int code = kOk;
  for (const Result& result : results) {
    if (result.outcome.kind == Outcome::Kind::kError) return kCluster;
    if (result.outcome.kind == Outcome::Kind::kFailed) code = kFailed;
  }
  return code;
}

bool WriteJunit(const std::string& path, const std::string& xml) {
  std::ofstream file(path, std::ios::binary);
  file << xml;
  file.close();
  if (file) return true;
  std::fprintf(stderr, "koord test: %s cannot be written\n", path.c_str());
  return false;
}

int Run(const TestOptions& options) {
  const auto files = FindScenarioFiles(options.paths);
  const auto scenarios =
      files.ok() ? LoadScenarios(*files) : StatusOr<std::vector<Scenario>>(files.status());
  if (!scenarios.ok()) {
    std::fprintf(stderr, "koord test: %s\n", std::string(Message(scenarios.status())).c_str());
    return kUsage;
  }
  if (!options.verbose) log::SetSink([](std::string_view) {});
  const SystemClock clock;
  const SteadyTime start = clock.Steady();
  std::vector<Result> results;
  bool interrupted = false;
  for (const Scenario& scenario : *scenarios) {
    if (interrupted) break;
    results.push_back(RunOne(options, scenario, clock, interrupted));
    std::printf("%s\n", FormatResult(results.back(), UseColor(stdout)).c_str());
    std::fflush(stdout);
  }
  const Duration elapsed = clock.Steady() - start;
  std::printf("%s\n", FormatSummary(results, elapsed).c_str());
  if (!options.junit.empty() && !WriteJunit(options.junit, FormatJunit(results, elapsed))) {
    return kUsage;
  }
  return interrupted ? kInterrupted : ExitCode(results);
}

}  // namespace

Command TestCommand(CLI::App& root) {
  CLI::App* app = root.add_subcommand(
      "test", "run scenarios, each in a fresh in-process cluster on a virtual clock");
  app->footer(
      "  koord test tests/scenarios\n"
      "  koord test -v --junit report.xml web.yaml\n"
      "  koord test --kubeconfig ~/.kube/config web.yaml     # on a live cluster\n\n"
      "Exit code 1: an expectation failed; 2: a file is wrong; 3: the cluster failed.");
  auto options = std::make_shared<TestOptions>();
  app->add_option("paths", options->paths, "scenario files, or folders to search for *.yaml")
      ->required();
  app->add_flag("-v,--verbose", options->verbose, "show steps and component logs");
  app->add_option("--junit", options->junit, "also write the results as JUnit XML to this file");
  app->add_option("--kubeconfig", options->kubeconfig,
                  "run against this cluster, in a throw-away namespace and in real time");
  return {app, [options] { return Run(*options); }};
}

}  // namespace koord::cli
