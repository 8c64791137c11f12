#include "koordlet/qos/eviction/eviction.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/string_map.h"
#include "koordlet/qos/framework/amounts.h"

namespace koord::koordlet {
namespace {

class Round {
 public:
  Round(std::span<const EvictionTask> tasks, PodEvictor& evictor)
      : tasks_(tasks), evictor_(evictor) {
    for (const EvictionTask& task : tasks_) {
      for (const Victim& victim : task.victims) NoteView(task, victim);
    }
  }

  std::vector<std::string> Run() {
    for (const EvictionTask& task : tasks_) Serve(task);
    return std::move(evicted_);
  }

 private:
  static constexpr size_t kKinds = 2;
  using ByKind = std::array<Amounts, kKinds>;

  // The largest of what the tasks see in a pod.
  void NoteView(const EvictionTask& task, const Victim& victim) {
    Amounts& known = views_[victim.pod->uid()][static_cast<size_t>(task.counts)];
    for (const auto& [resource, amount] : victim.frees) {
      int64_t& largest = known[resource];
      largest = std::max(largest, amount);
    }
  }

  bool IsServed(const EvictionTask& task) const {
    const Amounts& released = released_[static_cast<size_t>(task.counts)];
    return std::ranges::all_of(task.release, [&](const auto& wanted) {
      const auto it = released.find(wanted.first);
      return wanted.second <= (it == released.end() ? 0 : it->second);
    });
  }

  void Serve(const EvictionTask& task) {
    for (const Victim& victim : task.victims) {
      if (IsServed(task)) return;
      if (handled_.insert(victim.pod->uid()).second) EvictOne(task, *victim.pod);
    }
  }

  void EvictOne(const EvictionTask& task, const NodePod& pod) {
    const std::string message = fmt::format("trigger by koordlet feature {}, kill pod: {}",
                                            task.feature, pod.pod->metadata.name);
    const PodEvictor::Result result = evictor_.Evict(pod, "evicted", message);
    if (!result.ok) return;
    if (result.is_new) evicted_.push_back(pod.uid());
    const ByKind& view = views_[pod.uid()];
    for (size_t kind = 0; kind < kKinds; ++kind) {
      for (const auto& [resource, amount] : view[kind]) {
        int64_t& sum = released_[kind][resource];
        sum = Plus(sum, amount);
      }
    }
  }

  const std::span<const EvictionTask> tasks_;
  PodEvictor& evictor_;
  StringMap<ByKind> views_;
  ByKind released_;
  StringSet handled_;
  std::vector<std::string> evicted_;
};

}  // namespace

std::vector<std::string> Evict(std::span<const EvictionTask> tasks, PodEvictor& evictor) {
  return Round(tasks, evictor).Run();
}

void CoolTime::Start(std::vector<std::string> evicted) {
  since_ = clock_.Steady();
  evicted_ = std::move(evicted);
}

bool CoolTime::Over() const {
  if (!since_ || clock_.Steady() - *since_ >= span_) return true;
  return !evicted_.empty() && std::ranges::all_of(evicted_, [this](const std::string& uid) {
    return evictor_.WasRefused(uid);
  });
}

}  // namespace koord::koordlet
