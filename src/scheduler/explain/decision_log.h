#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "scheduler/cycle/attempt_observer.h"

namespace koord::scheduler {

// Remembers how the last few thousand pods were placed, for people who ask later. Costs a few
// copies of short strings a decision, into memory that is there already.
class DecisionLog final : public AttemptObserver {
 public:
  static constexpr size_t kDefaultCapacity = 4096;

  struct Entry {
    std::string uid;
    std::string node;
    int64_t total = 0;
    size_t feasible = 0;
    size_t evaluated = 0;
    WallTime at{};
  };

  explicit DecisionLog(const NodeTable& nodes, size_t capacity = kDefaultCapacity);

  void OnDecided(const Attempt& attempt, Pipeline&, const Decision& decision, WallTime now,
                 Duration) override {
    if (decision.placed()) Remember(attempt.pod->metadata.uid, decision, now);
  }

  void Remember(std::string_view uid, const Decision& decision, WallTime now);
  // The newest one about the pod.
  const Entry* Find(std::string_view uid) const;

 private:
  const NodeTable& nodes_;
  std::vector<Entry> entries_;  // a ring
  size_t next_ = 0;
};

}  // namespace koord::scheduler
