#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace koord::koordlet {

// Consecutive samples at full resolution, six bytes each. Numbers are kept as floats, large ones
// (bytes) as their distance from the first: memory in whole pages comes back exactly, everything
// within 1e-6 of itself.
struct SampleChunk {
  static constexpr uint16_t kCapacity = 64;
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr int64_t kMaxStepMs = UINT16_MAX;

  int64_t first_ms = 0;
  int64_t newest_ms = 0;
  double base = 0;
  uint32_t next = kNone;  // towards the present
  uint16_t count = 0;
  std::array<uint16_t, kCapacity> step_ms;  // since the sample before
  std::array<float, kCapacity> distance;    // from base
};

// Where chunks come from and go back to: series come and go all day without the heap noticing.
class ChunkPool {
 public:
  SampleChunk& at(uint32_t index) { return (*slabs_[index / kSlab])[index % kSlab]; }
  const SampleChunk& at(uint32_t index) const { return (*slabs_[index / kSlab])[index % kSlab]; }

  uint32_t Take();
  void Return(uint32_t index);

  size_t bytes() const { return slabs_.size() * sizeof(Slab); }
  size_t used_bytes() const { return used_ * sizeof(SampleChunk); }

 private:
  void AddFree(uint32_t index);

  static constexpr uint32_t kSlab = 8;  // a node without pods has 14 series
  using Slab = std::array<SampleChunk, kSlab>;

  std::vector<std::unique_ptr<Slab>> slabs_;
  uint32_t free_ = SampleChunk::kNone;  // chained by `next`
  size_t used_ = 0;
};

// What is left of samples that are too old for anybody to ask for their distribution.
struct FoldedSamples {
  int32_t newest_s = 0;
  uint16_t span_s = 0;  // back to the oldest
  uint16_t count = 0;
  float mean = 0;
};

struct SampleTotals {
  size_t count = 0;
  double sum = 0;
  int64_t oldest_ms = 0;
  int64_t newest_ms = 0;

  void Add(size_t more, double sum_of_more, int64_t oldest, int64_t newest);
};

// The samples of one thing over time: recent ones as they were, older ones folded into averages,
// the coarser the older. Does not grow beyond kMaxFolded however long it lives.
class SampleSeries {
 public:
  static constexpr size_t kMaxFolded = 128;

  bool empty() const { return head_ == SampleChunk::kNone && folded_.empty(); }
  int64_t newest_ms() const { return newest_ms_; }
  double last() const { return last_; }
  int64_t oldest_ms(const ChunkPool& pool) const;
  size_t bytes() const { return folded_.capacity() * sizeof(FoldedSamples); }

  bool NeedsChunk(const ChunkPool& pool, int64_t now_ms, double value) const;
  void Append(ChunkPool& pool, int64_t now_ms, double value);

  // Folds chunks all of whose samples are older.
  void FoldBefore(ChunkPool& pool, int64_t ms);
  void FoldAll(ChunkPool& pool);
  // Forgets folded samples that are older.
  void ForgetBefore(int64_t ms);
  // Forgets the oldest part to make room. False: there was nothing.
  bool ForgetOldest(ChunkPool& pool);
  void Clear(ChunkPool& pool);

  // Of the samples since then, including that moment.
  SampleTotals Totals(const ChunkPool& pool, int64_t since_ms) const;
  void AppendValues(const ChunkPool& pool, int64_t since_ms, std::vector<double>& values) const;

  // For files.
  uint32_t head() const { return head_; }
  const std::vector<FoldedSamples>& folded() const { return folded_; }
  void Restore(std::vector<FoldedSamples> folded) { folded_ = std::move(folded); }
  void RestoreChunk(ChunkPool& pool, const SampleChunk& chunk);
  void RestoreLast(int64_t newest_ms, double last);

 private:
  // All that may have samples since then; empty or the newest alone where nothing older has.
  std::span<const FoldedSamples> FoldedSince(int64_t since_ms) const;
  uint32_t FirstChunkSince(const ChunkPool& pool, int64_t since_ms) const;
  void FoldHead(ChunkPool& pool);
  void PopHead(ChunkPool& pool);
  void LinkTail(ChunkPool& pool, uint32_t index);
  void Thin();

  uint32_t head_ = SampleChunk::kNone;  // the oldest chunk
  uint32_t tail_ = SampleChunk::kNone;
  int64_t newest_ms_ = INT64_MIN;
  double last_ = 0;
  std::vector<FoldedSamples> folded_;  // oldest first
};

}  // namespace koord::koordlet
