#include "localcluster/nodes/usage_history.h"

#include <algorithm>

#include "base/random.h"

namespace koord::localcluster {
namespace {

// The operating system, the kubelet, koordlet: a share of the machine, and never nothing.
constexpr double kSystemCpuShare = 0.02;
constexpr double kLeastSystemCpu = 0.1;
constexpr double kSystemMemoryShare = 0.02;
constexpr double kLeastSystemMemory = 256.0 * (1 << 20);
constexpr double kSystemNoise = 0.1;

UsageSample Measure(WallTime time, const MachineSize& size, uint64_t seed,
                    std::span<const PodLoad> pods) {
  UsageSample sample{.time = time, .system = SystemUsage(size, seed, time)};
  sample.node = sample.system;
  for (const PodLoad& pod : pods) {
    const Usage usage = pod.At(time);
    sample.node += usage;
    const bool prod =
        pod.band() == api::PriorityBand::kProd || pod.band() == api::PriorityBand::kNone;
    if (prod) sample.prod += usage;
  }
  sample.node.cpu = std::min(sample.node.cpu, size.cpus);
  sample.node.memory = std::min(sample.node.memory, size.memory);
  return sample;
}

}  // namespace

Usage SystemUsage(const MachineSize& size, uint64_t seed, WallTime time) {
  const auto step = static_cast<uint64_t>(time.time_since_epoch() / UsageHistory::kStep);
  const double noise = 1 + kSystemNoise * (2 * Random(seed ^ step * 31).Fraction() - 1);
  return {std::max(size.cpus * kSystemCpuShare, kLeastSystemCpu) * noise,
          std::max(size.memory * kSystemMemoryShare, kLeastSystemMemory)};
}

std::vector<WallTime> MeasuringTimes(WallTime after, WallTime until) {
  std::vector<WallTime> times;
  const auto steps = after.time_since_epoch() / UsageHistory::kStep;
  for (WallTime time{(steps + 1) * UsageHistory::kStep}; time <= until;
       time += UsageHistory::kStep) {
    times.push_back(time);
  }
  return times;
}

void UsageHistory::MeasureUntil(WallTime now, Duration keep, WallTime born, const MachineSize& size,
                                uint64_t seed, std::span<const PodLoad> pods) {
  const WallTime oldest = now - keep;
  while (!samples_.empty() && samples_.front().time < oldest) samples_.pop_front();
  // A clock that was set back leaves samples of the future behind.
  while (!samples_.empty() && samples_.back().time > now) samples_.pop_back();
  WallTime after = std::max(oldest - Duration(1), born);  // the oldest moment counts
  if (!samples_.empty()) after = std::max(after, samples_.back().time);
  for (WallTime time : MeasuringTimes(after, now)) {
    samples_.push_back(Measure(time, size, seed, pods));
  }
}

std::vector<UsageSample> UsageHistory::Last(Duration span, WallTime now) const {
  const auto first = std::find_if(samples_.begin(), samples_.end(), [&](const UsageSample& sample) {
    return sample.time >= now - span;
  });
  return {first, samples_.end()};
}

std::optional<Usage> AverageOf(const PodLoad& pod, Duration span, WallTime now) {
  Usage sum;
  int count = 0;
  for (WallTime time : MeasuringTimes(now - span, now)) {
    const Usage usage = pod.At(time);
    if (usage.cpu == 0 && usage.memory == 0) continue;  // not started yet
    sum += usage;
    ++count;
  }
  if (count == 0) return std::nullopt;
  return Usage{sum.cpu / count, sum.memory / count};
}

}  // namespace koord::localcluster
