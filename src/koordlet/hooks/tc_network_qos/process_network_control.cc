#include "koordlet/hooks/tc_network_qos/process_network_control.h"

#include <optional>
#include <utility>

#include "base/strings.h"
#include "kube/transport/child_process.h"

namespace koord::koordlet::hooks {
namespace {

using kube::ChildProcess;

class ProcessNetworkControl final : public NetworkControl {
 public:
  explicit ProcessNetworkControl(AsioLoop& loop) : loop_(loop) {}

  void Run(std::vector<NetCommand> commands, Done done) override {
    commands_ = std::move(commands);
    done_ = std::move(done);
    next_ = 0;
    Next();
  }

 private:
  void Next() {
    if (next_ == commands_.size()) return Finish(absl::OkStatus());
    const NetCommand& command = commands_[next_++];
    if (command.check.empty()) return Start(command);
    Spawn(command.check, [this, &command](Status status) {
      if (status.ok()) return Next();
      Start(command);
    });
  }

  void Start(const NetCommand& command) {
    Spawn(command.run, [this, &command](Status status) {
      if (!status.ok() && !command.may_fail) return Finish(std::move(status));
      Next();
    });
  }

  void Spawn(const std::vector<std::string>& args, std::function<void(Status)> then) {
    const ChildProcess::Command command{.program = args.front(),
                                        .args = {args.begin() + 1, args.end()},
                                        .timeout = std::chrono::seconds(10),
                                        .output_limit = 64 << 10};
    auto child = std::make_unique<ChildProcess>(
        loop_, command,
        [this, text = Join(args, " "), then = std::move(then)](auto result) mutable {
          Status status = result.status();
          if (result.ok() && result->exit_code != 0) {
            status =
                Internal("{} ended with {}: {}", text, result->exit_code, Trim(result->errors));
          }
          // The child must not be destroyed inside its own callback.
          loop_.Post([alive = std::weak_ptr(alive_), then = std::move(then),
                      status = std::move(status)]() mutable {
            if (!alive.expired()) then(std::move(status));
          });
        });
    child_ = std::move(child);
  }

  void Finish(Status status) {
    child_.reset();
    if (auto done = std::exchange(done_, nullptr)) done(std::move(status));
  }

  AsioLoop& loop_;
  std::vector<NetCommand> commands_;
  size_t next_ = 0;
  Done done_;
  std::unique_ptr<ChildProcess> child_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace

std::unique_ptr<NetworkControl> MakeProcessNetworkControl(AsioLoop& loop) {
  return std::make_unique<ProcessNetworkControl>(loop);
}

}  // namespace koord::koordlet::hooks
