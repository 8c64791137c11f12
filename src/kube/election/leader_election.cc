#include "kube/election/leader_election.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/duration.h"
#include "base/log.h"
#include "base/random.h"
#include "base/scope.h"
#include "base/uuid.h"
#include "kube/json.h"
#include "kube/resources.h"
#include "kube/time.h"

namespace koord::kube {
namespace {

constexpr double kJitter = 1.2;
constexpr Duration kReleaseTime = std::chrono::seconds(5);

int64_t WholeSeconds(Duration duration) {
  return std::chrono::ceil<std::chrono::seconds>(duration).count();
}

}  // namespace

class LeaderElector::Impl {
 public:
  Impl(Client& client, LeaderElectionOptions options, LeaderCallbacks callbacks,
       EventRecorder* recorder)
      : client_(client),
        clock_(client.loop().clock()),
        options_(std::move(options)),
        callbacks_(std::move(callbacks)),
        recorder_(recorder),
        random_(options_.seed),
        next_attempt_(client.loop()),
        attempt_limit_(client.loop()),
        deadline_timer_(client.loop()) {}

  void Observe() {
    if (running_) return;
    running_ = true;
    Attempt();
  }

  void Start() {
    if (candidate_) return;
    running_ = candidate_ = true;
    next_attempt_.Cancel();
    LOG_INFO("Attempting to acquire leader lease", {"lease", options_.lease.ToString()});
    Attempt();
  }

  void Stop(std::function<void()> done) {
    const bool led = is_leader();
    Halt();
    if (std::exchange(leading_, false)) Tell(absl::OkStatus());
    if (!led || !options_.release_on_stop) {
      if (done) client_.loop().Post(scope_.Wrap(std::move(done)));
      return;
    }
    Release(std::move(done));
  }

  bool is_leader() const { return leading_ && clock_.Steady() < deadline_; }
  std::string leader() const { return std::string(FindString(spec(), {"holderIdentity"})); }

  Status HealthCheck(Duration tolerance) const {
    if (!leading_) return absl::OkStatus();
    const Duration age = clock_.Steady() - observed_at_;
    if (age <= options_.lease_duration + tolerance) return absl::OkStatus();
    return FailedPrecondition("failed election to renew leadership on lease {} for {} s",
                              options_.lease.name, WholeSeconds(age));
  }

 private:
  // ---- one attempt to acquire or renew ----

  void Attempt() {
    attempt_.emplace();
    // A request that hangs must not use up the time in which others would get through.
    attempt_limit_.Set(options_.renew_deadline / 2, [this] { EndAttempt(false, "timed out"); });
    if (HoldsLease()) return Renew();
    Read();
  }

  bool HoldsLease() const { return leader() == options_.identity && IsValid(); }

  bool IsValid() const { return RunsOut() > clock_.Steady(); }

  // By our own clock: counted from when the record last changed here.
  SteadyTime RunsOut() const {
    return observed_at_ + BoundedSeconds(FindInt(spec(), {"leaseDurationSeconds"}, 0));
  }

  void Renew() {
    Json lease = lease_;
    At(lease, {"spec", "renewTime"}) = FormatMicroTime(clock_.Now());
    At(lease, {"spec", "leaseDurationSeconds"}) = WholeSeconds(options_.lease_duration);
    Write(std::move(lease), [this](const Status&) { Read(); });
  }

  void Read() {
    client_.Get(kLeases, options_.lease, attempt_->Wrap([this](StatusOr<Json> lease) {
      if (lease.ok()) return OnRead(std::move(*lease));
      if (candidate_ && kube::IsNotFound(lease.status())) return Create();
      EndAttempt(false, Message(lease.status()));
    }));
  }

  void OnRead(Json lease) {
    Observe(std::move(lease), clock_.Steady());
    const bool mine = leader() == options_.identity;
    // Somebody else has led, or may have: that cannot be undone by taking the lease again.
    if (leading_ && !mine) return Lose();
    if (!candidate_) return EndAttempt(false, "no candidate yet");
    if (!leader().empty() && !mine && IsValid()) return EndAttempt(false, "held by another");
    Json wanted = lease_;
    Json& spec = At(wanted, {"spec"});
    const std::string now = FormatMicroTime(clock_.Now());
    if (!mine) {
      At(spec, {"acquireTime"}) = now;
      At(spec, {"leaseTransitions"}) = FindInt(spec, {"leaseTransitions"}) + 1;
    }
    At(spec, {"holderIdentity"}) = options_.identity;
    At(spec, {"renewTime"}) = now;
    At(spec, {"leaseDurationSeconds"}) = WholeSeconds(options_.lease_duration);
    Write(std::move(wanted), [this](const Status& status) { EndAttempt(false, Message(status)); });
  }

