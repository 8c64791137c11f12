#pragma once
#include <concepts>
#include <cstdint>
#include <utility>

namespace koord {

// Which one of a kind of things: a row of a table, say. One type per kind.
//
// It turns by itself into the number that arrays are indexed with, so that loops over columns read
// as they would with a plain number, and cost the same. Nothing turns into it by itself: neither a
// count nor the number of something else passes for it, and two arguments cannot be swapped.
template <class Tag>
class StrongIndex {
 public:
  constexpr StrongIndex() = default;
  template <std::integral Number>
  explicit constexpr StrongIndex(Number number) : number_(static_cast<uint32_t>(number)) {}

  constexpr operator uint32_t() const { return number_; }  // NOLINT: see above

  constexpr StrongIndex& operator++() {
    ++number_;
    return *this;
  }
  constexpr StrongIndex& operator+=(uint32_t by) {
    number_ += by;
    return *this;
  }

  template <class Hash>
  friend Hash AbslHashValue(Hash hash, StrongIndex index) {
    return Hash::combine(std::move(hash), index.number_);
  }

 private:
  uint32_t number_ = 0;
};

}  // namespace koord
