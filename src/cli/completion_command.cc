#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "base/strings.h"
#include "cli/cli.h"
#include "localcluster/assembly/local_cluster.h"
#include "manager/noderesource/explain.h"

namespace koord::cli {
namespace {

std::vector<std::string> CompletionOptions(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

// One `case` arm a command, made from the same definitions that parse the command line. Those with
// commands of their own have an arm for each, found by the two words.
std::string Cases(const CLI::App& root) {
  std::string cases;
  const auto add = [&](const std::string& pattern, const CLI::App& command) {
    cases += "    " + pattern + ") options='" + Join(CompletionOptions(command), " ") + "' ;;\n";
  };
  for (const CLI::App* command : root.get_subcommands({})) {
    for (const CLI::App* below : command->get_subcommands({})) {
      add("'" + command->get_name() + " " + below->get_name() + "'", *below);
    }
    add("'" + command->get_name() + " '*", *command);
  }
  return cases;
}

std::string Commands(const CLI::App& root) { return Join(CommandNames(root), " "); }

// `case` arms by the command: those that it has of its own.
std::string BelowCases(const CLI::App& root) {
  std::string cases;
  for (const CLI::App* command : root.get_subcommands({})) {
    const auto names = CommandNames(*command);
    if (!names.empty())
      cases += "    " + command->get_name() + ") below='" + Join(names, " ") + "' ;;\n";
  }
  return cases;
}

// What may follow the word before: one `case` arm each, the same in both shells.
std::string ValueCases() {
  return "    -o|--output) values='wide json yaml name' ;;\n"
         "    --load) values='flat diurnal spike trace=' ;;\n"
         "    --without) values='" +
         Join(localcluster::ComponentNames(), " ") +
         "' ;;\n"
         "    --resource) values='" +
         Join(manager::ExplainableResources(), " ") +
         "' ;;\n"
         "    completion) values='bash zsh' ;;\n";
}

// CompletionOptions and their values complete from the lists, everything else as file names.
std::string BashScript(const CLI::App& root) {
  return "_koord() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
         "  local options='' values='' below=''\n"
         "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
         "    COMPREPLY=($(compgen -W '" +
         Commands(root) +
         "' -- \"$current\"))\n"
         "    return\n"
         "  fi\n"
         "  case ${COMP_WORDS[1]} in\n" +
         BelowCases(root) +
         "  esac\n"
         "  if [ \"$COMP_CWORD\" -eq 2 ] && [ -n \"$below\" ]; then\n"
         "    COMPREPLY=($(compgen -W \"$below\" -- \"$current\"))\n"
         "    return\n"
         "  fi\n"
         "  case \"${COMP_WORDS[1]} ${COMP_WORDS[2]}\" in\n" +
         Cases(root) +
         "  esac\n"
         "  case $previous in\n" +
         ValueCases() +
         "  esac\n"
         "  if [ -n \"$values\" ]; then\n"
         "    COMPREPLY=($(compgen -W \"$values\" -- \"$current\"))\n"
         "  elif [[ $current == -* ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$options\" -- \"$current\"))\n"
         "  else\n"
         "    COMPREPLY=($(compgen -f -- \"$current\"))\n"
         "  fi\n"
         "}\n"
         "complete -o filenames -F _koord koord\n";
}

std::string ZshScript(const CLI::App& root) {
  return "#compdef koord\n"
         "_koord() {\n"
         "  if (( CURRENT == 2 )); then\n"
         "    compadd -- " +
         Commands(root) +
         "\n    return\n"
         "  fi\n"
         "  local previous=${words[CURRENT-1]} options='' values='' below=''\n"
         "  case ${words[2]} in\n" +
         BelowCases(root) +
         "  esac\n"
         "  if (( CURRENT == 3 )) && [[ -n $below ]]; then\n"
         "    compadd -- ${=below}\n"
         "    return\n"
         "  fi\n"
         "  case \"${words[2]} ${words[3]}\" in\n" +
         Cases(root) +
         "  esac\n"
         "  case $previous in\n" +
         ValueCases() +
         "  esac\n"
         "  if [[ -n $values ]]; then\n"
         "    compadd -- ${=values}\n"
         "  elif [[ $PREFIX == -* ]]; then\n"
         "    compadd -- ${=options}\n"
         "  else\n"
         "    _files\n"
         "  fi\n"
         "}\n"
         "compdef _koord koord\n";
}

}  // namespace

std::vector<std::string> CommandNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

Command CompletionCommand(CLI::App& root) {
  CLI::App* app = root.add_subcommand("completion", "print a completion script for bash or zsh");
  app->footer(
      "  source <(koord completion bash)      # now\n"
      "  koord completion zsh > ~/.zfunc/_koord");
  auto shell = std::make_shared<std::string>();
  app->add_option("shell", *shell, "bash or zsh")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh"}));
  return {app, [shell, &root] {
            std::fputs((*shell == "bash" ? BashScript(root) : ZshScript(root)).c_str(), stdout);
            return kOk;
          }};
}

}  // namespace koord::cli
