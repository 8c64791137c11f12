#include "localcluster/nodes/load_model.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <optional>
#include <sstream>
#include <vector>

#include "base/duration.h"
#include "base/random.h"
#include "base/strings.h"

namespace koord::localcluster {
namespace {

// Noise changes this often: as often as the nodes measure.
constexpr Duration kNoiseStep = 15s;
// Programs rarely give memory back: it follows the CPU at a distance, from a level of its own.
constexpr double kMemoryBase = 0.5;
constexpr double kMemoryShare = 0.3;

double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

double MemoryFor(double cpu) { return kMemoryBase + kMemoryShare * std::min(cpu, 1.0); }

// In [-1, 1), the same for the same seed and moment.
double NoiseAt(uint64_t seed, WallTime time) {
  const auto step = static_cast<uint64_t>(time.time_since_epoch() / kNoiseStep);
  return 2 * Random(seed ^ step * 0x9e3779b97f4a7c15).Fraction() - 1;
}

// Where in its cycle a pod is: in [0, 1).
double PhaseAt(WallTime time, Duration period, double shift) {
  const Duration into = time.time_since_epoch() % period;
  const double phase = Seconds(into) / Seconds(period) + shift;
  return phase - std::floor(phase);
}

double OwnShift(uint64_t seed) { return Random(seed).Fraction(); }

class Flat final : public LoadModel {
 public:
  explicit Flat(double level) : level_(level) {}
  Load At(uint64_t, WallTime) const override { return {level_, level_}; }

 private:
  double level_;
};

class Diurnal final : public LoadModel {
 public:
  struct Settings {
    double low = 0.2, high = 0.7, noise = 0.1;
    Duration period = 24h;
  };
  explicit Diurnal(Settings settings) : settings_(settings) {}

  Load At(uint64_t seed, WallTime time) const override {
    // Pods of one cluster serve the same people: they peak within an eighth of a day of each other.
    const double phase = PhaseAt(time, settings_.period, OwnShift(seed) / 8 - 1.0 / 16);
    // Lowest at 02:00, highest at 14:00.
    const double wave = 0.5 - 0.5 * std::cos(2 * std::numbers::pi * (phase - 1.0 / 12));
    const double calm = settings_.low + (settings_.high - settings_.low) * wave;
    const double cpu = std::max(0.0, calm * (1 + settings_.noise * NoiseAt(seed, time)));
    return {cpu, MemoryFor(calm)};
  }

 private:
  Settings settings_;
};

class Spike final : public LoadModel {
 public:
  struct Settings {
    double low = 0.2, high = 1.2;
    Duration every = 10min, length = 1min;
  };
  explicit Spike(Settings settings) : settings_(settings) {}

  Load At(uint64_t seed, WallTime time) const override {
    const double phase = PhaseAt(time, settings_.every, OwnShift(seed));
    const bool bursting = phase < Seconds(settings_.length) / Seconds(settings_.every);
    const double cpu = bursting ? settings_.high : settings_.low;
    return {cpu, MemoryFor(cpu)};
  }

 private:
  Settings settings_;
};

class Trace final : public LoadModel {
 public:
  struct Row {
    double seconds;
    Load load;
  };
  explicit Trace(std::vector<Row> rows) : rows_(std::move(rows)) {
    // The last row lasts as long as the one before it, so that the repetition has no seam.
    const size_t count = rows_.size();
    const double last = count > 1 ? rows_[count - 1].seconds - rows_[count - 2].seconds : 1;
    span_ = rows_.back().seconds - rows_.front().seconds + last;
  }

  Load At(uint64_t, WallTime time) const override {
    const double into = rows_.front().seconds + std::fmod(Seconds(time.time_since_epoch()), span_);
    const auto after =
        std::upper_bound(rows_.begin(), rows_.end(), into,
                         [](double seconds, const Row& row) { return seconds < row.seconds; });
    return std::prev(after)->load;  // `into` is never before the first row
  }

 private:
  std::vector<Row> rows_;
  double span_;
};

std::optional<double> ParseFraction(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value >= 0 && value <= 1000)) {
    return {};
  }
  return value;
}

// The settings of one model: "low:0.2;high:0.7". Each is taken once; what is left over is unknown.
class Settings {
 public:
  static StatusOr<Settings> Parse(std::string_view text) {
    Settings settings;
    if (text.empty()) return settings;
    for (std::string_view item : Split(text, ';')) {
      const size_t colon = item.find(':');
      if (colon == std::string_view::npos) {
        return InvalidArgument("expected name:value, found {}", Quote(item));
      }
      settings.items_.emplace(item.substr(0, colon), item.substr(colon + 1));
    }
    return settings;
  }

  Status Take(std::string_view name, double& value) {
    const auto item = items_.extract(std::string(name));
    if (item.empty()) return absl::OkStatus();
    const std::optional<double> parsed = ParseFraction(item.mapped());
    if (!parsed) {
      return InvalidArgument("{}:{}: expected a number from 0 to 1000", name, Quote(item.mapped()));
    }
    value = *parsed;
    return absl::OkStatus();
  }

  Status Take(std::string_view name, Duration& value) {
    const auto item = items_.extract(std::string(name));
    if (item.empty()) return absl::OkStatus();
    const StatusOr<Duration> parsed = ParseDuration(item.mapped());
    if (!parsed.ok() || *parsed <= Duration::zero()) {
      return InvalidArgument("{}:{}: expected a time span such as 10m", name, Quote(item.mapped()));
    }
    value = *parsed;
    return absl::OkStatus();
  }

