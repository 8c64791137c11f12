#include "koordlet/metrics/metric_store.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "koordlet/metrics/metric_store_state.h"

namespace koord::koordlet {
namespace {

using std::chrono::milliseconds;

// A series that stands still for so long has most likely ended: its pod is gone.
constexpr Duration kIdleAfter = std::chrono::minutes(2);
// Far beyond anything measured; keeps the arithmetic of sums finite.
constexpr double kLargest = 1e30;
constexpr size_t kLongestName = 4096;
constexpr size_t kAllocation = 16;  // what the allocator adds to a small block, about

int64_t Ms(Duration time) { return std::chrono::duration_cast<milliseconds>(time).count(); }

bool IsOfPod(Metric metric) {
  return (metric >= Metric::kPodCpu && metric < Metric::kHostAppCpu) ||
         metric == Metric::kPodGpuCore || metric == Metric::kPodGpuMemory ||
         metric == Metric::kContainerGpuCore || metric == Metric::kContainerGpuMemory;
}

MetricSummary SummaryOf(const SampleTotals& totals, double last) {
  return {.count = totals.count,
          .oldest = milliseconds(totals.oldest_ms),
          .newest = milliseconds(totals.newest_ms),
          .average = totals.sum / static_cast<double>(totals.count),
          .last = last};
}

// Each percentile is to the right of the one before, so each search needs to look at the rest only.
void FillPercentiles(std::vector<double>& values, MetricSummary& summary) {
  const std::array<std::pair<float, double*>, 4> wanted{
      {{0.5F, &summary.p50}, {0.9F, &summary.p90}, {0.95F, &summary.p95}, {0.99F, &summary.p99}}};
  auto from = values.begin();
  for (const auto& [p, result] : wanted) {
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(PercentileIndex(values.size(), p));
    std::nth_element(from, at, values.end());
    *result = *at;
    from = at;
  }
}

}  // namespace

uint32_t NameTable::Find(std::string_view name) const {
  const auto it = ids_.find(name);
  return it == ids_.end() ? kUnknown : it->second;
}

uint32_t NameTable::Use(std::string_view name) {
  uint32_t id = Find(name);
  if (id == kUnknown) {
    if (free_.empty()) {
      free_.push_back(static_cast<uint32_t>(entries_.size()));
      entries_.emplace_back();
    }
    id = free_.back();
    free_.pop_back();
    entries_[id].name = name;
    ids_.emplace(name, id);
    bytes_ += 2 * (name.size() + sizeof(Entry));
  }
  ++entries_[id].users;
  return id;
}

void NameTable::Release(uint32_t id) {
  Entry& entry = entries_[id];
  if (--entry.users > 0) return;
  bytes_ -= 2 * (entry.name.size() + sizeof(Entry));
  ids_.erase(entry.name);
  entry.name = {};
  free_.push_back(id);
}

int64_t MetricStoreState::NowMs() const { return Ms(clock.Steady()); }

const SampleSeries* MetricStoreState::Find(const MetricKey& key) const {
  const uint32_t subject = names.Find(key.subject);
  const uint32_t detail = names.Find(key.detail);
  if (subject == NameTable::kUnknown || detail == NameTable::kUnknown) return nullptr;
  const auto it = series.find(SeriesKey{key.metric, subject, detail});
  return it == series.end() ? nullptr : &it->second;
}

SampleSeries& MetricStoreState::FindOrAdd(const MetricKey& key) {
  if (const SampleSeries* found = Find(key)) return const_cast<SampleSeries&>(*found);
  MakeRoom(sizeof(SeriesKey) + sizeof(SampleSeries));
  return series[SeriesKey{key.metric, names.Use(key.subject), names.Use(key.detail)}];
}

void MetricStoreState::Drop(const SeriesKey& key, SampleSeries& dropped) {
  ++drops;
  folded_bytes -= dropped.bytes();
  dropped.Clear(pool);
  names.Release(key.subject);
  names.Release(key.detail);
}

void MetricStoreState::Clear() {
  for (auto& [key, of_key] : series) Drop(key, of_key);
  series.clear();
}

Duration MetricStoreState::ResolutionOf(Metric metric) const {
  return IsOfPod(metric) ? options.pod_resolution : options.node_resolution;
}

size_t MetricStoreState::BytesBesideChunks() const {
  return folded_bytes + names.bytes() + series.capacity() * (sizeof(void*) + 1) +
         series.size() * (sizeof(SeriesKey) + sizeof(SampleSeries) + kAllocation);
}

void MetricStoreState::MakeRoom(size_t more) {
  // What is in use counts: chunks that were given back wait for their next user.
  while (pool.used_bytes() + BytesBesideChunks() + more > options.max_bytes && !series.empty()) {
    const auto oldest = std::min_element(series.begin(), series.end(), [&](auto& a, auto& b) {
      return a.second.oldest_ms(pool) < b.second.oldest_ms(pool);
    });
    folded_bytes -= oldest->second.bytes();
    oldest->second.ForgetOldest(pool);
    if (oldest->second.empty()) {
      Drop(oldest->first, oldest->second);
      series.erase(oldest);
    }
  }
}

MetricStore::MetricStore(const Clock& clock, Options options)
    : state_(std::make_unique<MetricStoreState>(clock, options)) {}

MetricStore::~MetricStore() = default;

void MetricStore::Append(const MetricKey& key, double value) {
  MetricSlot slot;
  Append(key, value, slot);
}

void MetricStore::Append(const MetricKey& key, double value, MetricSlot& slot) {
  if (!(std::abs(value) <= kLargest)) return;
  if (key.subject.size() > kLongestName || key.detail.size() > kLongestName) return;
  MetricStoreState& state = *state_;
  const int64_t now = state.NowMs();
  const auto find = [&] {
    if (slot.series_ != nullptr && slot.drops_ == state.drops) return;
    slot.series_ = &state.FindOrAdd(key);
    slot.drops_ = state.drops;
  };
  find();
  if (slot.series_->NeedsChunk(state.pool, now, value)) {
    state.folded_bytes -= slot.series_->bytes();
    slot.series_->FoldBefore(state.pool, now - Ms(state.ResolutionOf(key.metric)));
    state.folded_bytes += slot.series_->bytes();
    state.MakeRoom(sizeof(SampleChunk));
    find();  // room may have been made at its own expense
  }
  slot.series_->Append(state.pool, now, value);
}

std::optional<MetricSummary> MetricStore::Average(const MetricKey& key, Duration window) const {
  const SampleSeries* series = state_->Find(key);
  if (series == nullptr) return std::nullopt;
  const SampleTotals totals = series->Totals(state_->pool, state_->NowMs() - Ms(window));
  if (totals.count == 0) return std::nullopt;
  return SummaryOf(totals, series->last());
}

std::optional<MetricSummary> MetricStore::Summarize(const MetricKey& key, Duration window) const {
  std::optional<MetricSummary> summary = Average(key, window);
  if (!summary.has_value()) return std::nullopt;
  std::vector<double>& values = state_->scratch;
  values.clear();
  state_->Find(key)->AppendValues(state_->pool, state_->NowMs() - Ms(window), values);
  FillPercentiles(values, *summary);
  return summary;
}

std::optional<double> MetricStore::Last(const MetricKey& key, Duration window) const {
  const SampleSeries* series = state_->Find(key);
  if (series == nullptr || series->newest_ms() < state_->NowMs() - Ms(window)) return std::nullopt;
  return series->last();
}

void MetricStore::CollectGarbage() {
  MetricStoreState& state = *state_;
  const int64_t now = state.NowMs();
  absl::erase_if(state.series, [&](auto& item) {
    auto& [key, series] = item;
    const bool expired = series.newest_ms() < now - Ms(state.options.expire);
    if (!expired) {
      state.folded_bytes -= series.bytes();
      if (series.newest_ms() < now - Ms(kIdleAfter)) {
        series.FoldAll(state.pool);
      } else {
        series.FoldBefore(state.pool, now - Ms(state.ResolutionOf(key.metric)));
      }
      series.ForgetBefore(now - Ms(state.options.retention));
      state.folded_bytes += series.bytes();
    }
    if (expired) state.Drop(key, series);
    return expired;
  });
}

size_t MetricStore::bytes() const { return state_->pool.bytes() + state_->BytesBesideChunks(); }

size_t MetricStore::series() const { return state_->series.size(); }

}  // namespace koord::koordlet
