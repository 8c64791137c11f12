#include "kube/controller/controller.h"

#include "base/log.h"

namespace koord::kube {

Controller::Controller(std::string name, const ControllerParts& parts, ControllerOptions options)
    : name_(std::move(name)),
      parts_(parts),
      started_(!options.by_leadership),
      own_writes_(parts.client.loop().clock(), parts.informers),
      queue_(
          parts.client.loop(),
          [this](const std::string& key, WorkQueue::Finish done) { Handle(key, std::move(done)); },
          options.concurrency) {
  if (started_) parts_.informers.WhenSynced(scope_.Wrap([this] { Begin(); }));
}

Controller::~Controller() = default;

void Controller::Prepare(const std::string&, std::function<void()> ready) { ready(); }
void Controller::OnWritten(const std::string&, const Write&, const Json&) {}
void Controller::OnRefused(const std::string&, const Write&, const Status&) {}
void Controller::OnDone(const std::string&) {}

void Controller::Start() {
  if (std::exchange(started_, true)) return;
  parts_.informers.WhenSynced(scope_.Wrap([this] { Begin(); }));
}

void Controller::Begin() {
  if (!started_ || std::exchange(acts_, true)) return;
  for (const auto& [key, delay] : std::exchange(before_sync_, {})) queue_.AddAfter(key, delay);
  EnqueueAll();
}

void Controller::Stop() {
  started_ = acts_ = false;
  before_sync_.clear();
}

void Controller::WarnNow(const Resource& resource, const ObjectMeta& about, std::string_view reason,
                         std::string message) {
  Plan told;
  told.Warn(resource, about, reason, std::move(message));
  parts_.events.Record(told.notes.front());
}

void Controller::EnqueueAfter(const std::string& key, Duration delay) {
  if (acts_) {
    queue_.AddAfter(key, delay);
  } else if (started_) {
    before_sync_.emplace_back(key, delay);
  }
}

void Controller::EnqueueAll() {
  if (!acts_) return;
  for (const std::string& key : AllKeys()) queue_.Add(key);
}

void Controller::Handle(const std::string& key, WorkQueue::Finish done) {
  if (!acts_) return done(true);
  if (const auto wait = own_writes_.Wait(key)) {
    // Whatever shows the write brings the key back at once; this is for what never shows.
    queue_.AddAfter(key, *wait);
    return done(true);
  }
  Prepare(key, scope_.Wrap([this, key, done] {
    if (!acts_) return done(true);
    CarryOut(key, Decide(key), done);
  }));
}

void Controller::CarryOut(const std::string& key, Plan plan, WorkQueue::Finish done) {
  std::vector<Write> writes = std::exchange(plan.writes, {});
  for (const Write& write : writes)
    LOG_V(4, "Controller writes", {"controller", name_}, {"write", ToString(write)});
  SendAll(
      parts_.client, std::move(writes),
      scope_.Wrap([this, key, plan = std::move(plan), done = std::move(done)](
                      std::vector<WriteResult> results) { Finished(key, plan, results, done); }));
}

void Controller::Finished(const std::string& key, const Plan& plan,
                          const std::vector<WriteResult>& results, const WorkQueue::Finish& done) {
  bool ok = !plan.undecided;
  for (const WriteResult& result : results) {
    own_writes_.Remember(key, result);
    if (result.answer.ok()) {
      OnWritten(key, *result.write, *result.answer);
      continue;
    }
    ok = false;
    LOG_V(2, "Write refused", {"controller", name_}, {"write", ToString(*result.write)},
          {"err", result.answer.status()});
    OnRefused(key, *result.write, result.answer.status());
  }
  if (ok) {
    for (const EventRecorder::Note& note : plan.notes) parts_.events.Record(note);
    OnDone(key);
  }
  if (plan.again) EnqueueAfter(key, *plan.again);
  if (!ok && plan.retry) {
    EnqueueAfter(key, *plan.retry);
    return done(true);
  }
  done(ok);
}

ObjectKey ParseKey(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return {"", std::string(text)};
  return {std::string(text.substr(0, slash)), std::string(text.substr(slash + 1))};
}

}  // namespace koord::kube