  void Create() {
    const std::string now = FormatMicroTime(clock_.Now());
    const Json lease{
        {"apiVersion", kLeases.api_version()},
        {"kind", kLeases.kind},
        {"metadata", {{"namespace", options_.lease.ns}, {"name", options_.lease.name}}},
        {"spec",
         {{"holderIdentity", options_.identity},
          {"leaseDurationSeconds", WholeSeconds(options_.lease_duration)},
          {"acquireTime", now},
          {"renewTime", now},
          {"leaseTransitions", 0}}}};
    const SteadyTime sent = clock_.Steady();
    client_.Create(kLeases, options_.lease.ns, lease, {},
                   attempt_->Wrap([this, sent](StatusOr<Json> created) {
                     if (!created.ok()) return EndAttempt(false, Message(created.status()));
                     OnWritten(std::move(*created), sent);
                   }));
  }

  // The lease's resourceVersion makes sure that nobody else has written meanwhile.
  void Write(Json lease, std::function<void(const Status&)> failed) {
    const SteadyTime sent = clock_.Steady();
    client_.Update(kLeases, options_.lease, lease, {},
                   attempt_->Wrap([this, sent, failed](StatusOr<Json> written) {
                     if (!written.ok()) return failed(written.status());
                     OnWritten(std::move(*written), sent);
                   }));
  }

  void OnWritten(Json lease, SteadyTime sent) {
    Observe(std::move(lease), sent);
    observed_at_ = sent;
    const SteadyTime next = clock_.Steady() + options_.retry_period;
    deadline_ = std::min(next + options_.renew_deadline, sent + options_.lease_duration);
    EndAttempt(true, "");
  }

  void Observe(Json lease, SteadyTime at) {
    const Json before = spec();
    lease_ = std::move(lease);
    if (!Equal(before, spec())) observed_at_ = at;
    if (leader() == reported_) return;
    reported_ = leader();
    if (!reported_.empty() && callbacks_.new_leader) callbacks_.new_leader(reported_);
  }

  const Json& spec() const {
    static const Json kNone;
    const Json* spec = Find(lease_, {"spec"});
    return spec == nullptr ? kNone : *spec;
  }

  // ---- between attempts ----

  void EndAttempt(bool ok, std::string_view why) {
    attempt_.emplace();
    attempt_limit_.Cancel();
    if (!running_) return;
    if (ok) return leading_ ? Continue() : Lead();
    LOG_V(4, "Did not get the lease", {"lease", options_.lease.ToString()}, {"reason", why});
    next_attempt_.Set(leading_ ? options_.retry_period : CandidatePause(), [this] { Attempt(); });
  }

  Duration CandidatePause() {
    const auto pause = std::chrono::duration_cast<Duration>(options_.retry_period *
                                                            (1.0 + kJitter * random_.Fraction()));
    // The cluster has no leader from when the lease runs out: no reason to be later than that.
    return IsValid() ? std::min<Duration>(pause, RunsOut() - clock_.Steady()) : pause;
  }

  void Lead() {
    leading_ = true;
    LOG_INFO("Successfully acquired lease", {"lease", options_.lease.ToString()});
    RecordEvent("became leader");
    Continue();
    const auto started = callbacks_.started;  // may destroy this object
    started();
  }

  void Continue() {
    deadline_timer_.Set(deadline_ - clock_.Steady(), [this] { Lose(); });
    next_attempt_.Set(options_.retry_period, [this] { Attempt(); });
  }

  void Lose() {
    Halt();
    leading_ = false;
    LOG_ERROR("leaderelection lost", {"lease", options_.lease.ToString()});
    Tell(absl::AbortedError("leaderelection lost"));
  }

  void Halt() {
    running_ = candidate_ = false;
    attempt_.emplace();
    next_attempt_.Cancel();
    attempt_limit_.Cancel();
    deadline_timer_.Cancel();
  }

