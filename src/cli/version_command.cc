#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/version.h"
#include "cli/cli.h"

namespace koord::cli {

Command VersionCommand(CLI::App& root) {
  CLI::App* app = root.add_subcommand("version", "print the version");
  return {app, [] {
            std::printf("koord %s\n", kVersion);
            return kOk;
          }};
}

}  // namespace koord::cli
