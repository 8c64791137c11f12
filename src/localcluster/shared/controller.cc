#include "localcluster/shared/controller.h"

#include <memory>
#include <utility>

#include "base/log.h"
#include "kube/api_error.h"
#include "kube/client/resource_version.h"

namespace koord::localcluster {
namespace {

// How long a write's effect may take to show. After a lost answer nothing may ever show, and trying
// again too early does harm only once.
constexpr Duration kShowWithin = 10s;
constexpr Duration kShowWithinIfLost = 1s;

}  // namespace

EventRecorder& EventRecorders::For(const std::string& component) {
  std::unique_ptr<EventRecorder>& recorder = recorders_[component];
  if (recorder == nullptr) {
    recorder = kube::MakeCoreEventRecorder(
        client_, {.component = component, .seed = seed_ + recorders_.size()});
  }
  return *recorder;
}

Controller::Controller(std::string name, ControllerContext& context, int concurrency)
    : name_(std::move(name)),
      context_(context),
      recorder_(context.recorders.For(name_)),
      queue_(
          context.loop(),
          [this](const std::string& key, kube::WorkQueue::Finish done) {
            Handle(key, std::move(done));
          },
          concurrency) {
  context_.informers.WhenSynced(scope_.Wrap([this] {
    for (const std::string& key : std::exchange(before_sync_, {})) queue_.Add(key);
  }));
}

Controller::~Controller() = default;

void Controller::OnRefused(const std::string&, const Write&, const Status&) {}
void Controller::OnDone(const std::string&) {}

void Controller::Enqueue(const std::string& key) {
  if (context_.informers.synced()) {
    queue_.Add(key);
  } else {
    before_sync_.push_back(key);
  }
}

void Controller::Handle(const std::string& key, kube::WorkQueue::Finish done) {
  if (AwaitsOwnWrites(key)) return done(true);
  Plan plan = Decide(key);
  std::vector<Write> writes = std::move(plan.writes);
  plan.writes.clear();
  for (const Write& write : writes)
    LOG_V(4, "Controller writes", {"controller", name_}, {"write", ToString(write)});
  SendAll(
      context_.client, std::move(writes),
      scope_.Wrap([this, key, plan = std::move(plan), done = std::move(done)](
                      std::vector<WriteResult> results) { Finished(key, plan, results, done); }));
}

bool Controller::AwaitsOwnWrites(const std::string& key) {
  const auto entry = unseen_.find(key);
  if (entry == unseen_.end()) return false;
  const SteadyTime now = context_.clock().Steady();
  std::erase_if(entry->second,
                [&](const Unseen& write) { return now >= write.give_up || Shows(write); });
  if (entry->second.empty()) {
    unseen_.erase(entry);
    return false;
  }
  // Whatever shows the write brings the key back at once; this is for what never shows.
  queue_.AddAfter(key, entry->second.front().give_up - now);
  return true;
}

bool Controller::Shows(const Unseen& write) {
  const SharedInformers::MetaPtr seen = write.source->find(write.key);
  switch (write.verb) {
    case Write::Verb::kCreate:
      return seen != nullptr && (write.uid.empty() || seen->uid == write.uid);
    case Write::Verb::kPatch:
      return seen == nullptr || seen->uid != write.uid ||
             !kube::IsOlderVersion(seen->resource_version, write.resource_version);
    case Write::Verb::kDelete:
      return seen == nullptr || seen->uid != write.uid || kube::IsBeingDeleted(*seen);
  }
  return true;
}

void Controller::Finished(const std::string& key, const Plan& plan,
                          const std::vector<WriteResult>& results,
                          const kube::WorkQueue::Finish& done) {
  bool ok = true;
  for (const WriteResult& result : results) {
    Remember(key, result);
    if (result.answer.ok()) continue;
    ok = false;
    LOG_V(2, "Write refused", {"controller", name_}, {"write", ToString(*result.write)},
          {"err", result.answer.status()});
    OnRefused(key, *result.write, result.answer.status());
  }
  if (ok) {
    for (const EventRecorder::Note& note : plan.notes) recorder_.Record(note);
    OnDone(key);
  }
  if (plan.again) queue_.AddAfter(key, *plan.again);
  done(ok);
}

void Controller::Remember(const std::string& key, const WriteResult& result) {
  const Write& write = *result.write;
  const SharedInformers::Source* source = context_.informers.Find(write.resource);
  const bool posted = write.verb == Write::Verb::kCreate && !write.subresource.empty();
  if (source == nullptr || posted) return;
  Unseen unseen{.verb = write.verb,
                .source = source,
                .key = write.key,
                .give_up = context_.clock().Steady() + kShowWithin};
  if (result.answer.ok()) {
    if (result.answer->is_null()) return;
    unseen.uid = write.verb == Write::Verb::kDelete
                     ? write.options.uid
                     : kube::FindString(*result.answer, {"metadata", "uid"});
    unseen.resource_version = kube::FindString(*result.answer, {"metadata", "resourceVersion"});
  } else {
    // Refused: nothing happened. No answer: it may have.
    const bool lost = kube::HttpCode(result.answer.status()) == 0;
    if (!lost || write.verb != Write::Verb::kCreate) return;
    unseen.give_up = context_.clock().Steady() + kShowWithinIfLost;
  }
  if (!Shows(unseen)) unseen_[key].push_back(std::move(unseen));
}

kube::ObjectKey ParseKey(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return {"", std::string(text)};
  return {std::string(text.substr(0, slash)), std::string(text.substr(slash + 1))};
}

}  // namespace koord::localcluster
