#include "program/runner.h"

#include <utility>

#include "base/log.h"
#include "base/scope.h"

namespace koord::program {
namespace {

// How late a renewal may be before the health check fails, as in Kubernetes' programs.
constexpr Duration kHealthTolerance = std::chrono::seconds(20);

}  // namespace

class ComponentRunner::Impl {
 public:
  Impl(kube::Client& client, const Leadership& leadership, Component& component, ComponentApi& api,
       RunnerOptions options, Ended ended)
      : leadership_(leadership),
        component_(component),
        options_(std::move(options)),
        ended_(std::move(ended)),
        stop_limit_(client.loop()) {
    api.readyz().Add("informer-sync", [this] {
      if (phase_ != Phase::kStarting) return absl::OkStatus();
      return Unavailable("caches are still being filled");
    });
    if (!options_.election) return;
    elector_ = std::make_unique<kube::LeaderElector>(
        client, *options_.election,
        kube::LeaderCallbacks{.started = [this] { Lead(); },
                              .stopped = [this](const Status& why) { OnLeadershipEnd(why); }},
        options_.recorder);
    api.AddHealthCheck("leaderElection",
                       [this] { return elector_->HealthCheck(kHealthTolerance); });
    status_ = &api.metrics()
                   .AddGauges("leader_election_master_status",
                              "Gauge of if the reporting system is master of the relevant lease, 0 "
                              "indicates backup, 1 indicates master.",
                              {"name"})
                   .With({options_.election->lease.name});
  }

  void Start() {
    if (elector_ != nullptr) elector_->Observe();
    component_.Start(scope_.Wrap([this] {
      if (phase_ != Phase::kStarting) return;
      phase_ = Phase::kWaiting;
      elector_ != nullptr ? elector_->Start() : Lead();
    }));
  }

  void Stop() {
    if (phase_ >= Phase::kStopping) return;
    phase_ = Phase::kStopping;
    LOG_INFO("Stopping");
    stop_limit_.Set(options_.stop_limit, [this] {
      LOG_ERROR("Stopping took too long");
      End(1);
    });
    component_.Stop(scope_.Wrap([this] {
      if (elector_ == nullptr) return End(0);
      elector_->Stop(scope_.Wrap([this] { End(0); }));
    }));
  }

  bool is_leader() const {
    if (elector_ != nullptr) return elector_->is_leader();
    return phase_ == Phase::kLeading || phase_ == Phase::kStopping;
  }

 private:
  enum class Phase { kStarting, kWaiting, kLeading, kStopping, kEnded };

  void Lead() {
    if (phase_ != Phase::kWaiting) return;
    phase_ = Phase::kLeading;
    if (status_ != nullptr) status_->Set(1);
    if (options_.leading) options_.leading();
    component_.Lead(leadership_);
  }

  void OnLeadershipEnd(const Status& why) {
    status_->Set(0);
    if (!why.ok()) End(phase_ == Phase::kStopping ? 0 : 1);
  }

  void End(int exit_code) {
    if (std::exchange(phase_, Phase::kEnded) == Phase::kEnded) return;
    stop_limit_.Cancel();
    const Ended ended = ended_;  // may destroy this object
    ended(exit_code);
  }

  const Leadership& leadership_;
  Component& component_;
  const RunnerOptions options_;
  const Ended ended_;
  Phase phase_ = Phase::kStarting;
  std::unique_ptr<kube::LeaderElector> elector_;
  metrics::Gauge* status_ = nullptr;
  Timer stop_limit_;
  Scope scope_;
};

ComponentRunner::ComponentRunner(kube::Client& client, Component& component, ComponentApi& api,
                                 RunnerOptions options, Ended ended)
    : impl_(std::make_unique<Impl>(client, *this, component, api, std::move(options),
                                   std::move(ended))) {}
ComponentRunner::~ComponentRunner() = default;

void ComponentRunner::Start() { impl_->Start(); }
void ComponentRunner::Stop() { impl_->Stop(); }
bool ComponentRunner::is_leader() const { return impl_->is_leader(); }

}  // namespace koord::program
