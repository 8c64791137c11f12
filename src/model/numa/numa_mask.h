#pragma once
#include <bit>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace koord::model {

// A few NUMA nodes of one machine.
class NumaMask {
 public:
  // NUMA nodes with larger numbers take no part in alignment.
  static constexpr int32_t kMaxNodes = 64;
  static constexpr bool IsNode(int64_t node) { return 0 <= node && node < kMaxNodes; }

  constexpr NumaMask() = default;
  constexpr NumaMask(std::initializer_list<int32_t> nodes) {
    for (const int32_t node : nodes) Add(node);
  }

  constexpr void Add(int32_t node) {
    if (IsNode(node)) bits_ |= uint64_t{1} << node;
  }
  constexpr bool Has(int32_t node) const { return IsNode(node) && (bits_ >> node & 1) != 0; }
  constexpr int size() const { return std::popcount(bits_); }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr uint64_t bits() const { return bits_; }

  constexpr NumaMask operator&(NumaMask other) const { return FromBits(bits_ & other.bits_); }
  constexpr NumaMask operator|(NumaMask other) const { return FromBits(bits_ | other.bits_); }
  constexpr bool operator==(const NumaMask&) const = default;
  static constexpr NumaMask FromBits(uint64_t bits) {
    NumaMask mask;
    mask.bits_ = bits;
    return mask;
  }

  // Fewer nodes, or as many with lower numbers.
  constexpr bool IsNarrowerThan(NumaMask other) const {
    return size() == other.size() ? bits_ < other.bits_ : size() < other.size();
  }

  // As users read it in messages: binary digits, an even number of them: "01", "10", "0101". The
  // lone node 2, 4, ... has no zero in front: "100".
  std::string ToString() const;

 private:
  uint64_t bits_ = 0;
};

// All sets of these nodes but the empty one, by size and then by their nodes. More nodes than
// kMostAligned have too many: then there are only the single ones and all of them.
inline constexpr int kMostAligned = 8;
std::vector<NumaMask> MasksOf(NumaMask nodes);

}  // namespace koord::model
