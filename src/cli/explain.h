#pragma once
#include <functional>
#include <string>

#include "base/status.h"
#include "cli/cli.h"
#include "cli/component_asker.h"
#include "cli/terminal.h"
#include "kube/json.h"

namespace koord::cli {

// `koord explain` has a command of its own for each thing that it explains.
Command ExplainPodCommand(CLI::App& explain);
Command ExplainNodeCommand(CLI::App& explain);
Command ExplainProfileCommand(CLI::App& explain);
Command ExplainQuotaCommand(CLI::App& explain);
Command ExplainReservationCommand(CLI::App& explain);

// What they share.
void AddOutputOption(CLI::App& app, std::string& output);
// As json or yaml.
std::string Structured(const kube::Json& document, const std::string& output);
int FailExplain(const Status& status, int code);
// After a question to a component (see ComponentAsker): in its own words the question was wrong.
int FailAsking(const Status& status);

// A question to a component, and how its answer is to be printed: as json, as yaml, or with "" as
// text.
struct Question {
  const ConnectionOptions& connection;
  const ComponentAddress& component;
  std::string path;
  const std::string& output;
};
// The exit code.
int AskAndPrint(const Question& question,
                const std::function<StatusOr<std::string>(const kube::Json&)>& text_of);

}  // namespace koord::cli