  void Tell(const Status& why) {
    RecordEvent("stopped leading");
    const auto stopped = callbacks_.stopped;  // may destroy this object
    stopped(why);
  }

  // ---- handing the lease back ----

  void Release(std::function<void()> done) {
    // Whatever happens, `done` runs once.
    const auto finish = [this, done = std::move(done)] {
      attempt_.emplace();
      attempt_limit_.Cancel();
      if (done) done();
    };
    attempt_limit_.Set(kReleaseTime, finish);
    client_.Get(kLeases, options_.lease, attempt_->Wrap([this, finish](StatusOr<Json> lease) {
      if (!lease.ok() || FindString(*lease, {"spec", "holderIdentity"}) != options_.identity) {
        return finish();
      }
      const std::string now = FormatMicroTime(clock_.Now());
      Json& spec = At(*lease, {"spec"});
      At(spec, {"holderIdentity"}) = "";
      At(spec, {"leaseDurationSeconds"}) = 1;
      At(spec, {"renewTime"}) = now;
      At(spec, {"acquireTime"}) = now;
      client_.Update(kLeases, options_.lease, *lease, {},
                     attempt_->Wrap([finish](const StatusOr<Json>&) { finish(); }));
    }));
  }

  void RecordEvent(std::string_view what) {
    if (recorder_ == nullptr) return;
    EventRecorder::Note note;
    note.regarding.kind = kLeases.kind;
    note.regarding.api_version = kLeases.api_version();
    note.regarding.ns = options_.lease.ns;
    note.regarding.name = options_.lease.name;
    note.regarding.uid = FindString(lease_, {"metadata", "uid"});
    note.regarding.resource_version = FindString(lease_, {"metadata", "resourceVersion"});
    note.reason = "LeaderElection";
    note.action = "LeaderElection";
    note.message = fmt::format("{} {}", options_.identity, what);
    recorder_->Record(note);
  }

  Client& client_;
  const Clock& clock_;
  const LeaderElectionOptions options_;
  const LeaderCallbacks callbacks_;
  EventRecorder* const recorder_;
  Random random_;

  bool running_ = false;
  bool candidate_ = false;
  bool leading_ = false;
  Json lease_;                 // as last read or written, with all that others put into it
  SteadyTime observed_at_{0};  // when its record last changed
  SteadyTime deadline_{0};     // of our leadership
  std::string reported_;
  Timer next_attempt_;
  Timer attempt_limit_;
  Timer deadline_timer_;
  std::optional<Scope> attempt_{std::in_place};
  Scope scope_;
};

Status LeaderElector::Validate(const LeaderElectionOptions& options) {
  if (options.lease.ns.empty() || options.lease.name.empty()) {
    return InvalidArgument("leader election needs the namespace and the name of a lease");
  }
  if (options.identity.empty()) return InvalidArgument("leader election needs an identity");
  if (options.retry_period <= Duration::zero()) {
    return InvalidArgument("retryPeriod must be greater than zero");
  }
  if (options.renew_deadline <= options.retry_period * kJitter) {
    return InvalidArgument("renewDeadline must be greater than retryPeriod times {}", kJitter);
  }
  if (options.lease_duration <= options.renew_deadline) {
    return InvalidArgument("leaseDuration must be greater than renewDeadline");
  }
  return absl::OkStatus();
}

LeaderElector::LeaderElector(Client& client, LeaderElectionOptions options,
                             LeaderCallbacks callbacks, EventRecorder* recorder)
    : impl_(std::make_unique<Impl>(client, std::move(options), std::move(callbacks), recorder)) {}
LeaderElector::~LeaderElector() = default;

void LeaderElector::Observe() { impl_->Observe(); }
void LeaderElector::Start() { impl_->Start(); }
void LeaderElector::Stop(std::function<void()> done) { impl_->Stop(std::move(done)); }
bool LeaderElector::is_leader() const { return impl_->is_leader(); }
std::string LeaderElector::leader() const { return impl_->leader(); }
Status LeaderElector::HealthCheck(Duration tolerance) const {
  return impl_->HealthCheck(tolerance);
}

std::string MakeIdentity(std::string_view hostname, uint64_t seed) {
  Random random(seed);
  return fmt::format("{}_{}", hostname, NewUuid(random));
}

}  // namespace koord::kube
