#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "cli/cli.h"
#include "cli/input_files.h"
#include "cli/terminal.h"
#include "cli/validation/validate.h"
#include "kube/codec.h"

namespace koord::cli {
namespace {

using validation::Finding;
using validation::Severity;

struct ValidateOptions {
  std::vector<std::string> files;
  bool strict = false;
  std::string output;
};

// Programs get one line per finding.
std::string Painted(const Finding& finding, bool color) {
  std::string text = ToString(finding);
  if (IsTerminal(stdout)) text = Wrapped(text, TerminalWidth());
  if (!color) return text;
  const bool is_error = finding.severity == Severity::kError;
  const std::string word = is_error ? "error:" : "warning:";
  const size_t at = text.find(word);
  return text.replace(at, word.size(), fmt::format("\x1b[{}m{}\x1b[0m", is_error ? 31 : 33, word));
}

int Run(const ValidateOptions& options) {
  auto files = ReadInputFiles(options.files);
  if (!files.ok()) {
    std::fprintf(stderr, "koord validate: %s\n", std::string(Message(files.status())).c_str());
    return kUsage;
  }
  std::vector<validation::SourceFile> sources;
  for (InputFile& file : *files) sources.push_back({std::move(file.name), std::move(file.text)});
  log::SetSink([](std::string_view) {});  // of the API server that is asked
  const std::vector<Finding> findings = Validate(sources);
  log::SetSink(nullptr);
  const auto errors = std::count_if(findings.begin(), findings.end(), [](const Finding& each) {
    return each.severity == Severity::kError;
  });
  const auto warnings = static_cast<ptrdiff_t>(findings.size()) - errors;
  if (options.output == "json") {
    std::printf("%s\n", kube::Serialize(kube::Encode(findings)).c_str());
  } else {
    for (const Finding& each : findings) {
      std::printf("%s\n", Painted(each, UseColor(stdout)).c_str());
    }
    std::fprintf(stderr, "%zu file%s: %td error%s, %td warning%s\n", sources.size(),
                 sources.size() == 1 ? "" : "s", errors, errors == 1 ? "" : "s", warnings,
                 warnings == 1 ? "" : "s");
  }
  return errors > 0 || (options.strict && warnings > 0) ? kFailed : kOk;
}

}  // namespace

Command ValidateCommand(CLI::App& root) {
  CLI::App* app = root.add_subcommand(
      "validate", "check manifests, slo-controller-config and configuration files offline");
  app->footer(
      "Checks what an API server would refuse, what koord-manager's webhooks would refuse, what\n"
      "Koordinator reads from labels, annotations and ConfigMaps, and thresholds that fight each\n"
      "other, also across files. No cluster is needed. Kinds of other projects are known if their\n"
      "CustomResourceDefinitions are among the files.\n\n"
      "One line a finding: FILE:LINE: error|warning: PATH: what is wrong, what is expected.\n"
      "Errors are refused, or ignored by whoever should act on them; warnings do something else\n"
      "than their author most likely wants, or nothing at all in this version.\n\n"
      "Exit code 0: no errors; 1: errors (with --strict also warnings); 2: the command line is\n"
      "wrong, or a file cannot be read.\n\n"
      "  koord validate -f slo-controller-config.yaml\n"
      "  koord validate -f deploy/ -f scheduler-config.yaml --strict\n"
      "  helm template koordinator | koord validate -f - -o json");
  auto options = std::make_shared<ValidateOptions>();
  app->add_option("-f,--filename", options->files,
                  "file, directory (all .yaml, .yml and .json below it) or - ; may be repeated")
      ->required();
  app->add_flag("--strict", options->strict, "warnings count as errors");
  app->add_option("-o,--output", options->output, "json")->check(CLI::IsMember({"json"}));
  return {app, [options] { return Run(*options); }};
}

}  // namespace koord::cli
