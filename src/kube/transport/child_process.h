#pragma once
#include <absl/functional/any_invocable.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/asio_loop.h"
#include "base/status.h"

namespace koord::kube {

// Runs a program to its end and collects what it prints, without blocking the loop. Destroying it
// kills the program.
class ChildProcess {
 public:
  struct Command {
    std::string program;  // looked up in PATH unless it has a slash
    std::vector<std::string> args;
    std::vector<std::pair<std::string, std::string>> env;  // added to our own
    bool inherit_stdin = false;                            // else it reads nothing
    Duration timeout = std::chrono::minutes(1);
    size_t output_limit = 1 << 20;
  };
  struct Result {
    int exit_code = 0;  // 128 + the signal if it was killed by one
    std::string output;
    std::string errors;  // the end of what it printed there
  };
  // kNotFound if there is no such program.
  using Done = absl::AnyInvocable<void(StatusOr<Result>)>;

  ChildProcess(AsioLoop& loop, const Command& command, Done done);
  ~ChildProcess();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace koord::kube
