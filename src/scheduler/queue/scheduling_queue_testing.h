#pragma once
#include <gmock/gmock.h>

#include <map>

#include "base/virtual_loop.h"
#include "scheduler/queue/queue_testing.h"
#include "scheduler/queue/scheduling_queue.h"

namespace koord::scheduler {

// A queue with two gates and two plugins that say what may cure their rejections.
class SchedulingQueueTest : public ::testing::Test {
 protected:
  SchedulingQueueTest() { Rebuild({}); }

  void Rebuild(QueueOptions options, ShapeProbe* probe = nullptr) {
    options.on_incoming = [this](std::string_view pool, std::string_view event) {
      ++incoming_[fmt::format("{}/{}", pool, event)];
    };
    QueueProfile profile{
        .name = std::string(kTestProfile), .pre_enqueue = {&gate_a_, &gate_b_}, .requeue = {}};
    for (RequeuePlugin* plugin :
         std::initializer_list<RequeuePlugin*>{&fit_, &taints_, &gate_a_cure_}) {
      profile.requeue[plugin->name()] = plugin;
    }
    profile.probe = probe;
    queue_ = std::make_unique<SchedulingQueue>(
        loop_, sort_, std::vector<QueueProfile>{std::move(profile)}, std::move(options));
  }

  void Add(std::string_view name, int32_t priority = 0) {
    ASSERT_TRUE(queue_->Add(MakePod(name, priority)));
  }
  std::string Pop() {
    const auto popped = queue_->Pop();
    return popped.has_value() ? popped->pod->metadata.name : "";
  }
  // Takes the named pod out and lets the attempt fail.
  QueuePool Fail(std::string_view name, AttemptFailure failure) {
    EXPECT_TRUE(queue_->Take(Uid(name)).has_value()) << name;
    return ReturnFailed(name, std::move(failure));
  }
  QueuePool ReturnFailed(std::string_view name, AttemptFailure failure) {
    return queue_->Return(Uid(name), failure).value_or(QueuePool::kNone);
  }
  static AttemptFailure RejectedBy(std::initializer_list<std::string> plugins) {
    AttemptFailure failure{.message = "no room"};
    for (const std::string& plugin : plugins) failure.rejected_by.push_back({plugin});
    return failure;
  }
  static AttemptFailure PendingFor(const std::string& plugin) {
    return {.rejected_by = {{plugin, true}}};
  }
  static AttemptFailure InternalError() { return {.message = "broken"}; }
  static std::string Uid(std::string_view name) { return fmt::format("{}-uid", name); }
  QueuePool PoolOf(std::string_view name) {
    const auto position = queue_->Describe(Uid(name));
    return position.has_value() ? position->pool : QueuePool::kNone;
  }
  void Happens(EventKind kind, const WakeFilter& filter = {}) {
    queue_->OnEvent({.kind = kind}, filter);
  }
  void Activate(std::string_view name) {
    const kube::ObjectKey key{"default", std::string(name)};
    queue_->Activate({&key, 1});
  }

  VirtualLoop loop_;
  TestPrioritySort sort_;
  TestRejector fit_{"NodeResourcesFit", {EventKind::kNodeAdded, EventKind::kAssignedPodRemoved}};
  TestRejector taints_{"TaintToleration", {EventKind::kNodeAdded, EventKind::kNodeUpdated}};
  TestGate gate_a_{"GateA"};
  TestRejector gate_a_cure_{"GateA", {EventKind::kPodGroupChanged}};
  TestGate gate_b_{"GateB"};  // does not say what may open it
  std::map<std::string, int> incoming_;
  std::unique_ptr<SchedulingQueue> queue_;
};

}  // namespace koord::scheduler
