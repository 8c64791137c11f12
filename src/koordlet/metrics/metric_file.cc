// The file in which a store survives the restart of its process. Times in it are steady ones of the
// process that wrote it; the wall clock says how long ago that was.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/crc.hpp>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <type_traits>

#include "base/file.h"
#include "base/strings.h"
#include "koordlet/metrics/metric_store.h"
#include "koordlet/metrics/metric_store_state.h"

namespace koord::koordlet {
namespace {

constexpr std::string_view kFileName = "metrics.bin";
constexpr std::string_view kMagic = "KOORDMT1";

struct FileHeader {
  uint32_t metric_count = kMetricCount;  // another number: the enumeration has changed meanwhile
  uint32_t series_count = 0;
  int64_t wall_ns = 0;
  int64_t steady_ms = 0;
};

struct SeriesHeader {
  int64_t newest_ms = 0;
  double last = 0;
  uint32_t chunk_count = 0;
  uint16_t subject_size = 0;
  uint16_t detail_size = 0;
  uint16_t folded_count = 0;
  Metric metric = Metric::kNodeCpu;
  uint8_t unused = 0;
};

struct ChunkHeader {
  int64_t first_ms = 0;
  double base = 0;
  uint64_t count = 0;
};

// Written piece by piece: the whole in memory would double what the store needs.
class FileWriter {
 public:
  explicit FileWriter(const std::string& path) {
    unlink(path.c_str());
    const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0) file_ = fdopen(fd, "wb");
    failed_ = file_ == nullptr;
  }
  ~FileWriter() {
    if (file_ != nullptr) std::fclose(file_);
  }
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  void Bytes(const void* data, size_t size) {
    if (failed_ || size == 0) return;
    checksum_.process_bytes(data, size);
    failed_ = std::fwrite(data, 1, size, file_) != size;
  }
  template <class T>
  void Value(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    Bytes(&value, sizeof(value));
  }
  bool Finish() {
    const uint32_t checksum = checksum_.checksum();
    Value(checksum);
    // Not synced: that may take seconds on a busy disk, and what a power cut breaks is recognised.
    if (failed_) return false;
    return std::fclose(std::exchange(file_, nullptr)) == 0;
  }

 private:
  std::FILE* file_ = nullptr;
  bool failed_ = false;
  boost::crc_32_type checksum_;
};

// Times beyond this are no times: a hundred years, so that the sum of two fits into nanoseconds.
constexpr int64_t kMaxMs = int64_t{100} * 365 * 24 * 3600 * 1000;
bool IsTime(int64_t ms) { return ms >= -kMaxMs && ms <= kMaxMs; }

class FileReader {
 public:
  explicit FileReader(std::string_view text) : rest_(text) {}

  template <class T>
  bool Value(T& value) {
    return Bytes(&value, sizeof(value));
  }
  bool Bytes(void* data, size_t size) {
    if (rest_.size() < size) return false;
    if (size == 0) return true;  // `data` may be null then, which memcpy must not see
    std::memcpy(data, rest_.data(), size);
    rest_.remove_prefix(size);
    return true;
  }
  bool Text(size_t size, std::string_view& text) {
    if (rest_.size() < size) return false;
    text = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }

