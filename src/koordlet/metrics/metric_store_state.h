#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/container/node_hash_map.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/string_map.h"
#include "koordlet/metrics/metric_store.h"
#include "koordlet/metrics/sample_series.h"

// The inside of the store, shared by its queries and its files.
namespace koord::koordlet {

// Each name of a pod, a container or a device is kept once, however many series are about it.
class NameTable {
 public:
  static constexpr uint32_t kUnknown = UINT32_MAX;

  uint32_t Find(std::string_view name) const;
  uint32_t Use(std::string_view name);  // counts the user
  void Release(uint32_t id);
  const std::string& at(uint32_t id) const { return entries_[id].name; }
  size_t bytes() const { return bytes_; }

 private:
  struct Entry {
    std::string name;
    uint32_t users = 0;
  };

  std::vector<Entry> entries_;
  std::vector<uint32_t> free_;
  absl::flat_hash_map<std::string, uint32_t, StringHash, std::equal_to<>> ids_;
  size_t bytes_ = 0;
};

struct SeriesKey {
  Metric metric = Metric::kNodeCpu;
  uint32_t subject = 0;
  uint32_t detail = 0;

  bool operator==(const SeriesKey&) const = default;
  template <class H>
  friend H AbslHashValue(H hash, const SeriesKey& key) {
    return H::combine(std::move(hash), key.metric, key.subject, key.detail);
  }
};

struct MetricStoreState {
  MetricStoreState(const Clock& clock, MetricStore::Options options)
      : clock(clock), options(options) {}

  int64_t NowMs() const;
  const SampleSeries* Find(const MetricKey& key) const;
  SampleSeries& FindOrAdd(const MetricKey& key);
  void Drop(const SeriesKey& key, SampleSeries& series);
  void Clear();
  Duration ResolutionOf(Metric metric) const;
  size_t BytesBesideChunks() const;
  // Room for `more` bytes, at the cost of what is oldest.
  void MakeRoom(size_t more);

  const Clock& clock;
  const MetricStore::Options options;
  NameTable names;
  ChunkPool pool;
  // By node: a table of whole series would double by a megabyte when one more pod comes.
  absl::node_hash_map<SeriesKey, SampleSeries> series;
  size_t folded_bytes = 0;  // of all series
  uint64_t drops = 0;       // of series, ever
  mutable std::vector<double> scratch;
};

}  // namespace koord::koordlet
