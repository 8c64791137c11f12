#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/strings.h"
#include "base/suggest.h"
#include "cli/component_asker.h"
#include "cli/drawing/cpu_drawing.h"
#include "cli/drawing/device_drawing.h"
#include "cli/explain.h"
#include "kube/resources.h"
#include "manager/noderesource/explain.h"

namespace koord::cli {
namespace {

struct ExplainNodeOptions {
  ConnectionOptions connection;
  std::string node;
  std::vector<std::string> resources;
  ComponentAddress manager = ManagerAddress();
  ComponentAddress scheduler = SchedulerAddress();
  std::string output;
};

// "batch-cpu" is enough; none stands for all.
std::vector<std::string> FullNames(const std::vector<std::string>& resources) {
  if (resources.empty()) return manager::ExplainableResources();
  std::vector<std::string> names;
  for (const std::string& name : resources) {
    names.push_back(name.find('/') == std::string::npos ? "kubernetes.io/" + name : name);
  }
  return names;
}

// Names that users may give, long and short.
std::vector<std::string> KnownNames() {
  std::vector<std::string> names = manager::ExplainableResources();
  for (const std::string& name : manager::ExplainableResources()) {
    names.push_back(name.substr(name.find('/') + 1));
  }
  return names;
}

Status NoSuchNode(Connection& connection, const Status& answer, const std::string& node) {
  std::vector<std::string> names;
  if (const auto list = connection.List(kube::kNodes, "", {}); list.ok()) {
    if (const kube::Json* items = kube::Find(*list, {"items"});
        items != nullptr && items->is_array()) {
      for (const kube::Json& item : items->get_array()) {
        names.emplace_back(kube::FindString(item, {"metadata", "name"}));
      }
    }
  }
  const auto meant = Suggest(node, names);
  return NotFound(
      "{}. {}", Message(answer),
      meant ? fmt::format("Did you mean {}?", *meant) : "'kubectl get nodes' lists all.");
}

Status Print(const std::vector<kube::Json>& answers, const ExplainNodeOptions& options) {
  std::string text;
  if (!options.output.empty()) {
    kube::json::array all(answers.begin(), answers.end());
    text = Structured(options.resources.size() == 1 ? all.front() : kube::Json(std::move(all)),
                      options.output);
  }
  for (size_t i = 0; options.output.empty() && i < answers.size(); ++i) {
    ASSIGN_OR_RETURN(const auto explanation,
                     kube::Decode<manager::ResourceExplanation>(answers[i]));
    text += (i > 0 ? "\n" : "") + manager::FormatExplanation(explanation);
  }
  std::fputs(text.c_str(), stdout);
  return absl::OkStatus();
}

// Nodes whose processors nobody has reported, and schedulers that bind none, are no mistake of who
// asks: there is nothing to draw then, and why is said beside the answer.
void PrintDrawing(Connection& connection, const ExplainNodeOptions& options) {
  const auto answer =
      ComponentAsker(connection, options.scheduler)
          .AskForJson(fmt::format("/apis/v1/plugins/NodeNUMAResource/nodes/{}", options.node));
  if (!answer.ok()) {
    std::fputs(fmt::format("no CPUs are drawn: {}\n", Message(answer.status())).c_str(), stderr);
    return;
  }
  const auto drawn = DrawCpus(*answer, std::min<size_t>(TerminalWidth(), 100));
  if (drawn.ok()) std::fputs((*drawn + "\n").c_str(), stdout);
}

// Most nodes have no devices: nothing is said of them then.
void PrintDevices(Connection& connection, const ExplainNodeOptions& options) {
  const auto answer = ComponentAsker(connection, options.scheduler)
                          .AskForJson(fmt::format(
                              "/apis/v1/plugins/DeviceShare/nodeDeviceSummaries/{}", options.node));
  if (!answer.ok()) return;
  const auto drawn = DrawDevices(*answer, std::min<size_t>(TerminalWidth(), 100));
  if (drawn.ok()) std::fputs((*drawn + "\n").c_str(), stdout);
}

int Run(const ExplainNodeOptions& options) {
  auto connection = Connection::Open(options.connection);
  if (!connection.ok()) return FailExplain(connection.status(), kCluster);
  if (options.resources.empty() && options.output.empty()) {
    PrintDrawing(**connection, options);
    PrintDevices(**connection, options);
  }
  ComponentAsker manager(**connection, options.manager);
  std::vector<kube::Json> answers;
  for (const std::string& resource : FullNames(options.resources)) {
    auto answer = manager.AskForJson(
        fmt::format("/apis/v1/explain/nodes/{}?resource={}", options.node, resource));
    if (absl::IsNotFound(answer.status())) {
      return FailAsking(NoSuchNode(**connection, answer.status(), options.node));
    }
    if (!answer.ok()) return FailAsking(answer.status());
    answers.push_back(*std::move(answer));
  }
  const Status printed = Print(answers, options);
  return printed.ok() ? kOk : FailExplain(printed, kCluster);
}

}  // namespace

Command ExplainNodeCommand(CLI::App& explain) {
  CLI::App* app = explain.add_subcommand(
      "node", "whose a node's CPUs are, and why it lends as much as it does");
  app->alias("nodes")->alias("no");
  app->footer(
      "Draws sockets, NUMA nodes and cores and who holds them, as the scheduler knows it.\n"
      "Prints the formula with the live numbers in it, and the line of the configuration behind\n"
      "each: the ConfigMap's cluster strategy, its entry for the node, the node's own annotation\n"
      "or label, or the default. If nothing is lent it says why and what to do.\n\n"
      "  koord explain node node-1 --resource kubernetes.io/batch-cpu\n"
      "  koord explain node node-1 --resource mid-memory -o json\n"
      "  koord explain node node-1                       CPUs, and all four resources");
  auto options = std::make_shared<ExplainNodeOptions>();
  app->add_option("node", options->node, "its name")->required();
  app->add_option("--resource", options->resources,
                  "kubernetes.io/batch-cpu, batch-memory, mid-cpu or mid-memory; may be repeated")
      ->check(CLI::IsMember(KnownNames()).description(""));
  AddConnectionOptions(*app, options->connection);
  AddComponentOptions(*app, "manager", options->manager);
  AddComponentOptions(*app, "scheduler", options->scheduler);
  AddOutputOption(*app, options->output);
  return {app, [options] { return Run(*options); }};
}

}  // namespace koord::cli
