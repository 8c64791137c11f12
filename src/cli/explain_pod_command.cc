#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "cli/component_asker.h"
#include "cli/explain.h"
#include "scheduler/explain/explanation.h"

namespace koord::cli {
namespace {

struct ExplainPodOptions {
  ConnectionOptions connection;
  std::string pod;
  std::string ns = "default";
  ComponentAddress scheduler = SchedulerAddress();
  std::string output;
};

Status Print(const kube::Json& json, const std::string& output) {
  std::string text;
  if (output.empty()) {
    ASSIGN_OR_RETURN(const auto explanation, kube::Decode<scheduler::Explanation>(json));
    text = scheduler::FormatExplanation(explanation, TerminalWidth());
  } else {
    text = Structured(json, output);
  }
  std::fputs(text.c_str(), stdout);
  return absl::OkStatus();
}

int Run(const ExplainPodOptions& options) {
  const size_t slash = options.pod.find('/');
  const std::string ns = slash == std::string::npos ? options.ns : options.pod.substr(0, slash);
  const std::string name = slash == std::string::npos ? options.pod : options.pod.substr(slash + 1);
  auto connection = Connection::Open(options.connection);
  if (!connection.ok()) return FailExplain(connection.status(), kCluster);
  const auto answer = ComponentAsker(**connection, options.scheduler)
                          .AskForJson(fmt::format("/apis/v1/explain/pods/{}/{}", ns, name));
  if (!answer.ok()) return FailAsking(answer.status());
  const Status printed = Print(*answer, options.output);
  return printed.ok() ? kOk : FailExplain(printed, kCluster);
}

}  // namespace

Command ExplainPodCommand(CLI::App& explain) {
  CLI::App* app =
      explain.add_subcommand("pod", "why a pod is pending, or why it landed where it is");
  app->alias("pods")->alias("po");
  app->footer(
      "  koord explain pod default/web-0\n"
      "  koord explain pod web-0 -n shop -o yaml\n"
      "  koord explain pod web-0 --scheduler https://127.0.0.1:10259 "
      "--scheduler-certificate-authority ca.crt");
  auto options = std::make_shared<ExplainPodOptions>();
  app->add_option("pod", options->pod, "NAMESPACE/NAME, or NAME with -n")->required();
  AddConnectionOptions(*app, options->connection);
  app->add_option("-n,--namespace", options->ns, "of the pod")->capture_default_str();
  AddComponentOptions(*app, "scheduler", options->scheduler);
  AddOutputOption(*app, options->output);
  return {app, [options] { return Run(*options); }};
}

}  // namespace koord::cli
