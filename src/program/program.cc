#include "program/program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <cstdio>
#include <optional>
#include <random>

#include "base/asio_loop.h"
#include "base/host_name.h"
#include "base/log.h"
#include "base/version.h"
#include "kube/transport/kubeconfig.h"
#include "program/component_server.h"
#include "program/watchdog.h"

// Of the allocator, in programs that are linked to it.
extern "C" __attribute__((weak)) int MallocExtension_SetNumericProperty(const char* property,
                                                                        size_t value);

namespace koord::program {
namespace {

constexpr int kFailed = 1;
constexpr size_t kMemoryAtHand = 512 << 10;

// The allocator would keep megabytes of what was freed for each of many threads; there is one.
void KeepLittleMemoryAtHand() {
  if (MallocExtension_SetNumericProperty == nullptr) return;
  MallocExtension_SetNumericProperty("tcmalloc.max_total_thread_cache_bytes", kMemoryAtHand);
}

uint64_t TrueRandom() {
  std::random_device device;
  return (uint64_t{device()} << 32) | device();
}

// One run of a program, from the first connection to the exit code.
class Process {
 public:
  Process(const std::string& name, const Program::Options& options, const FeatureGates& gates)
      : name_(name),
        options_(options),
        gates_(gates),
        identity_(kube::MakeIdentity(HostName(), TrueRandom())),
        api_(options.profiling),
        signals_(loop_.context()) {}

  ComponentApi& api() { return api_; }

  StatusOr<int> Run(const Program::Make& make) {
    RETURN_IF_ERROR(Connect());
    AddFeatureGatesMetrics(api_.metrics(), gates_);
    Environment environment{loop_,
                            *client_,
                            ComponentClientOptions(),
                            transport_,
                            api_,
                            gates_,
                            identity_,
                            TrueRandom(),
                            loop_,
                            [this](const Status& why) { GiveUp(why); }};
    ASSIGN_OR_RETURN(component_, make(environment));
    if (component_ == nullptr) return 0;
    runner_ =
        std::make_unique<ComponentRunner>(*control_client_, *component_, api_, MakeRunnerOptions(),
                                          [this](int code) { OnEnded(code); });
    RETURN_IF_ERROR(Serve());
    StopOnSignals();
    runner_->Start();
    loop_.Run();
    for (const int signal : {SIGTERM, SIGINT}) std::signal(signal, SIG_DFL);
    return exit_code_;
  }

 private:
  StatusOr<std::shared_ptr<kube::Transport>> Reach(const std::string& kubeconfig) {
    ASSIGN_OR_RETURN(
        const kube::ClientConfig config,
        kube::LoadClientConfig({.kubeconfig = kubeconfig, .master = options_.client.master}));
    return kube::MakeTransport(loop_, config);
  }

  kube::Client::Options ClientOptions(double qps, int burst) const {
    kube::Client::Options options;
    options.user_agent = fmt::format("{}/{}", name_, kVersion);
    options.qps = qps;
    options.burst = burst;
    return options;
  }

  kube::Client::Options ComponentClientOptions() const {
    return ClientOptions(options_.client.qps, options_.client.burst);
  }

  // Leases and questions about callers have connections and limits of their own: the component's
  // requests may be many.
  Status Connect() {
    ASSIGN_OR_RETURN(transport_, Reach(options_.client.kubeconfig));
    ASSIGN_OR_RETURN(const auto control, Reach(options_.client.kubeconfig));
    auto auth = control;
    if (!options_.secure.auth_kubeconfig.empty()) {
      ASSIGN_OR_RETURN(auth, Reach(options_.secure.auth_kubeconfig));
    }
    client_ = std::make_unique<kube::Client>(loop_, transport_, ComponentClientOptions());
    control_client_ = std::make_unique<kube::Client>(loop_, control, ClientOptions(50, 100));
    auth_client_ = std::make_unique<kube::Client>(loop_, auth, ClientOptions(200, 400));
    recorder_ = kube::MakeCoreEventRecorder(*control_client_, {.component = name_, .host = {}});
    return absl::OkStatus();
  }

  RunnerOptions MakeRunnerOptions() {
    RunnerOptions runner;
    if (!options_.leader_election.enabled) return runner;
    runner.election = options_.leader_election.election;
    runner.election->identity = identity_;
    runner.election->seed = TrueRandom();
    runner.recorder = recorder_.get();
    runner.leading = [this] {
      watchdog_ =
          std::make_unique<Watchdog>(loop_, options_.leader_election.election.renew_deadline);
    };
    return runner;
  }

  Status Serve() {
    const PlainViewOptions view{.metrics = options_.metrics_without_login,
                                .secure_port = options_.secure.port};
    std::optional<ComponentServer::Plain> plain;
    if (options_.plain.port > 0) {
      plain = {options_.plain.address, static_cast<uint16_t>(options_.plain.port), view};
    }
    std::optional<ComponentServer::Secure> secure;
    if (options_.secure.port > 0) {
      secure = {name_, options_.secure, static_cast<uint16_t>(options_.secure.port)};
    }
    ASSIGN_OR_RETURN(server_, ComponentServer::Start(loop_, api_, *auth_client_, plain, secure));
    for (const PlainServingOptions& further : options_.further_plain) {
      if (further.port == 0) continue;
      const ComponentServer::Plain at{further.address, static_cast<uint16_t>(further.port), view};
      ASSIGN_OR_RETURN(auto server, ComponentServer::Start(loop_, api_, *auth_client_, at, {}));
      further_servers_.push_back(std::move(server));
    }
    return absl::OkStatus();
  }

