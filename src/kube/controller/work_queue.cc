#include "kube/controller/work_queue.h"

#include <algorithm>
#include <utility>

#include "kube/client/token_bucket.h"

namespace koord::kube {
namespace {

constexpr Duration kFirstPause = std::chrono::milliseconds(5);
constexpr Duration kLongestPause = std::chrono::seconds(1000);
constexpr double kRetriesPerSecond = 10;
constexpr double kRetryBurst = 100;

Duration PauseAfter(int failures) {
  Duration pause = kFirstPause;
  for (int i = 1; i < failures && pause < kLongestPause; ++i) pause *= 2;
  return std::min(pause, kLongestPause);
}

}  // namespace

class WorkQueue::Impl {
 public:
  Impl(EventLoop& loop, Handler handler, int concurrency)
      : loop_(loop),
        handler_(std::move(handler)),
        concurrency_(static_cast<size_t>(std::max(concurrency, 1))),
        retries_(loop.clock(), kRetriesPerSecond, kRetryBurst),
        timer_(loop) {}

  void Add(const std::string& key) {
    if (!wanted_.insert(key).second) return;
    // A key that is being handled waits for its end.
    if (!active_.contains(key)) Enqueue(key);
  }

  void AddAfter(const std::string& key, Duration delay) {
    if (delay <= Duration::zero()) return Add(key);
    const SteadyTime due = loop_.clock().Steady() + delay;
    if (const auto it = due_.find(key); it != due_.end()) {
      if (it->second <= due) return;
      delayed_.erase({it->second, key});
    }
    due_[key] = due;
    delayed_.insert({due, key});
    SetTimer();
  }

  size_t size() const { return waiting_.size(); }
  bool idle() const { return waiting_.empty() && active_.empty(); }

 private:
  void Enqueue(const std::string& key) {
    waiting_.push_back(key);
    PostRun();
  }

  void PostRun() {
    if (std::exchange(run_posted_, true)) return;
    loop_.Post(scope_.Wrap([this] { Run(); }));
  }

  // One key a task, so that a long queue does not keep the loop from its other work.
  void Run() {
    run_posted_ = false;
    if (waiting_.empty() || active_.size() >= concurrency_) return;
    const std::string key = std::move(waiting_.front());
    waiting_.pop_front();
    wanted_.erase(key);
    const uint64_t run = next_run_++;
    active_.emplace(key, run);
    if (!waiting_.empty()) PostRun();
    handler_(key, scope_.Wrap([this, key, run](bool ok) { OnDone(key, run, ok); }));
  }

  void OnDone(const std::string& key, uint64_t run, bool ok) {
    const auto it = active_.find(key);
    if (it == active_.end() || it->second != run) return;  // called twice
    active_.erase(it);
    if (ok) failures_.erase(key);
    const int failures = ok ? 0 : ++failures_[key];
    if (wanted_.contains(key)) {
      Enqueue(key);
    } else if (!ok) {
      AddAfter(key, std::max(PauseAfter(failures), retries_.Reserve()));
    }
    if (!waiting_.empty()) PostRun();
  }

  void SetTimer() {
    if (delayed_.empty()) return timer_.Cancel();
    timer_.Set(delayed_.begin()->first - loop_.clock().Steady(), [this] { TakeDue(); });
  }

  void TakeDue() {
    const SteadyTime now = loop_.clock().Steady();
    while (!delayed_.empty() && delayed_.begin()->first <= now) {
      const std::string key = delayed_.begin()->second;
      delayed_.erase(delayed_.begin());
      due_.erase(key);
      Add(key);
    }
    SetTimer();
  }

  EventLoop& loop_;
  const Handler handler_;
  const size_t concurrency_;
  TokenBucket retries_;

  std::deque<std::string> waiting_;
  std::set<std::string> wanted_;            // waiting, or added while being handled
  std::map<std::string, uint64_t> active_;  // being handled, in which run
  std::map<std::string, int> failures_;     // in a row
  std::map<std::string, SteadyTime> due_;
  std::set<std::pair<SteadyTime, std::string>> delayed_;
  uint64_t next_run_ = 1;
  bool run_posted_ = false;
  Timer timer_;
  Scope scope_;
};

WorkQueue::WorkQueue(EventLoop& loop, Handler handler, int concurrency)
    : impl_(std::make_unique<Impl>(loop, std::move(handler), concurrency)) {}
WorkQueue::~WorkQueue() = default;

void WorkQueue::Add(const std::string& key) { impl_->Add(key); }
void WorkQueue::AddAfter(const std::string& key, Duration delay) { impl_->AddAfter(key, delay); }
size_t WorkQueue::size() const { return impl_->size(); }
bool WorkQueue::idle() const { return impl_->idle(); }

}  // namespace koord::kube