 private:
  std::string_view rest_;
};

void WriteSeries(const NameTable& names, const ChunkPool& pool, const SeriesKey& key,
                 const SampleSeries& series, FileWriter& out) {
  const std::string& subject = names.at(key.subject);
  const std::string& detail = names.at(key.detail);
  SeriesHeader header{.newest_ms = series.newest_ms(),
                      .last = series.last(),
                      .subject_size = static_cast<uint16_t>(subject.size()),
                      .detail_size = static_cast<uint16_t>(detail.size()),
                      .folded_count = static_cast<uint16_t>(series.folded().size()),
                      .metric = key.metric};
  for (uint32_t i = series.head(); i != SampleChunk::kNone; i = pool.at(i).next) {
    ++header.chunk_count;
  }
  out.Value(header);
  out.Bytes(subject.data(), subject.size());
  out.Bytes(detail.data(), detail.size());
  out.Bytes(series.folded().data(), series.folded().size() * sizeof(FoldedSamples));
  for (uint32_t i = series.head(); i != SampleChunk::kNone; i = pool.at(i).next) {
    const SampleChunk& chunk = pool.at(i);
    out.Value(ChunkHeader{chunk.first_ms, chunk.base, chunk.count});
    out.Bytes(chunk.step_ms.data(), chunk.count * sizeof(chunk.step_ms[0]));
    out.Bytes(chunk.distance.data(), chunk.count * sizeof(chunk.distance[0]));
  }
}

// False: the text ends too soon or cannot be.
bool ReadChunk(FileReader& in, int64_t shift_ms, SampleChunk& chunk) {
  ChunkHeader header;
  if (!in.Value(header) || header.count == 0 || header.count > SampleChunk::kCapacity ||
      !IsTime(header.first_ms)) {
    return false;
  }
  chunk.first_ms = header.first_ms + shift_ms;
  chunk.base = header.base;
  chunk.count = static_cast<uint16_t>(header.count);
  if (!in.Bytes(chunk.step_ms.data(), chunk.count * sizeof(chunk.step_ms[0]))) return false;
  if (!in.Bytes(chunk.distance.data(), chunk.count * sizeof(chunk.distance[0]))) return false;
  chunk.newest_ms = chunk.first_ms;
  for (uint16_t i = 1; i < chunk.count; ++i) chunk.newest_ms += chunk.step_ms[i];
  return true;
}

bool ReadSeries(FileReader& in, int64_t shift_ms, MetricStoreState& state) {
  SeriesHeader header;
  std::string_view subject;
  std::string_view detail;
  if (!in.Value(header) || static_cast<int>(header.metric) >= kMetricCount ||
      !IsTime(header.newest_ms) || header.folded_count > SampleSeries::kMaxFolded ||
      !in.Text(header.subject_size, subject) || !in.Text(header.detail_size, detail)) {
    return false;
  }
  std::vector<FoldedSamples> folded(header.folded_count);
  if (!in.Bytes(folded.data(), folded.size() * sizeof(FoldedSamples))) return false;
  for (FoldedSamples& part : folded) {
    part.newest_s = static_cast<int32_t>(part.newest_s + shift_ms / 1000);
  }
  SampleSeries& series = state.FindOrAdd({header.metric, subject, detail});
  if (!series.empty()) return false;  // twice
  series.Restore(std::move(folded));
  state.folded_bytes += series.bytes();
  series.RestoreLast(header.newest_ms + shift_ms, header.last);
  for (uint32_t i = 0; i < header.chunk_count; ++i) {
    SampleChunk chunk;
    if (!ReadChunk(in, shift_ms, chunk)) return false;
    series.RestoreChunk(state.pool, chunk);
  }
  return true;
}

std::string PathIn(const std::string& directory) {
  return directory + "/" + std::string(kFileName);
}

Status Broken(const std::string& path) {
  return InvalidArgument("{}: broken, its metrics are lost", Quote(path));
}

// Its content without the checksum.
StatusOr<std::string_view> Verified(std::string_view text, const std::string& path) {
  uint32_t expected = 0;
  if (text.size() < kMagic.size() + sizeof(FileHeader) + sizeof(expected)) return Broken(path);
  std::memcpy(&expected, text.data() + text.size() - sizeof(expected), sizeof(expected));
  text.remove_suffix(sizeof(expected));
  boost::crc_32_type checksum;
  checksum.process_bytes(text.data(), text.size());
  if (checksum.checksum() != expected || !text.starts_with(kMagic)) return Broken(path);
  return text.substr(kMagic.size());
}

}  // namespace

Status MetricStore::Save(const std::string& directory) const {
  const MetricStoreState& state = *state_;
  const std::string path = PathIn(directory);
  const std::string temporary = path + ".tmp";
  std::error_code ignored;  // opening the file says what is wrong
  std::filesystem::create_directories(directory, ignored);
  FileWriter out(temporary);
  out.Bytes(kMagic.data(), kMagic.size());
  out.Value(FileHeader{.series_count = static_cast<uint32_t>(state.series.size()),
                       .wall_ns = state.clock.Now().time_since_epoch().count(),
                       .steady_ms = state.NowMs()});
  for (const auto& [key, series] : state.series) {
    WriteSeries(state.names, state.pool, key, series, out);
  }
  if (!out.Finish() || std::rename(temporary.c_str(), path.c_str()) != 0) {
    Status status = Unavailable("cannot write {}: {}", Quote(path), std::strerror(errno));
    unlink(temporary.c_str());
    return status;
  }
  return absl::OkStatus();
}

Status MetricStore::Load(const std::string& directory) {
  MetricStoreState& state = *state_;
  const std::string path = PathIn(directory);
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, 2 * state.options.max_bytes));
  ASSIGN_OR_RETURN(const std::string_view content, Verified(text, path));
  FileReader in(content);
  FileHeader header;
  if (!in.Value(header) || header.metric_count != kMetricCount || header.wall_ns < 0 ||
      !IsTime(header.steady_ms)) {
    return Broken(path);
  }
  const Duration age = state.clock.Now().time_since_epoch() - Duration(header.wall_ns);
  if (age < Duration(0) || age > state.options.retention) {
    return FailedPrecondition(
        "{}: not of the last {} hours", Quote(path),
        std::chrono::duration_cast<std::chrono::hours>(state.options.retention).count());
  }
  const int64_t age_ms = std::chrono::duration_cast<std::chrono::milliseconds>(age).count();
  const int64_t shift_ms = state.NowMs() - age_ms - header.steady_ms;
  for (uint32_t i = 0; i < header.series_count; ++i) {
    if (!ReadSeries(in, shift_ms, state)) {
      state.Clear();
      return Broken(path);
    }
  }
  return absl::OkStatus();
}

}  // namespace koord::koordlet