  void StopOnSignals() {
    for (const int signal : {SIGTERM, SIGINT}) signals_.add(signal);
    signals_.async_wait([this](const boost::system::error_code& error, int) {
      if (error) return;
      signals_.clear();
      for (const int signal : {SIGTERM, SIGINT}) {
        std::signal(signal, [](int) { _exit(kFailed); });
      }
      runner_->Stop();
    });
  }

  void GiveUp(const Status& why) {
    std::fprintf(stderr, "%s: %s\n", name_.c_str(), std::string(Message(why)).c_str());
    OnEnded(kFailed);
  }

  void OnEnded(int code) {
    exit_code_ = code;
    watchdog_ = nullptr;
    if (code != 0) return loop_.Stop();
    for (const auto& server : further_servers_) server->Stop([] {});
    server_->Stop([this] { loop_.Stop(); });
  }

  const std::string name_;
  const Program::Options& options_;
  const FeatureGates& gates_;
  const std::string identity_;
  int exit_code_ = 0;

  AsioLoop loop_;
  std::shared_ptr<kube::Transport> transport_;
  std::unique_ptr<kube::Client> client_;
  std::unique_ptr<kube::Client> control_client_;
  std::unique_ptr<kube::Client> auth_client_;
  std::unique_ptr<kube::EventRecorder> recorder_;
  ComponentApi api_;
  std::unique_ptr<Component> component_;
  std::unique_ptr<ComponentRunner> runner_;
  std::unique_ptr<ComponentServer> server_;
  std::vector<std::unique_ptr<ComponentServer>> further_servers_;
  std::unique_ptr<Watchdog> watchdog_;
  boost::asio::signal_set signals_;
};

}  // namespace

Program::Program(std::string name, std::string description, FeatureGates gates)
    : flags_(std::move(name), std::move(description)), gates_(std::move(gates)) {
  options_.leader_election.election.release_on_stop = true;
}

void Program::AddStandardFlags() {
  AddClientFlags(flags_, options_.client);
  AddLeaderElectionFlags(flags_, options_.leader_election);
  AddPlainServingFlags(flags_, options_.plain);
  AddSecureServingFlags(flags_, options_.secure);
  AddFeatureGatesFlag(flags_.AddGroup("Features"), gates_);
  flags_.AddGroup("Debugging").Bool("--profiling", options_.profiling, "Serve /debug.");
  flags_.Accept({"--emulated-version"}, {"--contention-profiling"});
  AddMetricsFlags(flags_);
  AddOpenMetricsFlag(flags_, options_.metrics_without_login);
  AddLoggingFlags(flags_, options_.logging);
}

StatusOr<bool> Program::Prepare() {
  RETURN_IF_ERROR(Apply(options_.logging));
  for (const std::string& warning : gates_.warnings()) LOG_WARNING(warning);
  if (prepare_) {
    ASSIGN_OR_RETURN(const bool run, prepare_());
    if (!run) return false;
  }
  RETURN_IF_ERROR(Validate(options_.leader_election));
  RETURN_IF_ERROR(Validate(options_.plain));
  for (const PlainServingOptions& further : options_.further_plain) {
    RETURN_IF_ERROR(Validate(further));
  }
  RETURN_IF_ERROR(Validate(options_.secure));
  return true;
}

std::vector<std::string> Program::WithoutEffect() const {
  std::vector<std::string> sentences = gates_.WithoutEffect();
  for (const std::string& flag : flags_.IgnoredFlags()) {
    sentences.push_back(fmt::format("flag {} has no effect", flag));
  }
  return sentences;
}

int Program::Run(int argc, const char* const* argv, const Make& make) {
  KeepLittleMemoryAtHand();
  const Flags::Outcome outcome = flags_.Read(argc, argv);
  std::fputs(outcome.out.c_str(), stdout);
  std::fputs(outcome.err.c_str(), stderr);
  if (!outcome.run) return outcome.exit_code;
  const StatusOr<bool> prepared = Prepare();
  Status status = prepared.status();
  if (status.ok()) {
    if (!*prepared) return 0;
    const std::vector<std::string> without_effect = WithoutEffect();
    for (const std::string& sentence : without_effect) LOG_WARNING(sentence);
    LOG_INFO("Starting", {"program", flags_.program()}, {"version", kVersion});
    Process process(flags_.program(), options_, gates_);
    process.api().AddSettingProblems(without_effect);
    const StatusOr<int> code = process.Run(make);
    if (code.ok()) return *code;
    status = code.status();
  }
  std::fprintf(stderr, "%s: %s\n", flags_.program().c_str(), std::string(Message(status)).c_str());
  return kFailed;
}

}  // namespace koord::program
