#pragma once
#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace koord::cli {

// Exit codes that scripts may rely on.
inline constexpr int kOk = 0;
inline constexpr int kFailed = 1;   // what was asked for did not work, or an expectation failed
inline constexpr int kUsage = 2;    // the command line or a file is wrong
inline constexpr int kCluster = 3;  // the cluster could not be reached or answered with an error
inline constexpr int kInterrupted = 130;  // by Ctrl-C, as shells say it

// A command registers its options and the function that runs it.
using Action = std::function<int()>;
struct Command {
  CLI::App* app;
  Action run;
};

Command UpCommand(CLI::App& root);
Command DownCommand(CLI::App& root);
Command StatusCommand(CLI::App& root);
Command ExplainCommand(CLI::App& root);
Command TestCommand(CLI::App& root);
Command ValidateCommand(CLI::App& root);
Command VersionCommand(CLI::App& root);
Command CompletionCommand(CLI::App& root);

// Of the commands directly below.
std::vector<std::string> CommandNames(const CLI::App& app);

}  // namespace koord::cli
