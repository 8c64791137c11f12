#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/random.h"
#include "base/virtual_loop.h"
#include "scheduler/queue/queue_testing.h"
#include "scheduler/queue/scheduling_queue.h"

// The queue against a model that is as plain as its rules: every pod in one map, every question
// answered by looking at all of them.
namespace koord::scheduler::scheduling_queue_model_test {
namespace {

constexpr EventKind kEvents[] = {EventKind::kNodeAdded,          EventKind::kNodeUpdated,
                                 EventKind::kAssignedPodRemoved, EventKind::kPodGroupChanged,
                                 EventKind::kServiceChanged,     EventKind::kForced};
const std::string kPlugins[] = {"Fit", "Taints", "Silent"};

const std::map<std::string, std::set<EventKind>> kWanted = {
    {"Fit", {EventKind::kNodeAdded, EventKind::kAssignedPodRemoved}},
    {"Taints", {EventKind::kNodeAdded, EventKind::kNodeUpdated}},
    {"Gate", {EventKind::kPodGroupChanged}}};

bool Cures(const std::string& plugin, EventKind kind) {
  const auto wanted = kWanted.find(plugin);
  return kind == EventKind::kForced || wanted == kWanted.end() || wanted->second.contains(kind);
}

struct ModelPod {
  QueuePool pool = QueuePool::kNone;
  int32_t priority = 0;
  SteadyTime timestamp{};
  uint64_t order = 0;
  int attempts = 0;
  int rejections = 0;
  int errors = 0;
  std::vector<AttemptFailure::RejectedBy> rejected_by;
  std::vector<EventKind> missed;
  bool gone = false;
  SteadyTime until{};
  SteadyTime since{};
};

class Model {
 public:
  explicit Model(const std::set<std::string>& held) : held_(held) {}

  std::map<std::string, ModelPod> pods;  // by name
  SteadyTime now{};

  void Add(const std::string& name, int32_t priority) {
    ModelPod& pod = pods[name];
    pod.priority = priority;
    Stamp(pod);
    Move(name, /*skip_backoff=*/true);
  }

  std::string Pop() {
    std::string best;
    for (const auto& [name, pod] : pods) {
      if (pod.pool == QueuePool::kActive && (best.empty() || Sooner(pod, pods[best]))) best = name;
    }
    if (!best.empty()) return Start(best);
    for (const auto& [name, pod] : pods) {
      if (pod.pool != QueuePool::kBackoff) continue;
      if (best.empty() || pod.until < pods[best].until ||
          (pod.until == pods[best].until && Sooner(pod, pods[best]))) {
        best = name;
      }
    }
    return best.empty() ? "" : Start(best);
  }

  std::string Start(const std::string& name) {
    ModelPod& pod = pods[name];
    pod.pool = QueuePool::kInFlight;
    ++pod.attempts;
    pod.missed.clear();
    pod.rejected_by.clear();
    return name;
  }

  void Return(const std::string& name, const AttemptFailure& failure) {
    ModelPod& pod = pods[name];
    if (pod.gone) {
      pods.erase(name);
      return;
    }
    Stamp(pod);
    pod.rejected_by = failure.rejected_by;
    if (failure.rejected_by.empty()) {
      ++pod.errors;
      return Move(name, false);
    }
    ++pod.rejections;
    pod.errors = 0;
    bool woken = false;
    bool at_once = false;
    for (const EventKind kind : pod.missed) Judge(pod, kind, woken, at_once);
    if (woken) return Move(name, at_once);
    pod.pool = QueuePool::kUnschedulable;
    pod.since = now;
  }

  void Happens(EventKind kind) {
    for (auto& [name, pod] : pods) {
      if (pod.pool == QueuePool::kInFlight) pod.missed.push_back(kind);
      bool woken = pod.pool == QueuePool::kGated && Cures("Gate", kind);
      bool at_once = false;
      if (pod.pool == QueuePool::kUnschedulable) Judge(pod, kind, woken, at_once);
      if (woken) Move(name, at_once);
    }
  }

  void Update(const std::string& name) {
    ModelPod& pod = pods[name];
    if (pod.pool == QueuePool::kInFlight) {
      pod.missed.push_back(EventKind::kPodUpdated);
    } else if (pod.pool == QueuePool::kUnschedulable || pod.pool == QueuePool::kGated) {
      bool woken = true;
      bool at_once = false;
      Judge(pod, EventKind::kPodUpdated, woken, at_once);
      Move(name, at_once);
    }
  }

  void Activate(const std::string& name) {
    ModelPod& pod = pods[name];
    if (pod.gone) return;
    if (pod.pool == QueuePool::kInFlight) {
      pod.missed.push_back(EventKind::kForced);
    } else if (pod.pool != QueuePool::kActive) {
      Move(name, true);
    }
  }

  void Delete(const std::string& name) {
    if (pods[name].pool == QueuePool::kInFlight) {
      pods[name].gone = true;
    } else {
      pods.erase(name);
    }
  }

