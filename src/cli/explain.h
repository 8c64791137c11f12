#pragma once
#include <string>

#include "base/status.h"
#include "cli/cli.h"
#include "cli/terminal.h"
#include "kube/json.h"

namespace koord::cli {

// `koord explain` has a command of its own for each thing that it explains.
Command ExplainPodCommand(CLI::App& explain);
Command ExplainNodeCommand(CLI::App& explain);
Command ExplainProfileCommand(CLI::App& explain);
Command ExplainReservationCommand(CLI::App& explain);

// What they share.
void AddOutputOption(CLI::App& app, std::string& output);
// As json or yaml.
std::string Structured(const kube::Json& document, const std::string& output);
int FailExplain(const Status& status, int code);
// After a question to a component (see ComponentAsker): in its own words the question was wrong.
int FailAsking(const Status& status);

}  // namespace koord::cli
