#pragma once
#include <absl/container/inlined_vector.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>

#include "base/status.h"

namespace koord {

// A set of logical CPUs, or of NUMA nodes, which Linux and Kubernetes write alike: "0-3,6". Small
// to keep and cheap to combine: a bit for each number up to the largest.
class CpuSet {
 public:
  // As many as Linux can be built for. Whoever writes lists must not decide on the memory of those
  // who read them.
  static constexpr int32_t kMaxCpus = 8192;
  static constexpr bool IsCpu(int64_t number) { return 0 <= number && number < kMaxCpus; }

  CpuSet() = default;
  CpuSet(std::initializer_list<int32_t> cpus) {
    for (const int32_t cpu : cpus) Add(cpu);
  }

  // An empty text is an empty set, and so is a range that runs backwards ("5-3"). A number beyond
  // kMaxCpus is an error.
  static StatusOr<CpuSet> Parse(std::string_view text);
  // In the fewest parts, ascending: "0-3,6".
  std::string ToString() const;

  // Numbers that are no CPUs are in no set: there is nothing to add.
  void Add(int32_t cpu);
  void Remove(int32_t cpu);
  void Clear() { words_.clear(); }

  bool Contains(int32_t cpu) const;
  bool Includes(const CpuSet& other) const;  // all of the other
  bool empty() const { return words_.empty(); }
  size_t size() const;

  CpuSet& operator|=(const CpuSet& other);
  CpuSet& operator&=(const CpuSet& other);
  CpuSet& operator-=(const CpuSet& other);
  friend CpuSet operator|(CpuSet a, const CpuSet& b) { return a |= b; }
  friend CpuSet operator&(CpuSet a, const CpuSet& b) { return a &= b; }
  friend CpuSet operator-(CpuSet a, const CpuSet& b) { return a -= b; }
  bool operator==(const CpuSet&) const = default;

  // Ascending. Valid while the set is not changed.
  class Iterator {
   public:
    using iterator_concept = std::forward_iterator_tag;
    using iterator_category = std::input_iterator_tag;  // as it gives out values, not references
    using value_type = int32_t;
    using difference_type = ptrdiff_t;
    using pointer = void;
    using reference = int32_t;

    Iterator() = default;
    int32_t operator*() const { return cpu_; }
    Iterator& operator++() {
      cpu_ = set_->NextFrom(cpu_ + 1);
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const Iterator&) const = default;

   private:
    friend class CpuSet;
    Iterator(const CpuSet* set, int32_t cpu) : set_(set), cpu_(cpu) {}

    const CpuSet* set_ = nullptr;
    int32_t cpu_ = kMaxCpus;
  };
  using value_type = int32_t;
  using iterator = Iterator;
  using const_iterator = Iterator;

  Iterator begin() const { return {this, NextFrom(0)}; }
  Iterator end() const { return {this, kMaxCpus}; }

 private:
  static constexpr int32_t kBits = 64;

  void AddRange(int32_t first, int32_t last);
  int32_t NextFrom(int32_t cpu) const;  // the first that is not less; kMaxCpus: none
  void Trim();

  absl::InlinedVector<uint64_t, 2> words_;  // the last one is not zero
};

}  // namespace koord
