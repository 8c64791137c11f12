#include <CLI/CLI.hpp>
#include <cstdio>
#include <vector>

#include "base/suggest.h"
#include "cli/cli.h"

namespace koord::cli {
namespace {

constexpr char kDescription[] =
    "koord runs a whole Kubernetes cluster with Koordinator in one process, and tests the rules "
    "that\n"
    "you want to hold in it.\n\n"
    "  koord up                       start a cluster of 20 simulated nodes here\n"
    "  koord test tests/scenarios     check scenarios, each in a fresh cluster\n"
    "  koord status                   what the running cluster is doing\n"
    "  koord explain pod NS/NAME      why a pod is pending, or why it is where it is\n"
    "  koord explain node NODE        whose its CPUs are, why it lends what it does\n"
    "  koord validate -f FILE         what is wrong with manifests and configuration files";

std::vector<std::string> OptionNames(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// The command that the user has come to: koord, koord explain, koord explain pod.
const CLI::App& Innermost(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : Innermost(*chosen.front());
}

std::string PathTo(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return parent == nullptr ? app.get_name() : PathTo(*parent) + " " + app.get_name();
}

// CLI11 says what is wrong; a person also wants to know what to do about it.
int ReportUsage(const CLI::App& root, const CLI::ParseError& error, int argc, char** argv) {
  const CLI::App& at = Innermost(root);
  std::fprintf(stderr, "koord: %s\n", error.what());
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool option = word.starts_with("--");
    const std::string name = word.substr(0, word.find('='));
    const auto candidates = option ? OptionNames(at) : CommandNames(at);
    if (std::find(candidates.begin(), candidates.end(), name) != candidates.end()) continue;
    if (const auto suggestion = Suggest(name, candidates)) {
      std::fprintf(stderr, "Did you mean %s?\n", suggestion->c_str());
      break;
    }
  }
  std::fprintf(stderr, "'%s --help' lists what it takes.\n", PathTo(at).c_str());
  return kUsage;
}

int Main(int argc, char** argv) {
  CLI::App root{kDescription, "koord"};
  root.require_subcommand(0, 1);
  root.set_help_flag("-h,--help", "print this help");
  const std::vector<Command> commands{
      UpCommand(root),   DownCommand(root),     StatusCommand(root),  ExplainCommand(root),
      TestCommand(root), ValidateCommand(root), VersionCommand(root), CompletionCommand(root)};
  try {
    root.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return root.exit(help);
  } catch (const CLI::ParseError& error) {
    return ReportUsage(root, error, argc, argv);
  }
  for (const Command& command : commands) {
    if (command.app->parsed()) return command.run();
  }
  std::fputs(root.help().c_str(), stdout);
  return kOk;
}

}  // namespace
}  // namespace koord::cli

int main(int argc, char** argv) { return koord::cli::Main(argc, argv); }
