#include "koordlet/metrics/sample_series.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace koord::koordlet {
namespace {

int64_t OldestMs(const FoldedSamples& folded) {
  return (int64_t{folded.newest_s} - folded.span_s) * 1000;
}
int64_t NewestMs(const FoldedSamples& folded) { return int64_t{folded.newest_s} * 1000; }

// How many of the folded samples are since then, as if they were spread evenly.
size_t CountSince(const FoldedSamples& folded, int64_t since_ms) {
  const int64_t newest = NewestMs(folded);
  if (newest < since_ms) return 0;
  const int64_t oldest = OldestMs(folded);
  if (oldest >= since_ms || folded.span_s == 0) return folded.count;
  const double share =
      static_cast<double>(newest - since_ms) / static_cast<double>(newest - oldest);
  return std::max<size_t>(1, static_cast<size_t>(std::lround(share * folded.count)));
}

bool CanMerge(const FoldedSamples& a, const FoldedSamples& b) {
  return int64_t{a.count} + b.count <= UINT16_MAX &&
         int64_t{b.newest_s} - (int64_t{a.newest_s} - a.span_s) <= UINT16_MAX;
}

FoldedSamples Merge(const FoldedSamples& a, const FoldedSamples& b) {
  const double sum = double{a.mean} * a.count + double{b.mean} * b.count;
  const int count = a.count + b.count;
  return {.newest_s = b.newest_s,
          .span_s = static_cast<uint16_t>(b.newest_s - (a.newest_s - a.span_s)),
          .count = static_cast<uint16_t>(count),
          .mean = static_cast<float>(sum / count)};
}

// Floats hold whole numbers up to this exactly.
constexpr double kFloatExact = 1 << 24;

double BaseFor(double value) { return std::abs(value) < kFloatExact ? 0 : value; }

bool IsExactEnough(double base, double value) {
  const double kept = base + double{static_cast<float>(value - base)};
  return std::abs(kept - value) <= 1e-6 * std::abs(value);
}

double SumOf(const SampleChunk& chunk, uint16_t from) {
  double sum = 0;
  for (uint16_t i = from; i < chunk.count; ++i) sum += double{chunk.distance[i]};
  return sum + chunk.base * (chunk.count - from);
}

FoldedSamples Fold(const SampleChunk& chunk) {
  // Rounded outwards, so that a window which had samples still has them.
  const auto newest_s = static_cast<int32_t>((chunk.newest_ms + 999) / 1000);
  const auto oldest_s = static_cast<int32_t>(chunk.first_ms / 1000);
  return {.newest_s = newest_s,
          .span_s = static_cast<uint16_t>(std::min(newest_s - oldest_s, int32_t{UINT16_MAX})),
          .count = chunk.count,
          .mean = static_cast<float>(SumOf(chunk, 0) / chunk.count)};
}

struct Position {
  uint16_t index = 0;
  int64_t ms = 0;
};

// The first sample of the chunk that is not before then; there is one.
Position FirstSince(const SampleChunk& chunk, int64_t since_ms) {
  Position at{0, chunk.first_ms};
  while (at.ms < since_ms) at.ms += chunk.step_ms[++at.index];
  return at;
}

}  // namespace

uint32_t ChunkPool::Take() {
  if (free_ == SampleChunk::kNone) {
    slabs_.push_back(std::make_unique<Slab>());
    const uint32_t first = static_cast<uint32_t>(slabs_.size() - 1) * kSlab;
    for (uint32_t i = kSlab; i-- > 0;) AddFree(first + i);
  }
  const uint32_t index = free_;
  SampleChunk& chunk = at(index);
  free_ = chunk.next;
  chunk.next = SampleChunk::kNone;
  chunk.count = 0;
  ++used_;
  return index;
}

void ChunkPool::Return(uint32_t index) {
  --used_;
  AddFree(index);
}

void ChunkPool::AddFree(uint32_t index) {
  at(index).next = free_;
  free_ = index;
}

void SampleTotals::Add(size_t more, double sum_of_more, int64_t oldest, int64_t newest) {
  if (more == 0) return;
  if (count == 0) oldest_ms = oldest;
  newest_ms = newest;
  count += more;
  sum += sum_of_more;
}

int64_t SampleSeries::oldest_ms(const ChunkPool& pool) const {
  if (!folded_.empty()) return OldestMs(folded_.front());
  return head_ == SampleChunk::kNone ? INT64_MAX : pool.at(head_).first_ms;
}

bool SampleSeries::NeedsChunk(const ChunkPool& pool, int64_t now_ms, double value) const {
  if (tail_ == SampleChunk::kNone) return true;
  const SampleChunk& chunk = pool.at(tail_);
  return chunk.count == SampleChunk::kCapacity ||
         now_ms - chunk.newest_ms > SampleChunk::kMaxStepMs || !IsExactEnough(chunk.base, value);
}

void SampleSeries::LinkTail(ChunkPool& pool, uint32_t index) {
  if (tail_ == SampleChunk::kNone) {
    head_ = index;
  } else {
    pool.at(tail_).next = index;
  }
  tail_ = index;
}

