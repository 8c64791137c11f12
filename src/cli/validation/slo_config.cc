#include "cli/validation/slo_config.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"
#include "base/suggest.h"
#include "kube/objects/config.h"
#include "kube/selectors.h"
#include "manager/webhook/configmap/slo_config_check.h"

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
using manager::WrittenStrategies;
namespace json = kube::json;

constexpr std::string_view kKeys[] = {
    kColocationConfig, kThresholdConfig,       kResourceQosConfig,      kCpuBurstConfig,
    kSystemConfig,     kHostApplicationConfig, kCpuNormalizationConfig, kAmplificationConfig};

template <class Document>
void ReadAs(ConfigDocument& document) {
  Document typed;
  kube::DecodeStrict(document.value(), typed, ConfigField(document));
}

// Unknown members and wrong types, each with its place.
void CheckTypes(std::string_view key, ConfigDocument& document) {
  using manager::InlineDocument;
  using manager::NestedDocument;
  if (key == kColocationConfig) ReadAs<InlineDocument<manager::ColocationStrategy>>(document);
  if (key == kThresholdConfig) ReadAs<NestedDocument<api::ResourceThresholdStrategy>>(document);
  if (key == kResourceQosConfig) ReadAs<NestedDocument<api::ResourceQosStrategy>>(document);
  if (key == kCpuBurstConfig) ReadAs<NestedDocument<api::CpuBurstStrategy>>(document);
  if (key == kSystemConfig) ReadAs<NestedDocument<api::SystemStrategy>>(document);
  if (key == kHostApplicationConfig) ReadAs<InlineDocument<manager::HostApplications>>(document);
  if (key == kCpuNormalizationConfig) {
    ReadAs<InlineDocument<manager::CpuNormalizationStrategy>>(document);
  }
  if (key == kAmplificationConfig) ReadAs<InlineDocument<manager::AmplificationStrategy>>(document);
}

std::optional<kube::LabelSelector> SelectorAt(const WrittenStrategies& written,
                                              std::string_view path) {
  for (const WrittenStrategies::Entry& entry : written.entries) {
    if (entry.path == path) return entry.selector;
  }
  return std::nullopt;
}

// "nodeConfigs[0].nodeSelector: ..." as path and message.
std::pair<std::string_view, std::string_view> SplitPath(std::string_view text) {
  const size_t colon = text.find(": ");
  if (colon == std::string_view::npos || text.substr(0, colon).find(' ') != text.npos) {
    return {"", text};
  }
  return {text.substr(0, colon), text.substr(colon + 2)};
}

// The webhook's ___{"reason":..,"message":..}___ in plain words.
std::string PlainRefusal(std::string_view text) {
  if (!text.starts_with("___") || !text.ends_with("___")) return std::string(text);
  const Json told = kube::ParseJson(text.substr(3, text.size() - 6)).value_or(Json());
  if (const json::array* names = kube::FindArray(told, {"message", "strategies"})) {
    std::vector<std::string> entries;
    for (const Json& name : *names) entries.push_back(kube::Serialize(name));
    return fmt::format(
        "a node may match several entries at once, of which only the first counts: {}",
        koord::Join(entries, ", "));
  }
  const Json* message = kube::Find(told, {"message"});
  if (message == nullptr) return std::string(text);
  return message->is_string() ? std::string(std::string_view(message->get_string()))
                              : kube::Serialize(*message);
}

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
  parsed_ = manager::ParseConfig(data_, {});
  const manager::SloConfig& config = parsed_.config;
  if (config.colocation) AddLevels(kColocationConfig, *config.colocation);
  AddLevels(kThresholdConfig, config.threshold);
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
  document->IgnoreCase();
  CheckTypes(key, *document);
  documents_.emplace(key, *std::move(document));
  data_.emplace(key, text);
  if (auto written = manager::ReadStrategies(key, text); written.ok()) {
    written_.emplace(key, *std::move(written));
  }
}

template <class S>
void SloConfig::AddLevels(std::string_view key, const manager::StrategyTable<S>& table) {
  const auto written = written_.find(key);
  if (written == written_.end()) return;
  std::vector<Level>& levels = levels_[std::string(key)];
  levels.push_back({std::string(written->second.cluster_path), kube::Encode(table.given),
                    kube::Encode(table.cluster), true, std::nullopt});
  for (const auto& entry : table.entries) {
    levels.push_back({entry.path, kube::Encode(entry.given), kube::Encode(entry.strategy), false,
                      SelectorAt(written->second, entry.path)});
  }
}

