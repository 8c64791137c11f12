#include <unistd.h>

#include <CLI/CLI.hpp>
#include <boost/asio/signal_set.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/asio_loop.h"
#include "base/log.h"
#include "base/strings.h"
#include "base/suggest.h"
#include "base/version.h"
#include "cli/cli.h"
#include "cli/live_screen.h"
#include "cli/terminal.h"
#include "localcluster/assembly/local_server.h"

namespace koord::cli {
namespace {

using localcluster::LocalServer;
using localcluster::LocalServerOptions;

struct UpOptions {
  LocalServerOptions server;
  std::vector<std::string> shapes;
  std::vector<std::string> without;
  int verbosity = 0;
};

Status ReadOptions(UpOptions& options) {
  for (const std::string& text : options.shapes) {
    ASSIGN_OR_RETURN(auto shape, localcluster::ParseNodeShape(text));
    options.server.cluster.shapes.push_back(std::move(shape));
  }
  const auto& names = localcluster::ComponentNames();
  for (const std::string& name : options.without) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      const auto suggestion = Suggest(name, names);
      return InvalidArgument("--without {}: there is {}{}", name, Join(names, ", "),
                             suggestion ? "; did you mean " + *suggestion + "?" : "");
    }
    options.server.cluster.without.insert(name);
  }
  return absl::OkStatus();
}

// A path as the user would type it in the next command.
std::string ShortPath(const std::string& path) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
}

void PrintBanner(LocalServer& server, const UpOptions& options) {
  std::fprintf(
      stderr,
      "koord %s: a Kubernetes %s API with %d simulated nodes\n"
      "  API         %s\n"
      "  kubeconfig  %s\n"
      "  state       %s\n\n"
      "Try it from another terminal:\n"
      "  kubectl --kubeconfig %s get nodes\n\n",
      kVersion, kKubernetesVersion, options.server.cluster.nodes, server.url().c_str(),
      ShortPath(server.kubeconfig()).c_str(),
      options.server.in_memory ? "in memory only" : ShortPath(options.server.data_dir).c_str(),
      ShortPath(server.kubeconfig()).c_str());
}

// While a live screen is up, logs go to a file beside the state.
void SendLogsTo(const std::string& path) {
  auto file = std::make_shared<std::ofstream>(path, std::ios::app);
  log::SetSink([file](std::string_view line) {
    *file << line << "\n";
    file->flush();
  });
}

int Fail(const Status& status) {
  std::fprintf(stderr, "koord up: %s\n", std::string(Message(status)).c_str());
  return kFailed;
}

int Run(UpOptions& options) {
  if (Status status = ReadOptions(options); !status.ok()) {
    Fail(status);
    return kUsage;
  }
  log::SetVerbosity(options.verbosity);
  AsioLoop loop;
  int exit_code = kOk;
  options.server.cluster.on_fatal = [&](const Status& status) {
    exit_code = Fail(status);
    loop.Stop();
  };
  auto server = LocalServer::Start(loop, options.server);
  if (!server.ok()) {
    Fail(server.status());
    return absl::IsInvalidArgument(server.status()) ? kUsage : kFailed;
  }
  PrintBanner(**server, options);
  const bool live = IsTerminal(stderr) && IsTerminal(stdin);
  if (live) SendLogsTo(options.server.data_dir + "/koord.log");
  LiveScreen screen(loop, (*server)->cluster(), live);

  boost::asio::signal_set signals(loop.context(), SIGINT, SIGTERM);
  signals.async_wait([&](const boost::system::error_code& error, int) {
    if (error) return;
    std::fprintf(stderr, "\nStopping\n");
    (*server)->Stop([&] { loop.Stop(); });
  });
  loop.Run();
  log::SetSink(nullptr);
  return exit_code;
}

}  // namespace

Command UpCommand(CLI::App& root) {
  CLI::App* app = root.add_subcommand("up", "run a whole cluster in this process until Ctrl-C");
  app->footer(
      "  koord up\n"
      "  koord up --demo --speed 240                     # co-location: a day in six minutes\n"
      "  koord up --nodes 1000 --in-memory\n"
      "  koord up --node-shape cpu=64,memory=256Gi,numa=2,smt=2,gpu=8 --load spike --speed 60");
  auto options = std::make_shared<UpOptions>();
  LocalServerOptions& server = options->server;
  app->add_option("--nodes", server.cluster.nodes, "how many nodes to simulate")
      ->capture_default_str()
      ->check(CLI::Range(0, 100'000));
  app->add_option("--node-shape", options->shapes,
                  "what a node is made of: cpu=32,memory=128Gi,numa=2,smt=2,gpu=0; also sockets, "
                  "pods, zone, labels, taints, count. Repeat for several shapes")
      ->take_all();
  app->add_flag("--adopt-nodes", server.cluster.adopt_nodes,
                "also simulate the Node objects that clients create");
  app->add_option(
         "--manager-flag", server.cluster.manager_flags,
         "a flag for koord-manager, such as --manager-flag=--feature-gates=MultiQuotaTree=true. "
         "Repeat for several")
      ->take_all();
  app->add_option("--load", server.cluster.load,
                  "what pods use over time: flat, diurnal, spike, or trace=FILE.csv")
      ->capture_default_str();
  app->add_option("--port", server.port, "of the API; 0: the one of last time, or any free one")
      ->capture_default_str();
  app->add_option("--data-dir", server.data_dir, "where state, credentials and kubeconfig are kept")
      ->capture_default_str();
  app->add_flag("--in-memory", server.in_memory, "keep no state on disk");
  app->add_option("--speed", server.speed, "how fast the cluster's time passes")
      ->capture_default_str()
      ->check(CLI::Range(0.01, 10'000.0));
  app->add_flag("--demo", server.cluster.demo,
                "also run services and batch jobs that share the nodes: examples/colocation");
  app->add_option("--without", options->without,
                  "components to leave out, so that they can be run by hand")
      ->delimiter(',');
  app->add_option("--bind-address", server.address, "address to listen on")->capture_default_str();
  app->add_flag("--allow-remote", server.allow_remote,
                "permit a --bind-address that other machines can reach");
  app->add_option("--seed", server.cluster.seed, "of everything random in the cluster")
      ->capture_default_str();
  app->add_option("-v,--v", options->verbosity, "log verbosity")->capture_default_str();
  return {app, [options] { return Run(*options); }};
}

}  // namespace koord::cli
