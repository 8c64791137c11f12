#include "kube/transport/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cerrno>
#include <cstring>

#include "base/event_loop.h"

extern char** environ;

namespace koord::kube {
namespace {

// A program that has closed its outputs is about to end; how often to look whether it has.
constexpr Duration kReapInterval = std::chrono::milliseconds(5);

struct Pipe {
  int read_end = -1;
  int write_end = -1;

  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) == 0) {
      read_end = ends[0];
      write_end = ends[1];
    }
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    if (read_end >= 0) ::close(read_end);
    if (write_end >= 0) ::close(write_end);
  }
  bool ok() const { return read_end >= 0; }
  int TakeReadEnd() { return std::exchange(read_end, -1); }
};

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> MergedEnvironment(
    const std::vector<std::pair<std::string, std::string>>& added) {
  std::vector<std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string_view name = text.substr(0, text.find('='));
    bool replaced = false;
    for (const auto& [key, value] : added) replaced |= key == name;
    if (!replaced) merged.emplace_back(text);
  }
  for (const auto& [key, value] : added) merged.push_back(key + "=" + value);
  return merged;
}

// Zero, or the errno of the failure.
int Spawn(const ChildProcess::Command& command, const Pipe& out, const Pipe& err, pid_t* pid) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (!command.inherit_stdin) {
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  }
  posix_spawn_file_actions_adddup2(&actions, out.write_end, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.write_end, STDERR_FILENO);
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);

  // The program starts with no signal blocked, whatever this thread has blocked.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);

  std::vector<std::string> args{command.program};
  args.insert(args.end(), command.args.begin(), command.args.end());
  std::vector<std::string> environment = MergedEnvironment(command.env);
  const int error = ::posix_spawnp(pid, command.program.c_str(), &actions, &attributes,
                                   Pointers(args).data(), Pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return error;
}

}  // namespace

class ChildProcess::Impl final : public std::enable_shared_from_this<Impl> {
 public:
  Impl(AsioLoop& loop, Done done)
      : loop_(loop), done_(std::move(done)), out_(loop), err_(loop), reaper_(loop), timer_(loop) {}

  void Start(const Command& command) {
    limit_ = command.output_limit;
    Pipe out, err;
    if (!out.ok() || !err.ok()) return FailLater(Internal("{}", std::strerror(errno)));
    if (const int error = Spawn(command, out, err, &pid_); error != 0) {
      pid_ = 0;
      const std::string text =
          fmt::format("cannot run {}: {}", command.program, std::strerror(error));
      return FailLater(error == ENOENT ? NotFound("{}", text) : Internal("{}", text));
    }
    timer_.Set(command.timeout, [this, command_timeout = command.timeout] {
      const auto seconds =
          std::chrono::duration_cast<std::chrono::seconds>(command_timeout).count();
      Finish(absl::DeadlineExceededError(fmt::format("no answer within {} s", seconds)));
    });
    out_.descriptor.assign(out.TakeReadEnd());
    err_.descriptor.assign(err.TakeReadEnd());
    Read(out_);
    Read(err_);
  }

  void Stop() {
    done_ = nullptr;
    Kill();
  }

 private:
  struct Output {
    explicit Output(AsioLoop& loop) : descriptor(loop.context()) {}
    boost::asio::posix::stream_descriptor descriptor;
    std::array<char, 4096> chunk;
    std::string text;
    bool open = true;
  };

  void FailLater(Status status) {
    loop_.Post([self = shared_from_this(), status] { self->Finish(status); });
  }

  void Read(Output& output) {
    output.descriptor.async_read_some(
        boost::asio::buffer(output.chunk),
        [self = shared_from_this(), &output](const boost::system::error_code& error, size_t count) {
          self->OnRead(output, !error, count);
        });
  }

  void OnRead(Output& output, bool ok, size_t count) {
    if (done_ == nullptr) return;
    output.text.append(output.chunk.data(), count);
    if (output.text.size() > limit_) {
      if (&output == &out_) return Finish(Internal("it printed more than {} bytes", limit_));
      output.text.erase(0, output.text.size() - limit_ / 2);
    }
    if (ok) return Read(output);
    output.open = false;
    if (!out_.open && !err_.open) Reap();
  }

  void Reap() {
    int status = 0;
    const pid_t reaped = ::waitpid(pid_, &status, WNOHANG);
    if (reaped == 0) {
      reaper_.Set(kReapInterval, [this] { Reap(); });
      return;
    }
    pid_ = 0;
    Result result;
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    result.output = std::move(out_.text);
    result.errors = std::move(err_.text);
    Finish(std::move(result));
  }

  void Finish(StatusOr<Result> result) {
    const auto self = shared_from_this();
    Kill();
    if (Done done = std::exchange(done_, nullptr)) done(std::move(result));
  }

  void Kill() {
    timer_.Cancel();
    reaper_.Cancel();
    boost::system::error_code ignored;
    out_.descriptor.close(ignored);
    err_.descriptor.close(ignored);
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    // A killed process ends at once; waiting here leaves no zombie behind.
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

  AsioLoop& loop_;
  Done done_;  // null once called or stopped
  size_t limit_ = 0;
  pid_t pid_ = 0;
  Output out_, err_;
  Timer reaper_;
  Timer timer_;
};

ChildProcess::ChildProcess(AsioLoop& loop, const Command& command, Done done)
    : impl_(std::make_shared<Impl>(loop, std::move(done))) {
  impl_->Start(command);
}
ChildProcess::~ChildProcess() { impl_->Stop(); }

}  // namespace koord::kube
