#include "scheduler/queue/scheduling_queue.h"

#include <algorithm>

#include "scheduler/queue/pod_change.h"

namespace koord::scheduler {

namespace {

constexpr Duration kFlushPeriod = 30s;

// Why pods enter a pool, besides the events of the cluster.
constexpr std::string_view kPodAdd = "PodAdd";
constexpr std::string_view kAttemptFailure = "ScheduleAttemptFailure";
constexpr std::string_view kBackoffComplete = "BackoffComplete";
constexpr std::string_view kFlush = "UnschedulableTimeout";

// The first moment after `age` at which the periodic flush runs.
SteadyTime FlushAfter(SteadyTime age, SteadyTime start) {
  return start + ((age - start) / kFlushPeriod + 1) * kFlushPeriod;
}

}  // namespace

std::string_view ToString(QueuePool pool) {
  switch (pool) {
    case QueuePool::kActive:
      return "active";
    case QueuePool::kBackoff:
    case QueuePool::kErrorBackoff:
      return "backoff";
    case QueuePool::kUnschedulable:
      return "unschedulable";
    case QueuePool::kGated:
      return "gated";
    case QueuePool::kInFlight:
      return "in flight";
    case QueuePool::kNone:
      return "none";
  }
  return "unknown";
}

SchedulingQueue::SchedulingQueue(EventLoop& loop, const QueueSortPlugin& sort,
                                 std::vector<QueueProfile> profiles, QueueOptions options)
    : loop_(loop),
      options_(std::move(options)),
      sort_{&sort},
      start_(loop.clock().Steady()),
      index_(std::move(profiles)),
      log_(options_.max_logged_events),
      active_(BySort{&sort}),
      backoff_(ByExpiry{BySort{&sort}}),
      error_backoff_(ByExpiry{BySort{&sort}}),
      backoff_timer_(loop),
      flush_timer_(loop) {}

bool SchedulingQueue::Serves(std::string_view scheduler_name) const {
  return index_.FindProfile(scheduler_name) != nullptr;
}

// ---- Pods come, change and go

bool SchedulingQueue::Add(std::shared_ptr<const kube::Pod> pod) {
  const EntryTable::Uid uid(pod->metadata.uid);
  if (QueueEntry* known = entries_.Find(uid)) {
    UpdateKnown(*known, std::move(pod));
    return true;
  }
  QueueProfileState* profile = index_.FindProfile(pod->spec.scheduler_name);
  if (profile == nullptr) return false;
  AddNew(std::move(pod), uid, *profile);
  return true;
}

void SchedulingQueue::AddNew(std::shared_ptr<const kube::Pod> pod, const EntryTable::Uid& uid,
                             QueueProfileState& profile) {
  const EntryTable::Name name(pod->metadata.ns, pod->metadata.name);
  // Another pod of this name: its deletion was not heard of.
  if (QueueEntry* former = entries_.Find(name)) Remove(*former);
  QueueEntry& entry = entries_.Add(std::move(pod), uid, name);
  entry.profile = &profile;
  entry.priority = entry.pod->spec.priority.value_or(0);
  entry.added_at = loop_.clock().Now();
  Stamp(entry);
  Admit(entry, Wake::kAtOnce, kPodAdd);
}

void SchedulingQueue::UpdateKnown(QueueEntry& entry, std::shared_ptr<const kube::Pod> pod) {
  ClusterEvent event{.kind = EventKind::kPodUpdated};
  event.pod_before = std::exchange(entry.pod, std::move(pod));
  event.pod_after = entry.pod;
  entry.priority = entry.pod->spec.priority.value_or(0);
  const bool changed = ChangedForScheduling(*event.pod_before, *event.pod_after);
  if (changed) entry.flushed = false;
  switch (entry.pool) {
    case QueuePool::kActive:
      return active_.Replace(SlotOf(entry));
    case QueuePool::kBackoff:
      return backoff_.Replace(SlotOf(entry));
    case QueuePool::kErrorBackoff:
      return error_backoff_.Replace(SlotOf(entry));
    case QueuePool::kUnschedulable:
    case QueuePool::kGated:
      if (changed) return Admit(entry, WakeOf(entry, event), ToString(event.kind));
      // A node that it is promised looks different to it than to its like.
      if (!entry.pod->status.nominated_node_name.empty() ||
          event.pod_before->status.qos_class != entry.pod->status.qos_class) {
        WaitAlone(entry);
      }
      return;
    case QueuePool::kInFlight:
      if (entry.gone) Revive(entry);
      if (changed) log_.AppendFor(entry, event);
      return;
    case QueuePool::kNone:
      return;
  }
}

void SchedulingQueue::Revive(QueueEntry& entry) {
  const kube::ObjectMeta& meta = entry.pod->metadata;
  if (entries_.Find(EntryTable::Name(meta.ns, meta.name)) != nullptr) return;  // it was replaced
  entry.gone = false;
  entries_.RestoreName(entry);
}

bool SchedulingQueue::Delete(std::string_view uid) {
  QueueEntry* entry = Find(uid);
  if (entry == nullptr || entry->gone) return false;
  Remove(*entry);
  return true;
}

void SchedulingQueue::Remove(QueueEntry& entry) {
  if (entry.pool == QueuePool::kInFlight) {
    entry.gone = true;
    entries_.ForgetName(entry);
    return;
  }
  Leave(entry);
  Arrive(entry);
  ClearRejections(entry);
  entries_.Remove(entry);
}

void SchedulingQueue::OnEvent(const ClusterEvent& event, const WakeFilter& filter) {
  log_.Append(event, filter);
  for (QueueEntry* entry : index_.WokenBy(event, filter)) {
    Admit(*entry, std::exchange(entry->wake, Wake::kNo), ToString(event.kind));
  }
  if (event.kind == EventKind::kForced) return WakeAll(filter, ToString(event.kind));
  for (WaitGroup* group : groups_.WokenBy(event, filter, loop_.clock().Now())) {
    WakeSome(*group, filter);
  }
}

void SchedulingQueue::WakeAll(const WakeFilter& filter, std::string_view event) {
  std::vector<QueueEntry*> woken;
  for (QueueEntry* entry = waiting_.first(); entry != nullptr; entry = entry->after) {
    if (entry->group != nullptr && filter.Admits(*entry)) woken.push_back(entry);
  }
  for (QueueEntry* entry : woken) Admit(*entry, Wake::kAfterBackoff, event);
}

void SchedulingQueue::WakeSome(WaitGroup& group, const WakeFilter& filter) {
  struct Candidate {
    SteadyTime until;  // of its backoff, if that is not over
    QueueEntry* entry;
  };
  std::vector<Candidate> candidates;
  for (QueueEntry* entry : group.members) {
    if (filter.Admits(*entry)) {
      candidates.push_back({BackoffUntil(*entry).value_or(SteadyTime::min()), entry});
    }
  }
  if (candidates.empty()) {
    group.may_fit = false;  // the next event asks again
    return;
  }
  const auto sooner = [this](const Candidate& a, const Candidate& b) {
    return a.until != b.until ? a.until < b.until : sort_(SlotOf(*a.entry), SlotOf(*b.entry));
  };
  size_t woken = std::min(group.next_batch, candidates.size());
  std::partial_sort(candidates.begin(), candidates.begin() + static_cast<ptrdiff_t>(woken),
                    candidates.end(), sooner);
  // A pod that a gate holds back says nothing about the others.
  for (size_t i = 0; i < woken; ++i) {
    QueueEntry& entry = *candidates[i].entry;
    groups_.SetOut(entry, group);
    Admit(entry, Wake::kAfterBackoff, group.event);
    if (!entry.waits_for_event()) continue;
    Arrive(entry);
    woken = std::min(woken + 1, candidates.size());
  }
  group.next_batch *= 2;
}

void SchedulingQueue::Arrive(QueueEntry& entry) {
  if (groups_.Arrive(entry)) TellReady();
}

void SchedulingQueue::Activate(std::span<const kube::ObjectKey> pods) {
  const ClusterEvent event{.kind = EventKind::kForced};
  for (const kube::ObjectKey& key : pods) {
    QueueEntry* entry = entries_.Find(EntryTable::Name(key.ns, key.name));
    if (entry == nullptr || entry->pool == QueuePool::kActive) continue;
    entry->flushed = false;
    if (entry->pool == QueuePool::kInFlight) {
      log_.AppendFor(*entry, event);
    } else {
      Admit(*entry, Wake::kAtOnce, ToString(event.kind));
    }
  }
}

// ---- Attempts

std::optional<QueuedPod> SchedulingQueue::Pop() {
  while (WaitGroup* group = groups_.NextInRelay(loop_.clock().Now())) WakeSome(*group);
  if (!active_.empty()) return Start(*active_.top().entry);
  if (!backoff_.empty()) return Start(*backoff_.top().entry);
  starved_ = true;
  return std::nullopt;
}

std::optional<QueuedPod> SchedulingQueue::Take(std::string_view uid, const QueuedPod* like,
                                               std::string_view plugin) {
  QueueEntry* entry = Find(uid);
  if (entry == nullptr || entry->pool == QueuePool::kInFlight) return std::nullopt;
  if (!ClosedGateBut(*entry, plugin).empty()) return std::nullopt;
  QueuedPod taken = Start(*entry);
  if (like == nullptr) return taken;
  entry->attempts = taken.attempts = like->attempts;
  entry->timestamp = taken.timestamp = like->timestamp;
  entry->first_attempt = taken.first_attempt = like->first_attempt;
  entry->first_attempt_at = taken.first_attempt_at = like->first_attempt_at;
  return taken;
}

QueuedPod SchedulingQueue::Start(QueueEntry& entry) {
  Leave(entry);
  Arrive(entry);
  ClearRejections(entry);
  entry.pool = QueuePool::kInFlight;
  log_.Enter(entry);
  if (entry.attempts++ == 0) {
    entry.first_attempt = now();
    entry.first_attempt_at = loop_.clock().Now();
  }
  return {entry.pod, entry.attempts, entry.timestamp, entry.first_attempt, entry.first_attempt_at};
}

QueueEntry* SchedulingQueue::InFlight(std::string_view uid) const {
  QueueEntry* entry = Find(uid);
  return entry != nullptr && entry->pool == QueuePool::kInFlight ? entry : nullptr;
}

bool SchedulingQueue::HasHeardSince(std::string_view uid) const {
  const QueueEntry* entry = InFlight(uid);
  return entry == nullptr || log_.HasAnySince(*entry);
}

std::optional<QueuePool> SchedulingQueue::Return(std::string_view uid,
                                                 const AttemptFailure& failure) {
  QueueEntry* entry = InFlight(uid);
  if (entry == nullptr) return std::nullopt;
  if (entry->gone) {
    EndAttempt(*entry);
    return std::nullopt;
  }
  entry->flushed = false;
  Stamp(*entry);
  Record(*entry, failure);
  const Wake wake = entry->rejections.empty() ? Wake::kAfterBackoff : log_.Missed(*entry);
  if (wake == Wake::kNo) {
    EnterUnschedulable(*entry, kAttemptFailure, failure.unfit ? &*failure.unfit : nullptr);
  } else {
    Admit(*entry, wake, kAttemptFailure);
  }
  return entry->pool;
}

void SchedulingQueue::Record(QueueEntry& entry, const AttemptFailure& failure) {
  entry.message = failure.message;
  if (failure.rejected_by.empty()) {
    ++entry.error_count;
    return;
  }
  ++entry.unschedulable_count;
  entry.error_count = 0;
  for (const auto& [plugin, pending, only_listens] : failure.rejected_by) {
    Rejector& by = index_.RejectorOf(*entry.profile, plugin);
    const auto known = std::find_if(entry.rejections.begin(), entry.rejections.end(),
                                    [&](const Rejection& other) { return other.by == &by; });
    if (known != entry.rejections.end()) {
      known->pending |= pending;
      continue;
    }
    entry.rejections.push_back({.by = &by, .pending = pending, .only_listens = only_listens});
    by.recorded += only_listens ? 0 : 1;
  }
}

void SchedulingQueue::Done(std::string_view uid) {
  QueueEntry* entry = InFlight(uid);
  if (entry == nullptr) return;
  if (entry->flushed) ++rescued_;
  EndAttempt(*entry);
}

void SchedulingQueue::Drop(std::string_view uid) {
  if (QueueEntry* entry = InFlight(uid)) EndAttempt(*entry);
}

void SchedulingQueue::EndAttempt(QueueEntry& entry) {
  log_.Leave(entry);
  entries_.Remove(entry);
}

// ---- Pools

void SchedulingQueue::Admit(QueueEntry& entry, Wake wake, std::string_view event) {
  if (wake == Wake::kNo) return EnterUnschedulable(entry, event);
  if (Rejector* gate = ClosedGate(entry)) return EnterGated(entry, *gate, event);
  const auto until = wake == Wake::kAtOnce ? std::nullopt : BackoffUntil(entry);
  if (until.has_value()) return EnterBackoff(entry, *until, event);
  EnterActive(entry, event);
}

void SchedulingQueue::EnterActive(QueueEntry& entry, std::string_view event) {
  Leave(entry);
  entry.pool = QueuePool::kActive;
  active_.Push(SlotOf(entry));
  Count("active", event);
  TellReady();
}

void SchedulingQueue::EnterBackoff(QueueEntry& entry, SteadyTime until, std::string_view event) {
  Leave(entry);
  entry.until = until;
  const bool failed = entry.error_count > 0;
  entry.pool = failed ? QueuePool::kErrorBackoff : QueuePool::kBackoff;
  (failed ? error_backoff_ : backoff_).Push(SlotOf(entry));
  Count("backoff", event);
  ArmBackoffTimer();
  if (!failed) TellReady();
}

void SchedulingQueue::EnterUnschedulable(QueueEntry& entry, std::string_view event,
                                         const Unfit* unfit) {
  Leave(entry);
  entry.pool = QueuePool::kUnschedulable;
  if (unfit != nullptr) groups_.Join(entry, *unfit);
  WaitForEvent(entry);
  Count("unschedulable", event);
}

void SchedulingQueue::EnterGated(QueueEntry& entry, Rejector& gate, std::string_view event) {
  if (entry.pool == QueuePool::kGated && entry.gate.by == &gate) return;
  Leave(entry);
  entry.pool = QueuePool::kGated;
  entry.gate = {.by = &gate};
  ++gated_;
  WaitForEvent(entry);
  Count("gated", event);
}

void SchedulingQueue::WaitForEvent(QueueEntry& entry) {
  entry.since = now();
  if (entry.group == nullptr) index_.Insert(entry);
  waiting_.Append(entry);
  if (!flush_timer_.pending()) ArmFlushTimer();
}

void SchedulingQueue::WaitAlone(QueueEntry& entry) {
  if (entry.group == nullptr) return;
  // Its turn after an event might still have come.
  if (entry.group->may_fit) return Admit(entry, Wake::kAfterBackoff, entry.group->event);
  groups_.Leave(entry);
  index_.Insert(entry);
}

void SchedulingQueue::Leave(QueueEntry& entry) {
  switch (entry.pool) {
    case QueuePool::kActive:
      return active_.Erase(entry.id);
    case QueuePool::kBackoff:
      return backoff_.Erase(entry.id);
    case QueuePool::kErrorBackoff:
      return error_backoff_.Erase(entry.id);
    case QueuePool::kUnschedulable:
    case QueuePool::kGated:
      waiting_.Remove(entry);
      if (entry.group != nullptr) {
        groups_.Leave(entry);
      } else {
        index_.Remove(entry);
      }
      if (entry.pool == QueuePool::kGated) --gated_;
      entry.gate = {};
      return;
    case QueuePool::kInFlight:
      return log_.Leave(entry);
    case QueuePool::kNone:
      return;
  }
}

SchedulingQueue::Slot SchedulingQueue::SlotOf(QueueEntry& entry) {
  return {.pod = entry.pod.get(),
          .entry = &entry,
          .until = entry.until,
          .timestamp = entry.timestamp,
          .sequence = entry.sequence,
          .priority = entry.priority,
          .id = entry.id};
}

void SchedulingQueue::Stamp(QueueEntry& entry) {
  entry.timestamp = now();
  entry.sequence = next_sequence_++;
}

void SchedulingQueue::ClearRejections(QueueEntry& entry) {
  for (const Rejection& rejection : entry.rejections) {
    rejection.by->recorded -= rejection.only_listens ? 0 : 1;
  }
  entry.rejections.clear();
}

Rejector* SchedulingQueue::ClosedGate(QueueEntry& entry) {
  const std::vector<PreEnqueuePlugin*>& gates = entry.profile->plugins.pre_enqueue;
  PreEnqueuePlugin* const last = entry.gating_plugin;  // most likely still closed
  PreEnqueuePlugin* closed = last != nullptr && IsClosed(entry, *last) ? last : nullptr;
  for (size_t i = 0; i < gates.size() && closed == nullptr; ++i) {
    if (gates[i] != last && IsClosed(entry, *gates[i])) closed = gates[i];
  }
  entry.gating_plugin = closed;
  return closed == nullptr ? nullptr : &index_.RejectorOf(*entry.profile, closed->name());
}

std::string_view SchedulingQueue::HeldBy(std::string_view uid, std::string_view plugin) const {
  const QueueEntry* entry = Find(uid);
  return entry == nullptr ? "" : ClosedGateBut(*entry, plugin);
}

// Only looks: what the pod waits for stays as it is.
std::string_view SchedulingQueue::ClosedGateBut(const QueueEntry& entry, std::string_view plugin) {
  for (PreEnqueuePlugin* gate : entry.profile->plugins.pre_enqueue) {
    if (gate->name() != plugin && !gate->PreEnqueue(*entry.pod).ok()) return gate->name();
  }
  return "";
}

bool SchedulingQueue::IsClosed(QueueEntry& entry, PreEnqueuePlugin& gate) {
  const Verdict verdict = gate.PreEnqueue(*entry.pod);
  if (verdict.ok()) return false;
  entry.gate_message = verdict.Message();
  return true;
}

// ---- Time

std::optional<SteadyTime> SchedulingQueue::BackoffUntil(const QueueEntry& entry) const {
  const int failures = entry.error_count > 0 ? entry.error_count : entry.unschedulable_count;
  const auto until = options_.backoff.Until(entry.timestamp, failures);
  return until.has_value() && StillWaits(*until, now()) ? until : std::nullopt;
}

void SchedulingQueue::ArmBackoffTimer() {
  constexpr SteadyTime kNever = SteadyTime::max();
  const SteadyTime last = std::min(backoff_.empty() ? kNever : backoff_.top().until,
                                   error_backoff_.empty() ? kNever : error_backoff_.top().until);
  if (last == kNever) return;
  const SteadyTime at = last + 1s;  // the first second in which somebody is free
  if (backoff_timer_.pending() && backoff_timer_at_ <= at) return;
  backoff_timer_at_ = at;
  backoff_timer_.Set(std::max(at - now(), Duration::zero()), [this] { FlushBackoff(); });
}

void SchedulingQueue::FlushBackoff() {
  FlushHeap(backoff_);
  FlushHeap(error_backoff_);
  ArmBackoffTimer();
}

void SchedulingQueue::FlushHeap(IndexedHeap<Slot, ByExpiry>& heap) {
  while (!heap.empty() && !StillWaits(heap.top().until, now())) {
    EnterActive(*heap.top().entry, kBackoffComplete);
  }
}

void SchedulingQueue::ArmFlushTimer() {
  if (waiting_.empty()) return;
  const SteadyTime at = FlushAfter(waiting_.first()->since + options_.flush_after, start_);
  flush_timer_.Set(at - now(), [this] { FlushWaiting(); });
}

void SchedulingQueue::FlushWaiting() {
  for (QueueEntry* entry = waiting_.first();
       entry != nullptr && now() - entry->since > options_.flush_after; entry = waiting_.first()) {
    entry->flushed = true;
    Admit(*entry, Wake::kAfterBackoff, kFlush);
    if (!entry->waits_for_event()) continue;
    entry->flushed = false;
    waiting_.Remove(*entry);
    entry->since = now();
    waiting_.Append(*entry);
  }
  ArmFlushTimer();
}

// ---- Telling

void SchedulingQueue::Count(std::string_view pool, std::string_view event) const {
  if (options_.on_incoming) options_.on_incoming(pool, event);
}

void SchedulingQueue::TellReady() {
  if (!starved_ || !ready_) return;
  starved_ = false;
  loop_.Post(scope_.Wrap([this] { ready_(); }));
}

SchedulingQueue::Counts SchedulingQueue::counts() const {
  return {.active = active_.size(),
          .backoff = backoff_.size() + error_backoff_.size(),
          .unschedulable = waiting_.size() - gated_,
          .gated = gated_,
          .in_flight = log_.pods()};
}

void SchedulingQueue::ForEachRejector(
    const std::function<void(std::string_view, std::string_view, size_t)>& visit) const {
  for (const auto& rejector : index_.rejectors()) {
    visit(rejector->profile, rejector->name, rejector->recorded);
  }
}

std::optional<QueuePosition> SchedulingQueue::Describe(std::string_view uid) const {
  const QueueEntry* entry = Find(uid);
  if (entry == nullptr || entry->gone) return std::nullopt;
  return DescribeEntry(*entry);
}

std::optional<QueuePosition> SchedulingQueue::Describe(const kube::ObjectKey& key) const {
  const QueueEntry* entry = entries_.Find(EntryTable::Name(key.ns, key.name));
  if (entry == nullptr) return std::nullopt;
  return DescribeEntry(*entry);
}

namespace {

template <class Heap>
size_t CountAhead(const Heap& heap, uint32_t id) {
  const auto slots = heap.slots();
  const auto& own = heap.Find(id);
  return static_cast<size_t>(std::count_if(
      slots.begin(), slots.end(), [&](const auto& slot) { return heap.before()(slot, own); }));
}

// Whoever must change their mind for a pod that waits for an event.
std::vector<const Rejector*> AwaitedBy(const QueueEntry& entry) {
  std::vector<const Rejector*> awaited;
  if (entry.gate.by != nullptr) {
    awaited.push_back(entry.gate.by);
  } else if (entry.group != nullptr) {
    for (const WaitGroup::Listening& each : entry.group->listens) awaited.push_back(each.to);
  } else {
    for (const Rejection& rejection : entry.rejections) awaited.push_back(rejection.by);
  }
  return awaited;
}

// What may help: the union, or anything.
void DescribeWait(const QueueEntry& entry, QueuePosition& position) {
  std::bitset<kEventKinds> kinds;
  for (const Rejector* rejector : AwaitedBy(entry)) {
    position.waits_for_any_event |= rejector->plugin == nullptr;
    kinds |= rejector->wants;
  }
  if (position.waits_for_any_event) return;
  kinds[static_cast<size_t>(EventKind::kForced)] = false;
  for (size_t kind = 0; kind < kEventKinds; ++kind) {
    if (kinds[kind]) position.waits_for.push_back(static_cast<EventKind>(kind));
  }
}

}  // namespace

QueuePosition SchedulingQueue::DescribeEntry(const QueueEntry& entry) const {
  QueuePosition position{.pool = entry.pool,
                         .attempts = entry.attempts,
                         .unschedulable_count = entry.unschedulable_count,
                         .error_count = entry.error_count,
                         .added_at = entry.added_at,
                         .message = entry.message};
  if (entry.attempts > 0) position.first_attempt_at = entry.first_attempt_at;
  for (const Rejection& rejection : entry.rejections) {
    if (!rejection.only_listens) position.rejected_by.push_back(rejection.by->name);
  }
  switch (entry.pool) {
    case QueuePool::kActive:
      position.ahead = CountAhead(active_, entry.id);
      break;
    case QueuePool::kBackoff:
      position.ahead = CountAhead(backoff_, entry.id);
      position.backoff_left = entry.until + 1s - now();
      break;
    case QueuePool::kErrorBackoff:
      position.ahead = CountAhead(error_backoff_, entry.id);
      position.backoff_left = entry.until + 1s - now();
      break;
    case QueuePool::kUnschedulable:
      DescribeWait(entry, position);
      break;
    case QueuePool::kGated:
      position.gated_by = entry.gate.by->name;
      position.message = entry.gate_message;
      DescribeWait(entry, position);
      break;
    case QueuePool::kInFlight:
    case QueuePool::kNone:
      break;
  }
  return position;
}

}  // namespace koord::scheduler
