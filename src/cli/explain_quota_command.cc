#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/component_asker.h"
#include "cli/explain.h"
#include "model/quota/quota_explanation.h"

namespace koord::cli {
namespace {

struct ExplainQuotaOptions {
  ConnectionOptions connection;
  std::string quota;  // "": all
  ComponentAddress scheduler = SchedulerAddress();
  std::string output;
};

int Run(const ExplainQuotaOptions& options) {
  return AskAndPrint({.connection = options.connection,
                      .component = options.scheduler,
                      .path = fmt::format("/apis/v1/plugins/ElasticQuota/explanation{}{}",
                                          options.quota.empty() ? "" : "/", options.quota),
                      .output = options.output},
                     [](const kube::Json& answer) -> StatusOr<std::string> {
                       ASSIGN_OR_RETURN(const auto explanation,
                                        kube::Decode<model::QuotaExplanation>(answer));
                       return model::FormatExplanation(explanation);
                     });
}

}  // namespace

Command ExplainQuotaCommand(CLI::App& explain) {
  CLI::App* app = explain.add_subcommand(
      "quota", "how quotas share the cluster, who has borrowed from whom, and who waits for what");
  app->alias("quotas");
  app->footer(
      "  koord explain quota          all of them\n"
      "  koord explain quota team-a   one, with all below it\n"
      "  koord explain quota -o yaml");
  auto options = std::make_shared<ExplainQuotaOptions>();
  app->add_option("quota", options->quota, "NAME");
  AddConnectionOptions(*app, options->connection);
  AddComponentOptions(*app, "scheduler", options->scheduler);
  AddOutputOption(*app, options->output);
  return {app, [options] { return Run(*options); }};
}

}  // namespace koord::cli