  Status Finish() const {
    if (items_.empty()) return absl::OkStatus();
    return InvalidArgument("unknown setting {}", Quote(items_.begin()->first));
  }

 private:
  std::map<std::string, std::string> items_;
};

StatusOr<LoadModels::Ptr> MakeFlat(std::string_view text) {
  if (text.empty()) return std::make_shared<Flat>(0.5);
  const std::optional<double> level = ParseFraction(text);
  if (!level) return InvalidArgument("expected a number from 0 to 1000, found {}", Quote(text));
  return std::make_shared<Flat>(*level);
}

StatusOr<LoadModels::Ptr> MakeDiurnal(std::string_view text) {
  ASSIGN_OR_RETURN(Settings given, Settings::Parse(text));
  Diurnal::Settings settings;
  RETURN_IF_ERROR(given.Take("low", settings.low));
  RETURN_IF_ERROR(given.Take("high", settings.high));
  RETURN_IF_ERROR(given.Take("noise", settings.noise));
  RETURN_IF_ERROR(given.Take("period", settings.period));
  RETURN_IF_ERROR(given.Finish());
  return std::make_shared<Diurnal>(settings);
}

StatusOr<LoadModels::Ptr> MakeSpike(std::string_view text) {
  ASSIGN_OR_RETURN(Settings given, Settings::Parse(text));
  Spike::Settings settings;
  RETURN_IF_ERROR(given.Take("low", settings.low));
  RETURN_IF_ERROR(given.Take("high", settings.high));
  RETURN_IF_ERROR(given.Take("every", settings.every));
  RETURN_IF_ERROR(given.Take("for", settings.length));
  RETURN_IF_ERROR(given.Finish());
  return std::make_shared<Spike>(settings);
}

std::pair<std::string_view, std::string_view> NameAndRest(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) return {text, {}};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

Status Explain(std::string_view text, const Status& status) {
  return InvalidArgument("load model {}: {}", Quote(text), Message(status));
}

StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return NotFound("cannot open {}", Quote(path));
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

StatusOr<Trace::Row> ParseRow(std::string_view line) {
  const std::vector<std::string_view> cells = Split(line, ',');
  Trace::Row row{};
  const auto cell = [&](size_t i) { return ParseFraction(Trim(cells[i])); };
  if (cells.size() < 2 || cells.size() > 3) return InvalidArgument("expected seconds,cpu[,memory]");
  const std::optional<int64_t> seconds = ParseInt(Trim(cells[0]));
  const std::optional<double> cpu = cell(1);
  const std::optional<double> memory = cells.size() == 3 ? cell(2) : cpu ? MemoryFor(*cpu) : cpu;
  if (!seconds || !cpu || !memory) return InvalidArgument("expected numbers: seconds,cpu[,memory]");
  row.seconds = static_cast<double>(*seconds);
  row.load = {*cpu, *memory};
  return row;
}

}  // namespace

StatusOr<LoadModels::Ptr> ParseTrace(std::string_view csv) {
  std::vector<Trace::Row> rows;
  int number = 0;
  for (std::string_view line : Split(csv, '\n')) {
    ++number;
    line = Trim(line);
    const bool heading = number == 1 && line.starts_with("seconds");
    if (line.empty() || line.starts_with('#') || heading) continue;
    StatusOr<Trace::Row> row = ParseRow(line);
    if (!row.ok()) return InvalidArgument("line {}: {}", number, Message(row.status()));
    if (!rows.empty() && row->seconds <= rows.back().seconds) {
      return InvalidArgument("line {}: expected seconds to ascend", number);
    }
    rows.push_back(*row);
  }
  if (rows.empty()) return InvalidArgument("expected at least one row: seconds,cpu[,memory]");
  return std::make_shared<Trace>(std::move(rows));
}

LoadModels::LoadModels() : default_(std::make_shared<Flat>(0.5)) {}

Status LoadModels::SetDefault(std::string_view text) {
  const auto [name, rest] = NameAndRest(text);
  if (name == "trace") {
    const StatusOr<std::string> csv = ReadFile(std::string(rest));
    if (!csv.ok()) return Explain(text, csv.status());
    StatusOr<Ptr> trace = ParseTrace(*csv);
    if (!trace.ok()) return Explain(text, trace.status());
    traces_[std::filesystem::path(rest).stem().string()] = *trace;
    default_ = *std::move(trace);
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(default_, Find(text));
  return absl::OkStatus();
}

StatusOr<LoadModels::Ptr> LoadModels::Find(std::string_view text) const {
  if (text.empty()) return default_;
  const auto [name, rest] = NameAndRest(text);
  StatusOr<Ptr> model = InvalidArgument("expected flat, diurnal, spike or trace=...");
  if (name == "flat") {
    model = MakeFlat(rest);
  } else if (name == "diurnal") {
    model = MakeDiurnal(rest);
  } else if (name == "spike") {
    model = MakeSpike(rest);
  } else if (name == "trace") {
    const auto trace = traces_.find(rest);
    if (trace != traces_.end()) return trace->second;
    model = InvalidArgument("no trace of that name has been loaded");
  }
  if (!model.ok()) return Explain(text, model.status());
  return model;
}

}  // namespace koord::localcluster
