#pragma once
#include <fmt/format.h>

#include <functional>
#include <initializer_list>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "scheduler/framework/plugin.h"

// For tests and benchmarks of the queue: plugins that do as they are told.
namespace koord::scheduler {

inline constexpr std::string_view kTestProfile = "koord-scheduler";

// A pod whose uid is its name followed by "-uid".
inline std::shared_ptr<kube::Pod> MakePod(std::string_view name, int32_t priority = 0) {
  auto pod = std::make_shared<kube::Pod>();
  pod->metadata.ns = "default";
  pod->metadata.name = name;
  pod->metadata.uid = fmt::format("{}-uid", name);
  pod->spec.scheduler_name = kTestProfile;
  if (priority != 0) pod->spec.priority = priority;
  return pod;
}

class TestPrioritySort final : public QueueSortPlugin {
 public:
  std::string_view name() const override { return "PrioritySort"; }
  bool Less(const QueuedPodView& a, const QueuedPodView& b) const override {
    if (a.priority != b.priority) return a.priority > b.priority;
    if (a.timestamp != b.timestamp) return a.timestamp < b.timestamp;
    return a.sequence < b.sequence;
  }
};

// Rejects and cures by hand.
class TestRejector final : public RequeuePlugin {
 public:
  explicit TestRejector(std::string name, std::set<EventKind> kinds = {})
      : kinds(std::move(kinds)), name_(std::move(name)) {}

  std::string_view name() const override { return name_; }
  bool Wants(EventKind kind) const override { return kinds.contains(kind); }
  bool MightCure(const kube::Pod& rejected, const ClusterEvent& event) override {
    ++asked;
    return cures == nullptr || cures(rejected, event);
  }

  std::set<EventKind> kinds;
  std::function<bool(const kube::Pod&, const ClusterEvent&)> cures;  // null: yes
  int asked = 0;

 private:
  std::string name_;
};

// Holds pods by name.
class TestGate final : public PreEnqueuePlugin {
 public:
  explicit TestGate(std::string name) : name_(std::move(name)) {}

  std::string_view name() const override { return name_; }
  Verdict PreEnqueue(const kube::Pod& pod) override {
    ++asked;
    if (!held.contains(pod.metadata.name)) return Verdict::Success();
    return Verdict::Unresolvable(fmt::format("{} holds {}", name_, pod.metadata.name));
  }

  std::set<std::string> held;
  int asked = 0;

 private:
  std::string name_;
};

}  // namespace koord::scheduler
