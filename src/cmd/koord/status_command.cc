#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "api/resources.h"
#include "cmd/koord/cli.h"
#include "cmd/koord/connection.h"
#include "kube/resources.h"
#include "kube/yaml.h"
#include "localcluster/apiserver/object_text.h"
#include "localcluster/cluster/summary_text.h"

namespace koord::cli {
namespace {

using kube::Json;

struct StatusOptions {
  ConnectionOptions connection;
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

// Pods of the namespaces chosen; all of them unless -n narrows it.
StatusOr<localcluster::Summary> Collect(Connection& connection, const StatusOptions& options) {
  localcluster::SummaryBuilder builder;
  RETURN_IF_ERROR(ForEach<kube::Node>(connection, kube::kNodes, "",
                                      {.label_selector = options.selector},
                                      [&](const kube::Node& node) { builder.AddNode(node); }));
  RETURN_IF_ERROR(ForEach<kube::Pod>(connection, kube::kPods,
                                     options.all_namespaces ? "" : options.ns, {},
                                     [&](const kube::Pod& pod) { builder.AddPod(pod); }));
  const StatusOr<Json> metrics = connection.List(api::kNodeMetrics, "", {});
  // A cluster without Koordinator's definitions has no usage to show.
  if (!metrics.ok() && !kube::IsNotFound(metrics.status())) return metrics.status();
  if (metrics.ok()) {
    for (const Json& item : Items(*metrics)) builder.AddNodeMetric(item);
  }
  return std::move(builder).Build();
}

void Print(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) std::printf("%s\n", line.c_str());
}

void Print(const Connection& connection, const localcluster::Summary& summary,
           const std::string& output) {
  if (output == "name") {
    for (const auto& node : summary.nodes) std::printf("node/%s\n", node.name.c_str());
    return;
  }
  if (output == "json" || output == "yaml") {
    Json json = localcluster::ToJson(summary);
    json.get_object().emplace("server", connection.server());
    const std::string text =
        output == "json" ? apiserver::Indented(kube::Serialize(json)) + "\n" : kube::ToYaml(json);
    std::fputs(text.c_str(), stdout);
    return;
  }
  std::printf("server %s\n", connection.server().c_str());
  Print(localcluster::FormatSummary(summary));
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
  Print(**connection, *summary, options.output);
  return kOk;
}

}  // namespace

Command StatusCommand(CLI::App& root) {
  CLI::App* app = root.add_subcommand("status", "what the cluster is doing: nodes, pods, usage");
  app->footer(
      "  koord status -o wide              # a line for each node\n"
      "  koord status -n batch -o json");
  auto options = std::make_shared<StatusOptions>();
  AddConnectionOptions(*app, options->connection);
  app->add_option("-n,--namespace", options->ns, "count only pods of this namespace");
  app->add_flag("-A,--all-namespaces", options->all_namespaces, "count all pods (the default)");
  app->add_option("-l,--selector", options->selector, "only nodes with these labels");
  app->add_option("-o,--output", options->output, "wide, json, yaml or name")
      ->check(CLI::IsMember({"wide", "json", "yaml", "name"}));
  return {app, [options] { return Run(*options); }};
}

}  // namespace koord::cli
