#include <fmt/format.h>

#include "api/default_strategies.h"
#include "cli/validation/slo_config.h"

// Settings that may be written, each for itself, but fight with each other.
namespace koord::validation {
namespace {

using kube::ConfigDocument;
using kube::Json;
using manager::kAmplificationConfig;
using manager::kColocationConfig;
using manager::kCpuNormalizationConfig;
using manager::kResourceQosConfig;
using manager::kThresholdConfig;
namespace json = kube::json;

std::string Percent(double value) { return fmt::format("{} %", value); }

// Every number of a document, however deep.
struct RatioCheck {
  ConfigDocument& document;
  bool is_normalization;

  void Check(const std::string& path, const Json& value) const {
    if (value.is_object()) {
      for (const auto& [name, below] : value.get_object()) Check(JoinPath(path, name), below);
    }
    if (!value.is_number()) return;
    const auto ratio = value.to_number<double>();
    if (!is_normalization) {
      if (ratio >= 1) return;
      return document.AddError(path, "must be 1 or more; otherwise nothing at all is amplified");
    }
    if (ratio >= manager::kLeastCpuRatio && ratio <= manager::kMostCpuRatio) return;
    document.AddError(path, fmt::format("{} is not between {} and {}; nodes keep the ratio that "
                                        "they have",
                                        ratio, manager::kLeastCpuRatio, manager::kMostCpuRatio));
  }
};

}  // namespace

void SloConfig::Warn(const Member& first, const Member& second, const std::string& text) {
  const Member* places[] = {&first, &second};
  for (const Member* place : places) {
    const auto document = documents_.find(place->key);
    if (document == documents_.end() || !place->level->Says(place->name)) continue;
    return document->second.AddWarning(JoinPath(place->level->path, place->name), text);
  }
}

void SloConfig::CheckColocation() {
  for (const Level& level : levels(kColocationConfig)) {
    const auto member = [&](std::string_view name) {
      return Member{kColocationConfig, &level, name};
    };
    const auto number = [&](std::string_view name) { return level.Number(name).value_or(0); };
    const double report = number("metricReportIntervalSeconds");
    const double degrade = 60 * number("degradeTimeMinutes");
    if (degrade < 2 * report) {
      Warn(member("degradeTimeMinutes"), member("metricReportIntervalSeconds"),
           fmt::format("a node's report counts for {} s and comes every {} s: one that is late or "
                       "lost takes all batch resources away; let it count for at least two",
                       degrade, report));
    }
    if (number("metricAggregateDurationSeconds") < report) {
      Warn(member("metricAggregateDurationSeconds"), member("metricReportIntervalSeconds"),
           fmt::format("usage is averaged over {} s and reported every {} s: what happens in "
                       "between is never seen",
                       number("metricAggregateDurationSeconds"), report));
    }
    for (const auto& [share, cap] :
         {std::pair{"midStaticCPUReservedPercent", "midCPUThresholdPercent"},
          {"midStaticMemoryReservedPercent", "midMemoryThresholdPercent"}}) {
      if (kube::FindString(level.merged, {"midReclaimMode"}) == "static" &&
          number(share) > number(cap)) {
        Warn(member(share), member(cap),
             fmt::format("{} is more than {} allows ({}), which counts", Percent(number(share)),
                         cap, Percent(number(cap))));
      }
    }
    for (const auto& [cap, reclaim] :
         {std::pair{"batchCPUThresholdPercent", "cpuReclaimThresholdPercent"},
          {"batchMemoryThresholdPercent", "memoryReclaimThresholdPercent"}}) {
      if (level.Number(cap) && number(cap) > number(reclaim)) {
        Warn(member(cap), member(reclaim),
             fmt::format("{} is never reached: {} lends at most {}", Percent(number(cap)), reclaim,
                         Percent(number(reclaim))));
      }
    }
  }
}

void SloConfig::CheckThresholds() {
  for (const Level& level : levels(kThresholdConfig)) {
    const auto member = [&](std::string_view name) {
      return Member{kThresholdConfig, &level, name};
    };
    const auto suppress = level.Number("cpuSuppressThresholdPercent");
    const auto least = level.Number("cpuSuppressMinPercent");
    const auto evict = level.Number("cpuEvictThresholdPercent");
    if (suppress && least && *least >= *suppress) {
      Warn(member("cpuSuppressMinPercent"), member("cpuSuppressThresholdPercent"),
           fmt::format("best-effort pods always keep {}, so that nothing is left to take away at "
                       "{}; must be less than cpuSuppressThresholdPercent",
                       Percent(*least), Percent(*suppress)));
    }
    if (suppress && evict && *evict <= *suppress) {
      Warn(member("cpuEvictThresholdPercent"), member("cpuSuppressThresholdPercent"),
           fmt::format("pods are evicted at {} before they are slowed down at {}; must be greater "
                       "than cpuSuppressThresholdPercent",
                       Percent(*evict), Percent(*suppress)));
    }
  }
  // Each of one key with that of the other which is for the same nodes, or the cluster's.
  const auto partner = [](const std::vector<Level>& others, const Level& level) -> const Level& {
    for (const Level& other : others) {
      if (other.is_cluster == level.is_cluster && other.selector == level.selector) return other;
    }
    return others.front();
  };
  const auto& colocation = levels(kColocationConfig);
  std::vector<Level> defaults;
  if (levels(kThresholdConfig).empty()) {
    defaults.push_back(
        {"", json::object(), kube::Encode(api::DefaultThresholdStrategy()), true, {}});
  }
  const auto& thresholds = defaults.empty() ? levels(kThresholdConfig) : defaults;
  if (colocation.empty()) return;
  for (const Level& level : colocation) CheckPair(level, partner(thresholds, level));
  for (const Level& level : thresholds) {
    if (!level.is_cluster && partner(colocation, level).is_cluster) {
      CheckPair(colocation.front(), level);
    }
  }
}

// What is lent must be safe from what is taken back.
void SloConfig::CheckPair(const Level& colocation, const Level& threshold) {
  const auto lends = [&](std::string_view name) {
    return Member{kColocationConfig, &colocation, name};
  };
  const auto takes = [&](std::string_view name) {
    return Member{kThresholdConfig, &threshold, name};
  };
  if (!colocation.IsOn("enable")) return;
  if (!threshold.IsOn("enable")) {
    return Warn(lends("enable"), takes("enable"),
                "idle resources are lent, but resource-threshold-config is not enabled: nothing "
                "slows best-effort pods down or evicts them when services need them back");
  }
  struct Order {
    std::string_view lent, taken, what;
  };
  constexpr Order kOrders[] = {
      {"cpuReclaimThresholdPercent", "cpuSuppressThresholdPercent", "slowed down"},
      {"cpuReclaimThresholdPercent", "cpuEvictThresholdPercent", "evicted"},
      {"memoryReclaimThresholdPercent", "memoryEvictThresholdPercent", "evicted"},
  };
  for (const Order& order : kOrders) {
    const auto lent = colocation.Number(order.lent), taken = threshold.Number(order.taken);
    if (!lent || !taken || *lent <= *taken) continue;
    Warn(lends(order.lent), takes(order.taken),
         fmt::format("nodes are filled up to {}, but best-effort pods are {} from {} on "
                     "(resource-threshold-config {}); lend no more than that",
                     Percent(*lent), order.what, Percent(*taken), order.taken));
  }
}

void SloConfig::CheckQos() {
  const auto written = written_.find(kResourceQosConfig);
  if (written == written_.end()) return;
  ConfigDocument& document = documents_.find(kResourceQosConfig)->second;
  const auto check = [&](std::string_view path, const Json& strategy) {
    for (const char* klass : {"lsrClass", "lsClass", "beClass", "systemClass"}) {
      const Json* memory = kube::Find(strategy, {klass, "memoryQOS"});
      if (memory == nullptr) continue;
      const int64_t least = kube::FindInt(*memory, {"minLimitPercent"});
      const int64_t low = kube::FindInt(*memory, {"lowLimitPercent"});
      if (low <= 0 || least <= low) continue;
      document.AddWarning(
          JoinPath(path, fmt::format("{}.memoryQOS.lowLimitPercent", klass)),
          fmt::format("{} is below minLimitPercent ({}), which protects more already", low, least));
    }
  };
  check(written->second.cluster_path, written->second.cluster);
  for (const auto& entry : written->second.entries) check(entry.path, entry.strategy);
}

// By how much CPUs are worth more, and resources are amplified.
void SloConfig::CheckRatios() {
  for (const auto& [key, member] :
       {std::pair{kCpuNormalizationConfig, "ratioModel"},
        std::pair{kAmplificationConfig, "resourceAmplificationRatio"}}) {
    const auto written = written_.find(key);
    if (written == written_.end()) continue;
    RatioCheck check{documents_.find(key)->second, key == kCpuNormalizationConfig};
    const auto check_all = [&, member = member](std::string_view path, const Json& strategy) {
      if (const Json* ratio = kube::Find(strategy, {"defaultRatio"})) {
        check.Check(JoinPath(path, "defaultRatio"), *ratio);
      }
      if (const Json* ratios = kube::Find(strategy, {member})) {
        check.Check(JoinPath(path, member), *ratios);
      }
    };
    check_all(written->second.cluster_path, written->second.cluster);
    for (const auto& entry : written->second.entries) check_all(entry.path, entry.strategy);
  }
}

}  // namespace koord::validation