const std::vector<Level>& SloConfig::levels(std::string_view key) const {
  static const std::vector<Level> kNone;
  const auto found = levels_.find(key);
  return found == levels_.end() ? kNone : found->second;
}

void SloConfig::Check() {
  for (const auto& [key, written] : written_) {
    CheckEntries(key, written);
    CheckRules(key, written);
  }
  CheckByManager();
  for (const auto& [key, unused] : documents_) CheckByWebhook(key);
  CheckColocation();
  CheckThresholds();
  CheckQos();
  CheckRatios();
}

void SloConfig::Report(Findings& findings) const {
  for (const Finding& each : others_) findings.Add(each, manifest_.order());
  for (const auto& [key, document] : documents_) {
    findings.AddProblems(manifest_, "data." + key, document);
  }
}

void SloConfig::CheckEntries(std::string_view key, const WrittenStrategies& written) {
  ConfigDocument& document = documents_.find(key)->second;
  // Whom the webhook looks at.
  const bool is_judged = manager::StrategyKindOf(key).has_value();
  for (const WrittenStrategies::Entry& entry : written.entries) {
    const std::string path = JoinPath(entry.path, "nodeSelector");
    if (!entry.selector) {
      document.AddError(entry.path, "nodeSelector is missing: the entry is for no node");
      continue;
    }
    if (entry.selector->match_labels.empty() && entry.selector->match_expressions.empty()) {
      if (is_judged) {
        document.AddError(path, "is empty: an entry must say which nodes it is for");
      } else {
        document.AddWarning(path, "is empty: the entry is for every node");
      }
    }
    const auto matcher = kube::LabelMatcher::From(*entry.selector);
    if (!matcher.ok()) {
      document.AddError(path,
                        fmt::format("{}; the entry is for no node", Message(matcher.status())));
    }
  }
}

void SloConfig::CheckRules(std::string_view key, const WrittenStrategies& written) {
  const auto kind = manager::StrategyKindOf(key);
  if (!kind) return;
  ConfigDocument& document = documents_.find(key)->second;
  const auto check = [&](std::string_view path, const Json& strategy) {
    for (const api::BrokenRule& broken :
         api::BrokenRulesOf(*kind, strategy, api::StrategyState::kWritten)) {
      // Of two members in the wrong order the upper one has said it.
      if (broken.breach == api::BrokenRule::Breach::kNotBelow) continue;
      document.AddError(JoinPath(path, broken.Path()), broken.Description());
    }
  };
  check(written.cluster_path, written.cluster);
  for (const WrittenStrategies::Entry& entry : written.entries) check(entry.path, entry.strategy);
}

// What koord-manager does not put in force, should nothing have been said of it so far.
void SloConfig::CheckByManager() {
  for (const manager::ConfigProblem& problem : parsed_.problems) {
    constexpr std::string_view kBecause = ", err: ";
    std::string_view text = problem.message;
    if (const size_t at = text.find(kBecause); at != text.npos) {
      text.remove_prefix(at + kBecause.size());
    }
    const auto [key, rest] = SplitPath(text);
    const auto document = documents_.find(key);
    if (document == documents_.end() || !document->second.ok()) continue;
    const auto [path, what] = SplitPath(rest);
    document->second.AddError(path, what);
  }
}

// What the webhook refuses besides: entries that are for the same nodes, shares of the network.
void SloConfig::CheckByWebhook(const std::string& key) {
  ConfigDocument& document = documents_.find(key)->second;
  if (!document.ok()) return;
  kube::ConfigMap config;
  config.data[key] = data_[key];
  // Shares of the network are measured against what that says of it.
  const auto system = documents_.find(kSystemConfig);
  if (key == kResourceQosConfig && system != documents_.end() && system->second.ok()) {
    config.data[system->first] = data_[system->first];
  }
  const Status status = manager::webhook::CheckSloConfig(config, nullptr, {}, {});
  if (!status.ok()) document.AddError("", PlainRefusal(Message(status)));
}

}  // namespace koord::validation