void SampleSeries::Append(ChunkPool& pool, int64_t now_ms, double value) {
  now_ms = std::max(now_ms, newest_ms_);
  if (NeedsChunk(pool, now_ms, value)) {
    LinkTail(pool, pool.Take());
    SampleChunk& chunk = pool.at(tail_);
    chunk.first_ms = chunk.newest_ms = now_ms;
    chunk.base = BaseFor(value);
  }
  SampleChunk& chunk = pool.at(tail_);
  chunk.step_ms[chunk.count] = static_cast<uint16_t>(now_ms - chunk.newest_ms);
  chunk.distance[chunk.count] = static_cast<float>(value - chunk.base);
  ++chunk.count;
  chunk.newest_ms = newest_ms_ = now_ms;
  last_ = value;
}

void SampleSeries::PopHead(ChunkPool& pool) {
  const uint32_t index = head_;
  head_ = pool.at(index).next;
  if (head_ == SampleChunk::kNone) tail_ = SampleChunk::kNone;
  pool.Return(index);
}

void SampleSeries::FoldHead(ChunkPool& pool) {
  if (folded_.size() == kMaxFolded) Thin();
  folded_.push_back(Fold(pool.at(head_)));
  PopHead(pool);
}

// Halves the resolution of the older half.
void SampleSeries::Thin() {
  std::vector<FoldedSamples> thinned;
  thinned.reserve(kMaxFolded);
  size_t i = 0;
  while (i < folded_.size()) {
    const bool pair = i < kMaxFolded / 2 && i + 1 < folded_.size();
    if (pair && CanMerge(folded_[i], folded_[i + 1])) {
      thinned.push_back(Merge(folded_[i], folded_[i + 1]));
      i += 2;
    } else {
      thinned.push_back(folded_[i++]);
    }
  }
  if (thinned.size() == kMaxFolded) thinned.erase(thinned.begin());
  folded_ = std::move(thinned);
}

void SampleSeries::FoldBefore(ChunkPool& pool, int64_t ms) {
  while (head_ != SampleChunk::kNone && pool.at(head_).newest_ms < ms) FoldHead(pool);
}

void SampleSeries::FoldAll(ChunkPool& pool) {
  while (head_ != SampleChunk::kNone) FoldHead(pool);
}

void SampleSeries::ForgetBefore(int64_t ms) {
  const auto kept = std::find_if(folded_.begin(), folded_.end(),
                                 [&](const FoldedSamples& f) { return NewestMs(f) >= ms; });
  folded_.erase(folded_.begin(), kept);
}

bool SampleSeries::ForgetOldest(ChunkPool& pool) {
  if (!folded_.empty()) {
    folded_ = {};
    return true;
  }
  if (head_ == SampleChunk::kNone) return false;
  PopHead(pool);
  return true;
}

void SampleSeries::Clear(ChunkPool& pool) {
  folded_ = {};
  while (head_ != SampleChunk::kNone) PopHead(pool);
}

std::span<const FoldedSamples> SampleSeries::FoldedSince(int64_t since_ms) const {
  const bool has_some = !folded_.empty() && NewestMs(folded_.back()) >= since_ms;
  return has_some ? folded_ : std::span<const FoldedSamples>();
}

// Those who ask for the last seconds find them in the newest chunk.
uint32_t SampleSeries::FirstChunkSince(const ChunkPool& pool, int64_t since_ms) const {
  if (tail_ != SampleChunk::kNone && pool.at(tail_).first_ms < since_ms) return tail_;
  return head_;
}

SampleTotals SampleSeries::Totals(const ChunkPool& pool, int64_t since_ms) const {
  SampleTotals totals;
  for (const FoldedSamples& folded : FoldedSince(since_ms)) {
    const size_t count = CountSince(folded, since_ms);
    totals.Add(count, double{folded.mean} * static_cast<double>(count),
               std::max(OldestMs(folded), since_ms), NewestMs(folded));
  }
  for (uint32_t i = FirstChunkSince(pool, since_ms); i != SampleChunk::kNone; i = pool.at(i).next) {
    const SampleChunk& chunk = pool.at(i);
    if (chunk.newest_ms < since_ms) continue;
    const Position from = FirstSince(chunk, since_ms);
    totals.Add(chunk.count - from.index, SumOf(chunk, from.index), from.ms, chunk.newest_ms);
  }
  return totals;
}

void SampleSeries::AppendValues(const ChunkPool& pool, int64_t since_ms,
                                std::vector<double>& values) const {
  for (const FoldedSamples& folded : FoldedSince(since_ms)) {
    values.insert(values.end(), CountSince(folded, since_ms), double{folded.mean});
  }
  for (uint32_t i = FirstChunkSince(pool, since_ms); i != SampleChunk::kNone; i = pool.at(i).next) {
    const SampleChunk& chunk = pool.at(i);
    if (chunk.newest_ms < since_ms) continue;
    for (uint16_t k = FirstSince(chunk, since_ms).index; k < chunk.count; ++k) {
      values.push_back(chunk.base + double{chunk.distance[k]});
    }
  }
}

void SampleSeries::RestoreChunk(ChunkPool& pool, const SampleChunk& chunk) {
  const uint32_t index = pool.Take();
  SampleChunk& place = pool.at(index);
  place = chunk;
  place.next = SampleChunk::kNone;
  LinkTail(pool, index);
}

void SampleSeries::RestoreLast(int64_t newest_ms, double last) {
  newest_ms_ = newest_ms;
  last_ = last;
}

}  // namespace koord::koordlet