  // A whole second has begun.
  void Tick() {
    for (auto& [name, pod] : pods) {
      const bool backs_off =
          pod.pool == QueuePool::kBackoff || pod.pool == QueuePool::kErrorBackoff;
      if (backs_off && pod.until < now) pod.pool = QueuePool::kActive;
    }
    if (now % 30s != 0s) return;
    for (auto& [name, pod] : pods) {
      const bool waits = pod.pool == QueuePool::kUnschedulable || pod.pool == QueuePool::kGated;
      if (!waits || now - pod.since <= 5min) continue;
      Move(name, false);
      pod.since = now;
    }
  }

 private:
  static bool Sooner(const ModelPod& a, const ModelPod& b) {
    return std::tuple(-a.priority, a.timestamp, a.order) <
           std::tuple(-b.priority, b.timestamp, b.order);
  }
  static void Judge(const ModelPod& pod, EventKind kind, bool& woken, bool& at_once) {
    woken |= kind == EventKind::kPodUpdated || kind == EventKind::kForced;
    for (const auto& [plugin, pending, only_listens] : pod.rejected_by) {
      if (!Cures(plugin, kind)) continue;
      woken = true;
      at_once |= pending && kind != EventKind::kForced;
    }
  }
  void Stamp(ModelPod& pod) {
    pod.timestamp = now;
    pod.order = order_++;
  }
  void Move(const std::string& name, bool skip_backoff) {
    ModelPod& pod = pods[name];
    if (held_.contains(name)) {
      if (pod.pool != QueuePool::kGated) pod.since = now;
      pod.pool = QueuePool::kGated;
      return;
    }
    const int count = pod.errors > 0 ? pod.errors : pod.rejections;
    constexpr Duration kSeconds[] = {0s, 1s, 2s, 4s, 8s, 10s};
    pod.until =
        std::chrono::floor<std::chrono::seconds>(pod.timestamp + kSeconds[std::min(count, 5)]);
    const bool waits = count > 0 && pod.until >= std::chrono::floor<std::chrono::seconds>(now);
    pod.pool = skip_backoff || !waits ? QueuePool::kActive
               : pod.errors > 0       ? QueuePool::kErrorBackoff
                                      : QueuePool::kBackoff;
  }

  const std::set<std::string>& held_;
  uint64_t order_ = 0;
};

class History {
 public:
  explicit History(uint64_t seed) : random_(seed), model_(gate_.held) {
    QueueProfile profile{.name = std::string(kTestProfile), .pre_enqueue = {&gate_}, .requeue = {}};
    for (TestRejector* plugin : {&fit_, &taints_, &gate_cure_}) {
      plugin->kinds = kWanted.at(std::string(plugin->name()));
      profile.requeue[plugin->name()] = plugin;
    }
    queue_ = std::make_unique<SchedulingQueue>(loop_, sort_, std::vector<QueueProfile>{profile});
  }

  void Step() {
    switch (random_.Below(14)) {
      case 0:
      case 1:
        return Add();
      case 2:
      case 3:
      case 4:
        return Pop();
      case 5:
      case 6:
        return Return();
      case 7:
        return Done();
      case 8:
        return Delete();
      case 9:
        return Happens(kEvents[random_.Below(std::size(kEvents))]);
      case 10:
        return Update();
      case 11:
        return Activate();
      case 12:
        return TurnGate();
      default:
        return Wait();
    }
  }

  void Compare() {
    SchedulingQueue::Counts counts;
    for (const auto& [name, pod] : model_.pods) {
      const auto position = queue_->Describe(Uid(name));
      ASSERT_EQ(position.has_value(), !pod.gone) << name;
      counts.in_flight += pod.pool == QueuePool::kInFlight;
      if (pod.gone) continue;
      ASSERT_EQ(ToString(position->pool), ToString(pod.pool)) << name;
      ASSERT_EQ(position->pool, pod.pool) << name;
      ASSERT_EQ(position->attempts, pod.attempts) << name;
      ASSERT_EQ(position->unschedulable_count, pod.rejections) << name;
      ASSERT_EQ(position->error_count, pod.errors) << name;
      counts.active += pod.pool == QueuePool::kActive;
      counts.backoff += pod.pool == QueuePool::kBackoff || pod.pool == QueuePool::kErrorBackoff;
      counts.unschedulable += pod.pool == QueuePool::kUnschedulable;
      counts.gated += pod.pool == QueuePool::kGated;
    }
    const auto actual = queue_->counts();
    ASSERT_EQ(actual.active, counts.active);
    ASSERT_EQ(actual.backoff, counts.backoff);
    ASSERT_EQ(actual.unschedulable, counts.unschedulable);
    ASSERT_EQ(actual.gated, counts.gated);
    ASSERT_EQ(actual.in_flight, counts.in_flight);
  }

