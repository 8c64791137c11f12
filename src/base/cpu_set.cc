#include "base/cpu_set.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <vector>

#include "base/strings.h"

namespace koord {
namespace {

struct Range {
  int32_t first;
  int32_t last;
};

// "3" is 3-3.
StatusOr<Range> ParseRange(std::string_view part) {
  const std::vector<std::string_view> ends = Split(part, '-');
  const std::optional<uint64_t> first = ParseUint(ends.front());
  const std::optional<uint64_t> last = ParseUint(ends.back());
  if (ends.size() > 2 || !first || !last) {
    return InvalidArgument("{} is no CPU: expected a number or a range like 0-3", Quote(part, 64));
  }
  if (std::max(*first, *last) >= uint64_t{CpuSet::kMaxCpus}) {
    return InvalidArgument("{} is no CPU: expected numbers from 0 to {}", Quote(part, 64),
                           CpuSet::kMaxCpus - 1);
  }
  return Range{static_cast<int32_t>(*first), static_cast<int32_t>(*last)};
}

}  // namespace

StatusOr<CpuSet> CpuSet::Parse(std::string_view text) {
  CpuSet cpus;
  if (text.empty()) return cpus;
  for (const std::string_view part : Split(text, ',')) {
    ASSIGN_OR_RETURN(const Range range, ParseRange(part));
    cpus.AddRange(range.first, range.last);
  }
  return cpus;
}

std::string CpuSet::ToString() const {
  std::string text;
  for (int32_t first = NextFrom(0); first < kMaxCpus;) {
    int32_t last = first;
    while (Contains(last + 1)) ++last;
    if (!text.empty()) text += ',';
    text += first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
    first = NextFrom(last + 1);
  }
  return text;
}

void CpuSet::Add(int32_t cpu) {
  if (IsCpu(cpu)) AddRange(cpu, cpu);
}

void CpuSet::AddRange(int32_t first, int32_t last) {
  if (first > last) return;
  const auto last_word = static_cast<size_t>(last / kBits);
  if (words_.size() <= last_word) words_.resize(last_word + 1);
  for (auto word = static_cast<size_t>(first / kBits); word <= last_word; ++word) {
    const auto base = static_cast<int32_t>(word) * kBits;
    const int32_t low = std::max(first - base, 0);
    const int32_t high = std::min(last - base, kBits - 1);
    words_[word] |= ~uint64_t{0} >> (kBits - 1 - (high - low)) << low;
  }
}

void CpuSet::Remove(int32_t cpu) {
  if (!Contains(cpu)) return;
  words_[cpu / kBits] &= ~(uint64_t{1} << (cpu % kBits));
  Trim();
}

bool CpuSet::Contains(int32_t cpu) const {
  if (cpu < 0 || static_cast<size_t>(cpu / kBits) >= words_.size()) return false;
  return (words_[cpu / kBits] >> (cpu % kBits) & 1) != 0;
}

bool CpuSet::Includes(const CpuSet& other) const {
  if (other.words_.size() > words_.size()) return false;
  for (size_t i = 0; i < other.words_.size(); ++i) {
    if ((other.words_[i] & ~words_[i]) != 0) return false;
  }
  return true;
}

size_t CpuSet::size() const {
  size_t count = 0;
  for (const uint64_t word : words_) count += static_cast<size_t>(std::popcount(word));
  return count;
}

CpuSet& CpuSet::operator|=(const CpuSet& other) {
  if (words_.size() < other.words_.size()) words_.resize(other.words_.size());
  for (size_t i = 0; i < other.words_.size(); ++i) words_[i] |= other.words_[i];
  return *this;
}

CpuSet& CpuSet::operator&=(const CpuSet& other) {
  if (words_.size() > other.words_.size()) words_.resize(other.words_.size());
  for (size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
  Trim();
  return *this;
}

CpuSet& CpuSet::operator-=(const CpuSet& other) {
  const size_t common = std::min(words_.size(), other.words_.size());
  for (size_t i = 0; i < common; ++i) words_[i] &= ~other.words_[i];
  Trim();
  return *this;
}

int32_t CpuSet::NextFrom(int32_t cpu) const {
  for (auto i = static_cast<size_t>(cpu / kBits); i < words_.size(); ++i) {
    const auto base = static_cast<int32_t>(i) * kBits;
    const uint64_t rest = words_[i] & (~uint64_t{0} << std::max(cpu - base, 0));
    if (rest != 0) return base + std::countr_zero(rest);
  }
  return kMaxCpus;
}

void CpuSet::Trim() {
  while (!words_.empty() && words_.back() == 0) words_.pop_back();
}

}  // namespace koord
