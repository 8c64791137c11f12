#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "cmd/koord/component_asker.h"
#include "cmd/koord/explain.h"
#include "scheduler/explain/explanation.h"

namespace koord::cli {
namespace {

struct ExplainPodOptions {
  ConnectionOptions connection;
  std::string pod;
  std::string ns = "default";
  ComponentAddress scheduler{.name = "koord-scheduler",
                             .service = "koord-scheduler",
                             .lease = "koord-scheduler",
                             .port = 10251};
  std::string output;
};

Status Print(const std::string& body, const std::string& output) {
  ASSIGN_OR_RETURN(const kube::Json json, kube::ParseJson(body));
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
  const auto body = ComponentAsker(**connection, options.scheduler)
                        .Ask(fmt::format("/apis/v1/explain/pods/{}/{}", ns, name));
  if (!body.ok()) {
    return FailExplain(body.status(), absl::IsNotFound(body.status()) ? kFailed : kCluster);
  }
  const Status printed = Print(*body, options.output);
  return printed.ok() ? kOk : FailExplain(printed, kCluster);
}

}  // namespace

Command ExplainPodCommand(CLI::App& explain) {
  CLI::App* app =
      explain.add_subcommand("pod", "why a pod is pending, or why it landed where it is");
  app->alias("pods")->alias("po");
  app->footer(
      "  koord explain pod default/web-0\n"
      "  koord explain pod web-0 -n shop -o yaml");
  auto options = std::make_shared<ExplainPodOptions>();
  app->add_option("pod", options->pod, "NAMESPACE/NAME, or NAME with -n")->required();
  AddConnectionOptions(*app, options->connection);
  app->add_option("-n,--namespace", options->ns, "of the pod")->capture_default_str();
  AddComponentOptions(*app, "scheduler", options->scheduler);
  AddOutputOption(*app, options->output);
  return {app, [options] { return Run(*options); }};
}

}  // namespace koord::cli