  // Whoever is left comes out, each once.
  void Drain() {
    gate_.held.clear();
    for (const auto& [name, pod] : std::map(model_.pods)) {
      if (pod.pool == QueuePool::kInFlight) End(name);
    }
    Happens(EventKind::kPodGroupChanged);
    Happens(EventKind::kForced);
    for (int i = 0; i < 15; ++i) Advance(1s);
    while (!model_.pods.empty()) {
      const size_t left = model_.pods.size();
      Pop();
      if (::testing::Test::HasFatalFailure()) return;
      for (const auto& [name, pod] : std::map(model_.pods)) {
        if (pod.pool == QueuePool::kInFlight) End(name);
      }
      ASSERT_LT(model_.pods.size(), left);
    }
    ASSERT_FALSE(queue_->Pop().has_value());
    ASSERT_EQ(queue_->logged_events(), 0u);
  }

 private:
  static std::string Uid(const std::string& name) { return name + "-uid"; }

  std::optional<std::string> Any(const std::function<bool(const ModelPod&)>& which) {
    std::vector<std::string> found;
    for (const auto& [name, pod] : model_.pods) {
      if (which(pod)) found.push_back(name);
    }
    if (found.empty()) return std::nullopt;
    return found[random_.Below(found.size())];
  }
  std::optional<std::string> AnyInFlight() {
    return Any([](const ModelPod& pod) { return pod.pool == QueuePool::kInFlight; });
  }
  std::optional<std::string> AnyLive() {
    return Any([](const ModelPod& pod) { return !pod.gone; });
  }

  void Add() {
    const std::string name = fmt::format("p{}", next_++);
    if (random_.Chance(0.2)) gate_.held.insert(name);
    const auto priority = static_cast<int32_t>(random_.Below(3));
    queue_->Add(MakePod(name, priority));
    model_.Add(name, priority);
  }
  void Pop() {
    const auto popped = queue_->Pop();
    ASSERT_EQ(popped.has_value() ? popped->pod->metadata.name : "", model_.Pop());
  }
  void Return() {
    const auto name = AnyInFlight();
    if (!name.has_value()) return;
    AttemptFailure failure;
    for (const std::string& plugin : kPlugins) {
      if (random_.Chance(0.4)) failure.rejected_by.push_back({plugin, random_.Chance(0.2)});
    }
    queue_->Return(Uid(*name), failure);
    model_.Return(*name, failure);
  }
  void Done() {
    if (const auto name = AnyInFlight()) End(*name);
  }
  void End(const std::string& name) {
    queue_->Done(Uid(name));
    model_.pods.erase(name);
  }
  void Delete() {
    const auto name = AnyLive();
    if (!name.has_value()) return;
    queue_->Delete(Uid(*name));
    model_.Delete(*name);
  }
  void Happens(EventKind kind) {
    queue_->OnEvent({.kind = kind});
    model_.Happens(kind);
  }
  void Update() {
    const auto name = AnyLive();
    if (!name.has_value()) return;
    auto pod = MakePod(*name, model_.pods[*name].priority);
    pod->metadata.labels.Mutable()["version"] = fmt::format("{}", next_++);
    queue_->Update(pod);
    model_.Update(*name);
  }
  void Activate() {
    const auto name = AnyLive();
    if (!name.has_value()) return;
    const kube::ObjectKey key{"default", *name};
    queue_->Activate({&key, 1});
    model_.Activate(*name);
  }
  void TurnGate() {
    const auto name = AnyLive();
    if (!name.has_value()) return;
    if (gate_.held.erase(*name) == 0) gate_.held.insert(*name);
    if (random_.Chance(0.7)) Happens(EventKind::kPodGroupChanged);
  }
  void Wait() {
    constexpr Duration kSpans[] = {1ms, 300ms, 1s, 2500ms, 20s, 6min};
    Advance(kSpans[random_.Below(std::size(kSpans))]);
  }
  void Advance(Duration span) {
    const SteadyTime end = loop_.clock().Steady() + span;
    while (loop_.clock().Steady() < end) {
      const SteadyTime now = loop_.clock().Steady();
      const SteadyTime second = std::chrono::floor<std::chrono::seconds>(now) + 1s;
      loop_.Advance(std::min(second, end) - now);
      model_.now = loop_.clock().Steady();
      if (model_.now == second) model_.Tick();
    }
  }

  VirtualLoop loop_;
  TestPrioritySort sort_;
  TestGate gate_{"Gate"};
  TestRejector fit_{"Fit"};
  TestRejector taints_{"Taints"};
  TestRejector gate_cure_{"Gate"};
  Random random_;
  Model model_;
  std::unique_ptr<SchedulingQueue> queue_;
  int next_ = 0;
};

TEST(SchedulingQueueModel, AgreesOnRandomHistories) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    History history(seed);
    for (int step = 0; step < 300; ++step) {
      SCOPED_TRACE(fmt::format("step {}", step));
      history.Step();
      if (::testing::Test::HasFatalFailure()) return;
      history.Compare();
      if (::testing::Test::HasFatalFailure()) return;
    }
    history.Drain();
    if (::testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace koord::scheduler::scheduling_queue_model_test
