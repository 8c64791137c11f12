#include "localcluster/validation/slo_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "api/annotation_codec.h"
#include "base/strings.h"
#include "base/suggest.h"
#include "kube/objects/config.h"
#include "kube/selectors.h"
#include "manager/config/slo_config.h"
#include "manager/webhook/configmap/config_error.h"
#include "manager/webhook/configmap/slo_config_check.h"
#include "manager/webhook/configmap/strategy_rules.h"

namespace koord::validation {
namespace {

using kube::ConfigDocument;
using kube::ConfigField;
using kube::Json;
using manager::kAmplificationConfig;
using manager::kColocationConfig;
using manager::kCpuBurstConfig;
using manager::kCpuNormalizationConfig;
using manager::kHostApplicationConfig;
using manager::kResourceQosConfig;
using manager::kSystemConfig;
using manager::kThresholdConfig;
namespace json = kube::json;

constexpr std::string_view kKeys[] = {
    kColocationConfig, kThresholdConfig,       kResourceQosConfig,      kCpuBurstConfig,
    kSystemConfig,     kHostApplicationConfig, kCpuNormalizationConfig, kAmplificationConfig};

template <class S>
S DefaultsOf() {
  return {};
}
template <>
manager::ColocationStrategy DefaultsOf() {
  return manager::DefaultColocationStrategy();
}
template <>
api::ResourceThresholdStrategy DefaultsOf() {
  return manager::DefaultThresholdStrategy();
}
template <>
api::CpuBurstStrategy DefaultsOf() {
  return manager::DefaultCpuBurstStrategy();
}

// Without whom it is for.
Json StrategyIn(const Json* value) {
  Json own = value != nullptr && value->is_object() ? *value : Json(json::object());
  for (const char* member : {"name", "nodeSelector", "nodeConfigs", "nodeStrategies"}) {
    own.get_object().erase(member);
  }
  return own;
}

template <class S, template <class> class Document>
std::vector<Level> ReadLevels(ConfigDocument& document) {
  Document<S> typed;
  kube::DecodeStrict(document.value(), typed, ConfigField(document));
  const bool is_inline = Document<S>::kNodes == "nodeConfigs";
  const S cluster = manager::Merged(DefaultsOf<S>(), typed.cluster);
  std::vector<Level> levels;
  levels.push_back({is_inline ? "" : "clusterStrategy",
                    StrategyIn(is_inline ? &document.value()
                                         : kube::Find(document.value(), {"clusterStrategy"})),
                    kube::Encode(cluster), true, std::nullopt});
  const json::array* entries = kube::FindArray(document.value(), {Document<S>::kNodes});
  for (size_t i = 0; i < typed.nodes.size(); ++i) {
    levels.push_back({fmt::format("{}[{}]", Document<S>::kNodes, i), StrategyIn(&(*entries)[i]),
                      kube::Encode(manager::Merged(cluster, typed.nodes[i].strategy)), false,
                      typed.nodes[i].node_selector});
  }
  return levels;
}

std::vector<Level> ReadLevelsOf(std::string_view key, ConfigDocument& document) {
  using manager::InlineDocument;
  using manager::NestedDocument;
  if (key == kColocationConfig) {
    return ReadLevels<manager::ColocationStrategy, InlineDocument>(document);
  }
  if (key == kThresholdConfig) {
    return ReadLevels<api::ResourceThresholdStrategy, NestedDocument>(document);
  }
  if (key == kResourceQosConfig)
    return ReadLevels<api::ResourceQosStrategy, NestedDocument>(document);
  if (key == kCpuBurstConfig) return ReadLevels<api::CpuBurstStrategy, NestedDocument>(document);
  if (key == kSystemConfig) return ReadLevels<api::SystemStrategy, NestedDocument>(document);
  if (key == kHostApplicationConfig) {
    return ReadLevels<manager::HostApplications, InlineDocument>(document);
  }
  if (key == kCpuNormalizationConfig) {
    return ReadLevels<manager::CpuNormalizationStrategy, InlineDocument>(document);
  }
  return ReadLevels<manager::AmplificationStrategy, InlineDocument>(document);
}

// Members whose text must be one of a few; anything else is quietly taken for the default.
struct Choice {
  std::string_view key;
  std::string_view member;
  std::vector<std::string_view> allowed;
};
const std::vector<Choice>& Choices() {
  static const std::vector<Choice> kChoices{
      {kColocationConfig, "cpuCalculatePolicy", {"usage", "maxUsageRequest"}},
      {kColocationConfig, "memoryCalculatePolicy", {"usage", "request", "maxUsageRequest"}},
      {kColocationConfig,
       "metricMemoryCollectPolicy",
       {"usageWithoutPageCache", "usageWithHotPageCache", "usageWithPageCache"}},
      {kColocationConfig, "midReclaimMode", {"static"}},
      {kThresholdConfig, "cpuSuppressPolicy", {"cpuset", "cfsQuota"}},
      {kThresholdConfig, "cpuEvictPolicy", {"evictByRealLimit", "evictByAllocatable"}},
      {kCpuBurstConfig, "policy", {"none", "cpuBurstOnly", "cfsQuotaBurstOnly", "auto"}},
  };
  return kChoices;
}

using Rules = void (*)(const manager::webhook::StrategyPlace&, manager::webhook::FieldProblems&);
Rules RulesOf(std::string_view key) {
  if (key == kColocationConfig) return &manager::webhook::CheckColocation;
  if (key == kThresholdConfig) return &manager::webhook::CheckThreshold;
  if (key == kResourceQosConfig) return &manager::webhook::CheckResourceQos;
  if (key == kSystemConfig) return &manager::webhook::CheckSystem;
  return key == kCpuBurstConfig ? &manager::webhook::CheckCpuBurst : nullptr;
}

// The webhook speaks of members as its types call them; users wrote JSON. Members of `strategy`
// are found by the names of the types, and names that have no member of their own are groups.
struct Spoken {
  std::string path;
  std::string member;
};
Spoken AsWritten(const Json& strategy, std::string_view type_path) {
  Spoken spoken;
  const Json* at = &strategy;
  for (const std::string_view part : Split(type_path, '.')) {
    if (!at->is_object()) break;
    for (const auto& [name, value] : at->get_object()) {
      if (manager::webhook::TypeFieldName(name) != part) continue;
      spoken.member = name;
      spoken.path = JoinPath(spoken.path, name);
      at = &value;
      break;
    }
  }
  return spoken;
}

// "CPUSuppressThresholdPercent must be ..." with the names that users know.
std::string WithWrittenNames(std::string text, const Json& strategy, const Json* merged) {
  for (const Json* members : {&strategy, merged}) {
    if (members == nullptr || !members->is_object()) continue;
    for (const auto& [name, value] : members->get_object()) {
      const std::string type_name = manager::webhook::TypeFieldName(name);
      for (size_t at = 0; (at = text.find(type_name, at)) != std::string::npos;) {
        text.replace(at, type_name.size(), name);
        at += name.size();
      }
      text = value.is_object() ? WithWrittenNames(std::move(text), value, nullptr) : text;
    }
  }
  return text;
}

// Of two members in the wrong order each has a problem with the other; once is enough.
bool IsSaidByPartner(const std::string& path, const std::string& text,
                     const manager::webhook::FieldProblems& problems) {
  constexpr std::string_view kLess = " must be less than ";
  const size_t at = text.find(kLess);
  if (at == std::string::npos) return false;
  return problems.contains(path.substr(0, path.rfind('.') + 1) + text.substr(at + kLess.size()));
}

std::string Percent(double value) { return fmt::format("{} %", value); }

}  // namespace

std::optional<double> Level::Number(std::string_view member) const {
  const Json* value = kube::Find(merged, {member});
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return value->to_number<double>();
}

bool SloConfig::Is(const Manifest& manifest) {
  if (manifest.kind() != "ConfigMap") return false;
  const std::string_view type =
      kube::FindString(manifest.value(), {"metadata", "labels", "koordinator.sh/configmap-type"});
  return manifest.name() == "slo-controller-config" || type == "slo-controller-config";
}

SloConfig::SloConfig(const Manifest& manifest) : manifest_(manifest) {
  const json::object* data = kube::FindObject(manifest.value(), {"data"});
  if (data == nullptr) return;
  const std::vector<std::string> known(std::begin(kKeys), std::end(kKeys));
  for (const auto& [name, value] : *data) {
    const std::string key(name);
    if (std::ranges::find(known, key) == known.end()) {
      const auto meant = Suggest(key, known);
      const std::string path = "data." + key;
      others_.push_back({meant ? Severity::kError : Severity::kWarning, manifest.file(),
                         manifest.LineOf(path), path,
                         meant ? fmt::format("unknown key (did you mean {}?)", *meant)
                               : fmt::format("unknown key, nobody reads it; known are {}",
                                             koord::Join(known, ", "))});
      continue;
    }
    if (value.is_string()) ReadKey(key, std::string(std::string_view(value.get_string())));
  }
}

void SloConfig::ReadKey(const std::string& key, const std::string& text) {
  const std::string path = "data." + key;
  const auto refuse = [&](std::string_view why) {
    others_.push_back({Severity::kError, manifest_.file(), manifest_.LineOf(path), path,
                       fmt::format("is not JSON: {}; what was in force before stays", why)});
  };
  if (text.empty()) {
    if (key != kColocationConfig) refuse("it is empty");
    return;
  }
  if (const auto parsed = kube::ParseJson(text); !parsed.ok()) {
    return refuse(Message(parsed.status()));
  }
  auto document = ConfigDocument::Parse(text, "");
  if (!document.ok()) return refuse(Message(document.status()));
  ConfigDocument& kept = documents_.emplace(key, *std::move(document)).first->second;
  std::vector<Level> levels = ReadLevelsOf(key, kept);
  if (kept.ok() || !levels.empty()) levels_[key] = std::move(levels);
}

const std::vector<Level>& SloConfig::levels(std::string_view key) const {
  static const std::vector<Level> kNone;
  const auto found = levels_.find(key);
  return found == levels_.end() ? kNone : found->second;
}

void SloConfig::Check() {
  for (const auto& [key, unused] : levels_) {
    CheckEntries(key);
    CheckRules(key);
    CheckByWebhook(key);
  }
  CheckColocation();
  CheckThresholds();
  CheckQos();
}

void SloConfig::Report(Findings& findings) const {
  for (const Finding& each : others_) findings.Add(each, manifest_.order());
  for (const auto& [key, document] : documents_) {
    findings.AddProblems(manifest_, "data." + key, document);
  }
}

void SloConfig::CheckEntries(std::string_view key) {
  ConfigDocument& document = documents_.find(key)->second;
  for (const Level& level : levels(key)) {
    if (level.is_cluster) continue;
    const std::string path = JoinPath(level.path, "nodeSelector");
    if (!level.selector) {
      document.AddError(level.path, "nodeSelector is missing: the entry is for no node");
      continue;
    }
    if (level.selector->match_labels.empty() && level.selector->match_expressions.empty()) {
      document.AddWarning(path, "is empty: the entry is for every node");
    }
    const auto matcher = kube::LabelMatcher::From(*level.selector);
    if (!matcher.ok()) {
      document.AddError(path,
                        fmt::format("{}; the entry is for no node", Message(matcher.status())));
    }
  }
}

void SloConfig::CheckRules(std::string_view key) {
  ConfigDocument& document = documents_.find(key)->second;
  for (const Level& level : levels(key)) {
    for (const Choice& choice : Choices()) {
      const std::string_view text = kube::FindString(level.own, {choice.member});
      if (choice.key != key || text.empty()) continue;
      ConfigField(document, JoinPath(level.path, choice.member)).CheckOneOf(text, choice.allowed);
    }
    const Rules rules = RulesOf(key);
    if (rules == nullptr) continue;
    manager::webhook::FieldProblems problems;
    rules({level.own, &level.merged, ""}, problems);
    for (const auto& [type_path, text] : problems) {
      if (IsSaidByPartner(type_path, text, problems)) continue;
      const Spoken spoken = AsWritten(level.own, std::string_view(type_path).substr(1));
      document.AddError(JoinPath(level.path, spoken.path),
                        WithWrittenNames(text, level.own, &level.merged));
    }
  }
}

// What the webhook looks at besides: entries that are for the same nodes, shares of the network.
void SloConfig::CheckByWebhook(const std::string& key) {
  ConfigDocument& document = documents_.find(key)->second;
  if (!document.ok()) return;
  kube::ConfigMap config;
  for (const std::string_view each : {std::string_view(key), kSystemConfig}) {
    const std::string_view text = kube::FindString(manifest_.value(), {"data", each});
    if (!text.empty()) config.data.emplace(each, text);
  }
  if (key != kResourceQosConfig && key != kSystemConfig)
    config.data.erase(std::string(kSystemConfig));
  const Status status = manager::webhook::CheckSloConfig(config, nullptr, {}, {});
  if (status.ok()) return;
  std::string_view message = Message(status);
  if (message.starts_with("___") && message.ends_with("___")) {
    message = message.substr(3, message.size() - 6);
    const Json told = kube::ParseJson(message).value_or(Json());
    const json::array* names = kube::FindArray(told, {"message", "strategies"});
    if (names != nullptr && kube::FindString(told, {"message", "config"}) == key) {
      std::vector<std::string> entries;
      for (const Json& name : *names) entries.push_back(kube::Serialize(name));
      return document.AddError(
          "", fmt::format("a node may match several entries at once, of which only the first "
                          "counts: {}",
                          koord::Join(entries, ", ")));
    }
    if (const Json* text = kube::Find(told, {"message"}); text != nullptr && text->is_string()) {
      document.AddError("", std::string_view(text->get_string()));
    }
    return;
  }
  document.AddError("", message);
}

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
        {"", json::object(), kube::Encode(manager::DefaultThresholdStrategy()), true, {}});
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
  for (const Level& level : levels(kResourceQosConfig)) {
    ConfigDocument& document = documents_.find(kResourceQosConfig)->second;
    for (const char* klass : {"lsrClass", "lsClass", "beClass", "systemClass"}) {
      const Json* memory = kube::Find(level.own, {klass, "memoryQOS"});
      if (memory == nullptr) continue;
      const int64_t least = kube::FindInt(*memory, {"minLimitPercent"});
      const int64_t low = kube::FindInt(*memory, {"lowLimitPercent"});
      if (low > 0 && least > low) {
        document.AddWarning(
            JoinPath(level.path, fmt::format("{}.memoryQOS.lowLimitPercent", klass)),
            fmt::format("{} is below minLimitPercent ({}), which protects more already", low,
                        least));
      }
    }
  }
  for (const Level& level : levels(kCpuNormalizationConfig)) {
    ConfigDocument& document = documents_.find(kCpuNormalizationConfig)->second;
    const auto check = [&](const std::string& path, const Json& value) {
      const double ratio = value.is_number() ? value.to_number<double>() : 1;
      if (ratio >= 1 && ratio <= 5) return;
      document.AddError(JoinPath(level.path, path),
                        fmt::format("{} is not between 1 and 5; nodes keep the ratio that they "
                                    "have",
                                    ratio));
    };
    if (const Json* ratio = kube::Find(level.own, {"defaultRatio"})) check("defaultRatio", *ratio);
    const json::object* models = kube::FindObject(level.own, {"ratioModel"});
    for (auto it = models != nullptr ? models->begin() : nullptr;
         models != nullptr && it != models->end(); ++it) {
      if (!it->value().is_object()) continue;
      for (const auto& [name, value] : it->value().get_object()) {
        check(fmt::format("ratioModel.{}.{}", std::string_view(it->key()), std::string_view(name)),
              value);
      }
    }
  }
  for (const Level& level : levels(kAmplificationConfig)) {
    ConfigDocument& document = documents_.find(kAmplificationConfig)->second;
    const json::object* ratios = kube::FindObject(level.own, {"resourceAmplificationRatio"});
    for (auto it = ratios != nullptr ? ratios->begin() : nullptr;
         ratios != nullptr && it != ratios->end(); ++it) {
      if (!it->value().is_number() || it->value().to_number<double>() >= 1) continue;
      document.AddError(JoinPath(level.path, fmt::format("resourceAmplificationRatio.{}",
                                                         std::string_view(it->key()))),
                        "must be 1 or more; otherwise nothing at all is amplified");
    }
  }
}

}  // namespace koord::validation
