#include <fmt/format.h>

#include <CLI/CLI.hpp>
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

int Run(const ExplainReservationOptions& options) {
  return AskAndPrint({.connection = options.connection,
                      .component = options.scheduler,
                      .path = fmt::format("/apis/v1/explain/reservations/{}", options.reservation),
                      .output = options.output},
                     [](const kube::Json& answer) -> StatusOr<std::string> {
                       ASSIGN_OR_RETURN(const auto explanation,
                                        kube::Decode<scheduler::ReservationExplanation>(answer));
                       return scheduler::FormatExplanation(explanation, TerminalWidth());
                     });
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
