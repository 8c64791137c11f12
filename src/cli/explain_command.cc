#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "cli/explain.h"
#include "kube/yaml.h"

namespace koord::cli {

void AddOutputOption(CLI::App& app, std::string& output) {
  app.add_option("-o,--output", output, "json or yaml")->check(CLI::IsMember({"json", "yaml"}));
}

std::string Structured(const kube::Json& document, const std::string& output) {
  return output == "yaml" ? kube::ToYaml(document) : kube::Serialize(document) + "\n";
}

int FailExplain(const Status& status, int code) {
  std::fprintf(stderr, "koord explain: %s\n", std::string(Message(status)).c_str());
  return code;
}

int FailAsking(const Status& status) {
  const bool is_its_own = absl::IsNotFound(status) || absl::IsInvalidArgument(status);
  return FailExplain(status, is_its_own ? kFailed : kCluster);
}

int AskAndPrint(const Question& question,
                const std::function<StatusOr<std::string>(const kube::Json&)>& text_of) {
  auto connection = Connection::Open(question.connection);
  if (!connection.ok()) return FailExplain(connection.status(), kCluster);
  const auto answer = ComponentAsker(**connection, question.component).AskForJson(question.path);
  if (!answer.ok()) return FailAsking(answer.status());
  const auto text = question.output.empty()
                        ? text_of(*answer)
                        : StatusOr<std::string>(Structured(*answer, question.output));
  if (!text.ok()) return FailExplain(text.status(), kCluster);
  std::fputs(text->c_str(), stdout);
  return kOk;
}

Command ExplainCommand(CLI::App& root) {
  CLI::App* app = root.add_subcommand(
      "explain",
      "why a pod is where it is, a node lends what it lends, a profile does what it does, a "
      "quota gets what it gets, a reservation serves whom it serves");
  app->footer(
      "  koord explain pod default/web-0                 why it is pending, or landed there\n"
      "  koord explain node node-1 --resource batch-cpu  the formula with its live numbers\n"
      "  koord explain profile --pod job.yaml            what profiles would make of it\n"
      "  koord explain quota team-a                      its share, who borrows, who waits for "
      "what\n"
      "  koord explain reservation web                   who may use it, who does, what is left");
  app->require_subcommand(1);
  const std::vector<Command> commands{ExplainPodCommand(*app), ExplainNodeCommand(*app),
                                      ExplainProfileCommand(*app), ExplainQuotaCommand(*app),
                                      ExplainReservationCommand(*app)};
  return {app, [commands] {
            for (const Command& command : commands) {
              if (command.app->parsed()) return command.run();
            }
            return kUsage;
          }};
}

}  // namespace koord::cli
