#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace koord::scheduler {

// A heap of slots that carry their own sort keys and know their place, so that comparing touches
// nothing but the heap's array and any slot can be changed or taken out in O(log n).
//
// Slot has `void set_place(uint32_t)`; Before(a, b) says that a comes out first.
template <class Slot, class Before>
class IndexedHeap {
 public:
  explicit IndexedHeap(Before before) : before_(std::move(before)) {}

  bool empty() const { return slots_.empty(); }
  size_t size() const { return slots_.size(); }
  const Slot& top() const { return slots_.front(); }
  std::span<const Slot> slots() const { return slots_; }
  const Before& before() const { return before_; }

  void Push(Slot slot) {
    slots_.emplace_back();
    Rise(slots_.size() - 1, std::move(slot));
  }

  void Replace(uint32_t place, Slot slot) { Settle(place, std::move(slot)); }

  void Erase(uint32_t place) {
    Slot last = std::move(slots_.back());
    slots_.pop_back();
    if (place < slots_.size()) Settle(place, std::move(last));
  }

 private:
  static constexpr size_t kChildren = 4;  // four slots stand in few cache lines

  void Settle(size_t hole, Slot slot) {
    if (hole > 0 && before_(slot, slots_[(hole - 1) / kChildren])) {
      Rise(hole, std::move(slot));
    } else {
      Sink(hole, std::move(slot));
    }
  }

  void Rise(size_t hole, Slot slot) {
    while (hole > 0) {
      const size_t parent = (hole - 1) / kChildren;
      if (!before_(slot, slots_[parent])) break;
      Put(hole, std::move(slots_[parent]));
      hole = parent;
    }
    Put(hole, std::move(slot));
  }

  void Sink(size_t hole, Slot slot) {
    for (;;) {
      const size_t first = hole * kChildren + 1;
      if (first >= slots_.size()) break;
      const size_t end = std::min(first + kChildren, slots_.size());
      size_t best = first;
      for (size_t child = first + 1; child < end; ++child) {
        if (before_(slots_[child], slots_[best])) best = child;
      }
      if (!before_(slots_[best], slot)) break;
      Put(hole, std::move(slots_[best]));
      hole = best;
    }
    Put(hole, std::move(slot));
  }

  void Put(size_t place, Slot slot) {
    slot.set_place(static_cast<uint32_t>(place));
    slots_[place] = std::move(slot);
  }

  Before before_;
  std::vector<Slot> slots_;
};

}  // namespace koord::scheduler
