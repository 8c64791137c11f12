#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "api/reservation.h"
#include "api/resources.h"
#include "base/strings.h"
#include "cli/cli.h"
#include "cli/component_asker.h"
#include "cli/connection.h"
#include "cli/terminal.h"
#include "kube/resources.h"
#include "kube/yaml.h"
#include "localcluster/apiserver/core/object_text.h"
#include "localcluster/assembly/summary_text.h"

namespace koord::cli {
namespace {

using kube::Json;

struct StatusOptions {
  ConnectionOptions connection;
  ComponentAddress scheduler = SchedulerAddress();
  ComponentAddress manager = ManagerAddress();
  std::string ns;
  bool all_namespaces = false;
  std::string selector;
  std::string output;
};

const kube::json::array& Items(const Json& list) {
  static const kube::json::array kNone;
  const auto* items = kube::FindArray(list, {"items"});
  return items == nullptr ? kNone : *items;
}

template <class T, class Visit>
Status ForEach(Connection& connection, const kube::Resource& resource, const std::string& ns,
               const kube::ListOptions& which, Visit visit) {
  ASSIGN_OR_RETURN(const Json list, connection.List(resource, ns, which));
  for (const Json& item : Items(list)) {
    ASSIGN_OR_RETURN(const T object, kube::Decode<T>(item));
    visit(object);
  }
  return absl::OkStatus();
}

// Pods of the namespaces chosen; all of them unless -n narrows it. A cluster without Koordinator's
// definitions has no usage to show.
StatusOr<localcluster::Summary> Collect(Connection& connection, const StatusOptions& options) {
  localcluster::SummaryBuilder builder;
  RETURN_IF_ERROR(ForEach<kube::Node>(connection, kube::kNodes, "",
                                      {.label_selector = options.selector},
                                      [&](const kube::Node& node) { builder.AddNode(node); }));
  RETURN_IF_ERROR(ForEach<kube::Pod>(connection, kube::kPods,
                                     options.all_namespaces ? "" : options.ns, {},
                                     [&](const kube::Pod& pod) { builder.AddPod(pod); }));
  const Status reservations = ForEach<api::Reservation>(
      connection, api::kReservations, "", {},
      [&](const api::Reservation& reservation) { builder.AddReservation(reservation); });
  if (!reservations.ok() && !kube::IsNotFound(reservations)) return reservations;
  const StatusOr<Json> metrics = connection.List(api::kNodeMetrics, "", {});
  if (kube::IsNotFound(metrics.status())) {
    builder.SetUnknownBecause("there is no kind NodeMetric; deploy/crds defines it");
  } else if (!metrics.ok()) {
    return metrics.status();
  } else {
    for (const Json& item : Items(*metrics)) builder.AddNodeMetric(item);
  }
  return std::move(builder).Build();
}

// What a component was told to do and does not do.
struct Settings {
  std::string component;
  StatusOr<std::vector<std::string>> problems;  // the error: it could not be asked
};

StatusOr<std::vector<std::string>> ProblemsOf(Connection& connection,
                                              const ComponentAddress& address) {
  ASSIGN_OR_RETURN(const std::string body,
                   ComponentAsker(connection, address).Ask("/apis/v1/explain/settings"));
  ASSIGN_OR_RETURN(const Json answer, kube::ParseJson(body));
  std::vector<std::string> problems;
  const kube::json::array* found = kube::FindArray(answer, {"problems"});
  for (size_t i = 0; found != nullptr && i < found->size(); ++i) {
    if ((*found)[i].is_string()) problems.emplace_back((*found)[i].get_string());
  }
  return problems;
}

std::vector<Settings> AskComponents(Connection& connection, const StatusOptions& options) {
  std::vector<Settings> settings;
  for (const ComponentAddress* address : {&options.scheduler, &options.manager}) {
    settings.push_back({address->name, ProblemsOf(connection, *address)});
  }
  return settings;
}

// null: unknown.
Json ToJson(const std::vector<Settings>& settings) {
  kube::json::object json;
  for (const Settings& each : settings) {
    Json& problems = json[each.component];
    if (!each.problems.ok()) continue;
    problems.emplace_array();
    for (const std::string& problem : *each.problems) problems.get_array().emplace_back(problem);
  }
  return json;
}

// Nothing where all is as it was asked to be.
std::vector<std::string> Format(const std::vector<Settings>& settings) {
  std::vector<std::string> lines;
  for (const Settings& each : settings) {
    if (!each.problems.ok()) {
      const std::string_view why = Split(Message(each.problems.status()), '\n').front();
      lines.push_back(fmt::format("settings of {} are unknown: {}", each.component, why));
      continue;
    }
    for (const std::string& problem : *each.problems) {
      lines.push_back(fmt::format("settings of {}: {}", each.component, problem));
    }
  }
  return lines;
}

void PrintSettings(const std::vector<Settings>& settings) {
  const std::vector<std::string> lines = Format(settings);
  if (!lines.empty()) std::printf("\n");
  for (const std::string& line : lines) {
    std::printf("%s\n", (IsTerminal(stdout) ? Wrapped(line, TerminalWidth()) : line).c_str());
  }
}

void Print(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) std::printf("%s\n", line.c_str());
}

void Print(Connection& connection, const localcluster::Summary& summary,
           const StatusOptions& options) {
  const std::string& output = options.output;
  if (output == "name") {
    for (const auto& node : summary.nodes) std::printf("node/%s\n", node.name.c_str());
    return;
  }
  const std::vector<Settings> settings = AskComponents(connection, options);
  if (output == "json" || output == "yaml") {
    Json json = localcluster::ToJson(summary);
    json.get_object().emplace("server", connection.server());
    json.get_object().emplace("settingProblems", ToJson(settings));
    const std::string text =
        output == "json" ? apiserver::Indented(kube::Serialize(json)) + "\n" : kube::ToYaml(json);
    std::fputs(text.c_str(), stdout);
    return;
  }
  std::printf("server %s\n", connection.server().c_str());
  Print(localcluster::FormatSummary(summary));
  PrintSettings(settings);
  if (output != "wide") return;
  std::printf("\n");
  Print(localcluster::FormatNodes(summary));
}

int Run(const StatusOptions& options) {
  auto connection = Connection::Open(options.connection);
  if (!connection.ok()) {
    std::fprintf(stderr, "koord status: %s\n", std::string(Message(connection.status())).c_str());
    return kCluster;
  }
  const auto summary = Collect(**connection, options);
  if (!summary.ok()) {
    std::fprintf(stderr, "koord status: %s: %s\nIs the cluster running? 'koord up' starts one.\n",
                 (*connection)->server().c_str(), std::string(Message(summary.status())).c_str());
    return kCluster;
  }
  Print(**connection, *summary, options);
  return kOk;
}

}  // namespace

Command StatusCommand(CLI::App& root) {
  CLI::App* app = root.add_subcommand("status", "what the cluster is doing: nodes, pods, usage");
  app->footer(
      "Below that, what koord-scheduler and koord-manager were told to do and do not do: plugins\n"
      "that are not built in, feature gates and flags without effect.\n\n"
      "  koord status -o wide              # a line for each node\n"
      "  koord status -n batch -o json");
  auto options = std::make_shared<StatusOptions>();
  AddConnectionOptions(*app, options->connection);
  AddComponentOptions(*app, "scheduler", options->scheduler);
  AddComponentOptions(*app, "manager", options->manager);
  app->add_option("-n,--namespace", options->ns, "count only pods of this namespace");
  app->add_flag("-A,--all-namespaces", options->all_namespaces, "count all pods (the default)");
  app->add_option("-l,--selector", options->selector, "only nodes with these labels");
  app->add_option("-o,--output", options->output, "wide, json, yaml or name")
      ->check(CLI::IsMember({"wide", "json", "yaml", "name"}));
  return {app, [options] { return Run(*options); }};
}

}  // namespace koord::cli
