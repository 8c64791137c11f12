#include "scheduler/core/scheduler.h"

#include <utility>

namespace koord::scheduler {
namespace {

// Enough to keep an API server busy. Nodes that are chosen while it is behind would only be chosen
// on older knowledge, and wait in memory.
constexpr size_t kMaxWrites = 256;

bool IsAssigned(const std::shared_ptr<const kube::Pod>& pod) {
  return pod != nullptr && !pod->spec.node_name.empty();
}

}  // namespace

Scheduler::Scheduler(EventLoop& loop, kube::Client& client, AttemptObserver* observer,
                     std::unique_ptr<Extenders> extenders, const Options& options)
    : loop_(loop),
      timer_(loop.clock(), observer != nullptr ? *observer : nobody_),
      nominations_(
          ledger_, [this](const kube::Pod& pod) { return pending_.contains(pod.metadata.uid); },
          [this](const WakeFilter& filter) {
            queue_->OnEvent({.kind = EventKind::kAssignedPodRemoved}, filter);
          }),
      waiting_(loop),
      guard_(options.may_write, options.check_owner_before_binding, pending_.pods()),
      extenders_(std::move(extenders), ledger_, reasons_, [this] { turns_.Wake(); }),
      profiles_({.loop = loop,
                 .client = client,
                 .ledger = ledger_,
                 .books = books_,
                 .objects = objects_,
                 .reasons = reasons_,
                 .nominations = nominations_,
                 .waiting = waiting_,
                 .pending = pending_,
                 .leader_parts = leader_parts_,
                 .observer = timer_.observer(),
                 .metrics = options.metrics,
                 .gates = options.gates},
                {.still_wanted = [this](const Attempt& attempt) { return guard_.Check(attempt); },
                 .point_done = [this](CyclePoint point, Attempt& attempt,
                                      Code code) { timer_.End(point, attempt, code); },
                 .bind_instead = {.binds =
                                      [this](const Attempt& attempt) {
                                        return extenders_.HaveABinderFor(*attempt.pod);
                                      },
                                  .bind =
                                      [this](const Attempt& attempt, VerdictDone done) {
                                        extenders_.Bind(attempt, std::move(done));
                                      }}},
                options.seed),
      turns_(loop, [this] { return TryNext(); }) {}

Scheduler::~Scheduler() = default;

StatusOr<std::unique_ptr<Scheduler>> Scheduler::Make(EventLoop& loop, kube::Client& client,
                                                     Options options) {
  auto scheduler = std::unique_ptr<Scheduler>(
      new Scheduler(loop, client, options.observer, std::move(options.extenders), options));
  ASSIGN_OR_RETURN(scheduler->queue_, scheduler->profiles_.Make(std::move(options.profiles),
                                                                std::move(options.queue)));
  scheduler->MakeParts(options.may_write);
  return scheduler;
}

void Scheduler::MakeParts(const std::function<bool()>& may_write) {
  queue_->OnReady([this] { turns_.Wake(); });
  next_ = std::make_unique<NextPods>(*queue_, profiles_.next_pod_plugins());
  failures_ = std::make_unique<FailureHandler>(FailureHandler::Parts{.queue = *queue_,
                                                                     .nominations = nominations_,
                                                                     .pending = pending_.pods(),
                                                                     .observer = timer_.observer()},
                                               may_write);
  post_filter_ = std::make_unique<PostFilterCycle>(
      PostFilterCycle::Parts{.reasons = reasons_,
                             .nominations = nominations_,
                             .extenders = extenders_,
                             .failures = *failures_,
                             .timer = timer_},
      [this](const kube::Pod& pod) { return running() && pending_.contains(pod.metadata.uid); });
  assumed_ = std::make_unique<AssumedPods>(AssumedPods::Parts{.ledger = ledger_,
                                                              .queue = *queue_,
                                                              .nominations = nominations_,
                                                              .waiting = waiting_,
                                                              .pending = pending_.pods(),
                                                              .failures = *failures_,
                                                              .timer = timer_},
                                           [this] {
                                             if (api_is_behind_) turns_.Wake();
                                           });
  cycle_ = std::make_unique<SchedulingCycle>(
      SchedulingCycle::Parts{.ledger = ledger_,
                             .queue = *queue_,
                             .pending = pending_.pods(),
                             .extenders = extenders_,
                             .assumed = *assumed_,
                             .post_filter = *post_filter_,
                             .failures = *failures_,
                             .timer = timer_},
      SchedulingCycle::Conditions{.running = [this] { return running(); }, .may_write = may_write});
}

void Scheduler::Start() {
  turns_.Start();
  leader_parts_.Start();
}

void Scheduler::Stop() {
  turns_.Stop();
  leader_parts_.Stop();
}

void Scheduler::WhenDrained(Task done) {
  assumed_->WhenDrained(
      [this, done = std::move(done)]() mutable { leader_parts_.WhenStopped(std::move(done)); });
}

bool Scheduler::TryNext() {
  if (extenders_.asking()) return false;  // their answer calls Wake
  api_is_behind_ = profiles_.writing() >= kMaxWrites;
  if (api_is_behind_) return false;  // its next answer does
  const auto queued = next_->Take();
  if (!queued) return false;  // the queue does
  cycle_->Run(profiles_.For(*queued->pod), *queued);
  return true;
}

bool Scheduler::idle() const {
  return queue_->counts().active == 0 && assumed_->empty() && !turns_.posted() &&
         !extenders_.asking();
}

Pipeline* Scheduler::PipelineFor(const kube::Pod& pod) {
  Runtime* runtime = profiles_.For(pod);
  return runtime == nullptr ? nullptr : &runtime->pipeline();
}

void Scheduler::ForEachPending(const std::function<void(const kube::Pod&)>& visit) const {
  for (const PodPtr& pod : pending_.pods()) visit(*pod);
}

// ---- What the cluster says

void Scheduler::OnPod(const PodPtr& before, const PodPtr& after) {
  if (after == nullptr) return OnGone(before);
  if (IsAssigned(after)) return OnAssigned(before, after);
  OnUnassigned(before, after);
}

void Scheduler::OnAssigned(const PodPtr& before, const PodPtr& after) {
  const std::string& uid = after->metadata.uid;
  const bool known = IsAssigned(before);
  pending_.SetBound(after, known);
  queue_->Delete(uid);
  nominations_.End(*after);
  ledger_.SetPod(after);
  queue_->OnEvent({.kind = known ? EventKind::kAssignedPodUpdated : EventKind::kAssignedPodAdded,
                   .pod_before = before,
                   .pod_after = after});
}

void Scheduler::OnUnassigned(const PodPtr& before, const PodPtr& after) {
  pending_.Set(after);
  nominations_.OnPending(before, after);
  if (profiles_.For(*after) == nullptr) {
    queue_->Delete(after->metadata.uid);
    return;
  }
  // While it is being bound the queue remembers the newest version for its return.
  queue_->Add(after);
}

void Scheduler::OnGone(const PodPtr& before) {
  const std::string& uid = before->metadata.uid;
  pending_.Remove(uid);
  queue_->Delete(uid);
  const bool promised = !nominations_.Take(uid).empty();
  if (assumed_->OnGone(uid)) {
    queue_->OnEvent({.kind = EventKind::kAssignedPodRemoved, .pod_before = before});
  } else if (promised) {
    nominations_.TellFreed(*before);
  }
}

void Scheduler::OnNode(const NodePtr& before, const NodePtr& after) {
  if (after == nullptr) {
    ledger_.RemoveNode(before->metadata.name);
    queue_->OnEvent({.kind = EventKind::kNodeRemoved, .node_before = before});
    return;
  }
  NodeChanges changes;
  const bool is_new = !ledger_.nodes().Find(after->metadata.name);
  ledger_.SetNode(after, &changes);
  if (!is_new && !changes.any()) return;
  queue_->OnEvent({.kind = is_new ? EventKind::kNodeAdded : EventKind::kNodeUpdated,
                   .node_before = before,
                   .node_after = after,
                   .node_changes = changes});
}

}  // namespace koord::scheduler
