#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace koord::scheduler {

// A heap of slots that carry their own sort keys, so that comparing touches nothing but the heap's
// array, and from which any slot can be changed or taken out by its id in O(log n).
//
// Slot has a small number `id` that no other one in the heap has; Before(a, b) says that a comes
// out first.
template <class Slot, class Before>
class IndexedHeap {
 public:
  explicit IndexedHeap(Before before) : before_(std::move(before)) {}

  bool empty() const { return slots_.empty(); }
  size_t size() const { return slots_.size(); }
  const Slot& top() const { return slots_.front(); }
  std::span<const Slot> slots() const { return slots_; }
  const Before& before() const { return before_; }

  const Slot& Find(uint32_t id) const { return slots_[places_[id]]; }

  void Push(Slot slot) {
    if (slot.id >= places_.size())
      places_.resize(std::max<size_t>(slot.id + 1, 2 * places_.size()));
    slots_.emplace_back();
    Rise(slots_.size() - 1, std::move(slot));
  }

  void Replace(Slot slot) {
    const size_t place = places_[slot.id];
    Settle(place, std::move(slot));
  }

  void Erase(uint32_t id) {
    const size_t place = places_[id];
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
    places_[slot.id] = static_cast<uint32_t>(place);
    slots_[place] = std::move(slot);
  }

  Before before_;
  std::vector<Slot> slots_;
  // By id. Apart from the slots' owners: a pop moves several slots, and theirs is cold memory.
  std::vector<uint32_t> places_;
};

}  // namespace koord::scheduler
