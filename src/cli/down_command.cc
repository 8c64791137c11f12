#include <signal.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "cli/cli.h"
#include "localcluster/assembly/data_directory.h"

namespace koord::cli {
namespace {

using localcluster::DataDirectory;

struct DownOptions {
  std::string data_dir = ".koord";
  bool purge = false;
};

bool WaitUntilFree(const std::string& path) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (DataDirectory::HeldBy(path)) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

int Purge(const std::string& path) {
  // Only ever remove what a cluster has made.
  if (!std::filesystem::exists(path + "/lock")) {
    std::fprintf(stderr, "koord down: %s is not a cluster's data directory\n", path.c_str());
    return kUsage;
  }
  std::filesystem::remove_all(path);
  std::fprintf(stderr, "Removed %s\n", path.c_str());
  return kOk;
}

int Run(const DownOptions& options) {
  if (const auto pid = DataDirectory::HeldBy(options.data_dir)) {
    if (kill(*pid, SIGTERM) != 0) {
      std::fprintf(stderr, "koord down: process %d cannot be stopped from here\n", *pid);
      return kFailed;
    }
    if (!WaitUntilFree(options.data_dir)) {
      std::fprintf(stderr, "koord down: process %d does not stop; 'kill -9 %d' loses nothing\n",
                   *pid, *pid);
      return kFailed;
    }
    std::fprintf(stderr, "Stopped the cluster in %s\n", options.data_dir.c_str());
  } else {
    std::fprintf(stderr, "No cluster runs in %s\n", options.data_dir.c_str());
  }
  return options.purge ? Purge(options.data_dir) : kOk;
}

}  // namespace

Command DownCommand(CLI::App& root) {
  CLI::App* app = root.add_subcommand("down", "stop the cluster that runs here");
  app->footer("State stays in the data directory; the next 'koord up' continues with it.");
  auto options = std::make_shared<DownOptions>();
  app->add_option("--data-dir", options->data_dir, "of the cluster to stop")->capture_default_str();
  app->add_flag("--purge", options->purge, "also remove the data directory");
  return {app, [options] { return Run(*options); }};
}

}  // namespace koord::cli
