#include "kube/events/event_sender.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/log.h"
#include "base/uuid.h"
#include "kube/names.h"

namespace koord::kube {
namespace {

constexpr size_t kMaxWaiting = 1000;
constexpr size_t kMaxActive = 16;
constexpr int kMaxTries = 12;
constexpr Duration kRetryPause = std::chrono::seconds(10);

}  // namespace

struct EventSender::Job {
  explicit Job(EventLoop& loop) : timer(loop) {}
  ObjectKey key;
  bool create = true;
  Json patch;
  Json event;
  int tries = 0;
  Timer timer;
};

EventSender::EventSender(Client& client, Resource resource, std::string_view component,
                         uint64_t seed)
    : client_(client),
      resource_(std::move(resource)),
      random_(seed + std::hash<std::string_view>()(component)),
      offset_(static_cast<int64_t>(random_.Below(1000))) {}
EventSender::~EventSender() = default;

std::string EventSender::NameFor(std::string_view object_name) {
  std::string name = NameAt(object_name, NextStamp());
  return name.empty() ? NewUuid(random_) : name;
}

std::string EventSender::NameAt(std::string_view object_name, int64_t stamp) {
  std::string name = fmt::format("{}.{:x}", object_name, stamp);
  return CheckDnsSubdomain(name).empty() ? name : std::string();
}

int64_t EventSender::NextStamp() {
  // Strictly growing, because a clock may stand still or go back. A few nanoseconds of its own keep
  // it apart from others that have something to say of the same object at the same moment.
  const int64_t now = client_.loop().clock().Now().time_since_epoch().count() + offset_;
  last_stamp_ = std::max(last_stamp_ + 1, now);
  return last_stamp_;
}

void EventSender::Create(const ObjectKey& key, Json event) {
  auto job = std::make_unique<Job>(client_.loop());
  job->key = key;
  job->event = std::move(event);
  Enqueue(std::move(job));
}

void EventSender::Patch(const ObjectKey& key, Json patch, Json event) {
  // A write of this event that still waits is simply brought up to date.
  for (auto& job : waiting_) {
    if (job->key != key) continue;
    job->patch = std::move(patch);
    job->event = std::move(event);
    return;
  }
  auto job = std::make_unique<Job>(client_.loop());
  job->key = key;
  job->create = false;
  job->patch = std::move(patch);
  job->event = std::move(event);
  Enqueue(std::move(job));
}

void EventSender::Enqueue(std::unique_ptr<Job> job) {
  if (waiting_.size() >= kMaxWaiting) {
    LOG_V(2, "Too many events are waiting, dropping one", {"event", job->key.ToString()});
    return;
  }
  waiting_.push_back(std::move(job));
  StartNext();
}

void EventSender::StartNext() {
  while (active_.size() < kMaxActive) {
    const auto next = std::find_if(waiting_.begin(), waiting_.end(),
                                   [this](const auto& job) { return !active_.contains(job->key); });
    if (next == waiting_.end()) return;
    std::unique_ptr<Job> job = std::move(*next);
    waiting_.erase(next);
    Job& started = *job;
    active_.emplace(started.key, std::move(job));
    Write(started);
  }
}

void EventSender::Write(Job& job) {
  ++job.tries;
  auto done =
      scope_.Wrap([this, &job](const StatusOr<Json>& answer) { OnAnswer(job, answer.status()); });
  if (job.create) {
    client_.Create(resource_, job.key.ns, job.event, {.ignore_answer = true}, std::move(done));
  } else {
    client_.Patch(resource_, job.key, PatchType::kStrategic, job.patch, {.ignore_answer = true},
                  std::move(done));
  }
}

void EventSender::OnAnswer(Job& job, const Status& status) {
  if (status.ok()) return Finish(job);
  if (!job.create && kube::IsNotFound(status)) {
    job.create = true;
    return Write(job);
  }
  if (AsApiError(status) || job.tries >= kMaxTries) {
    LOG_V(2, "Dropping an event", {"event", job.key.ToString()}, {"err", status});
    return Finish(job);
  }
  // The first pause is random, so that clients that lost a server together return one by one.
  const auto pause = job.tries == 1
                         ? std::chrono::duration_cast<Duration>(kRetryPause * random_.Fraction())
                         : kRetryPause;
  job.timer.Set(pause, [this, &job] { Write(job); });
}

void EventSender::Finish(const Job& job) {
  active_.erase(ObjectKey(job.key));
  StartNext();
}

}  // namespace koord::kube
