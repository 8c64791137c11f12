#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "cli/component_asker.h"
#include "cli/explain.h"
#include "scheduler/explain/reservation_explanation.h"

namespace koord::cli {
namespace {

struct ExplainReservationOptions {
  ConnectionOptions connection;
  std::string reservation;
  ComponentAddress scheduler = SchedulerAddress();
  std::string output;
};

StatusOr<std::string> TextOf(const kube::Json& answer, const std::string& output) {
  if (!output.empty()) return Structured(answer, output);
  ASSIGN_OR_RETURN(const auto explanation, kube::Decode<scheduler::ReservationExplanation>(answer));
  return scheduler::FormatExplanation(explanation, TerminalWidth());
}

int Run(const ExplainReservationOptions& options) {
  auto connection = Connection::Open(options.connection);
  if (!connection.ok()) return FailExplain(connection.status(), kCluster);
  const auto answer =
      ComponentAsker(**connection, options.scheduler)
          .AskForJson(fmt::format("/apis/v1/explain/reservations/{}", options.reservation));
  if (!answer.ok()) return FailAsking(answer.status());
  const auto text = TextOf(*answer, options.output);
  if (!text.ok()) return FailExplain(text.status(), kCluster);
  std::fputs(text->c_str(), stdout);
  return kOk;
}

}  // namespace

Command ExplainReservationCommand(CLI::App& explain) {
  CLI::App* app = explain.add_subcommand(
      "reservation", "who may use a reservation, who does, what is left, and when it ends");
  app->alias("reservations");
  app->footer(
      "  koord explain reservation web\n"
      "  koord explain reservation web -o yaml");
  auto options = std::make_shared<ExplainReservationOptions>();
  app->add_option("reservation", options->reservation, "NAME")->required();
  AddConnectionOptions(*app, options->connection);
  AddComponentOptions(*app, "scheduler", options->scheduler);
  AddOutputOption(*app, options->output);
  return {app, [options] { return Run(*options); }};
}

}  // namespace koord::cli
