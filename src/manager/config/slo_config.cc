#include "manager/config/slo_config.h"

#include <fmt/format.h>

#include "api/annotation_codec.h"

namespace koord::manager {
namespace {

// How problems with one key are told.
struct KeyInfo {
  std::string_view key;
  std::string_view component;
  std::string_view unreadable;  // the event's reason
  std::string_view name;        // in the event's message
};

constexpr KeyInfo kColocation{kColocationConfig, "noderesource-controller",
                              "ColocationCfgUnmarshalFailed", "colocation config"};
constexpr KeyInfo kThreshold{kThresholdConfig, "nodeslo-controller", "SLOCfgUnmarshalFailed",
                             "ThresholdCfg"};
constexpr KeyInfo kResourceQos{kResourceQosConfig, "nodeslo-controller", "SLOCfgUnmarshalFailed",
                               "ResourceQOSCfg"};
constexpr KeyInfo kCpuBurst{kCpuBurstConfig, "nodeslo-controller", "SLOCfgUnmarshalFailed",
                            "CPUBurstCfg"};
constexpr KeyInfo kSystem{kSystemConfig, "nodeslo-controller", "SLOCfgUnmarshalFailed",
                          "SystemCfg"};
constexpr KeyInfo kHostApplication{kHostApplicationConfig, "nodeslo-controller",
                                   "SLOCfgUnmarshalFailed", "HostApplicationCfg"};
constexpr KeyInfo kCpuNormalization{kCpuNormalizationConfig, "noderesource",
                                    "CPUNormalizationCfgUnmarshalFailed", "CPUNormalizationCfg"};
constexpr KeyInfo kAmplification{kAmplificationConfig, "noderesource",
                                 "ResourceAmplificationCfgUnmarshalFailed", "amplificationCfg"};

class Parser {
 public:
  Parser(const ConfigData& data, const SloConfig& old) : data_(data), old_(old) {}

  ParsedConfig Parse() && {
    parsed_.config = old_;
    SloConfig& config = parsed_.config;
    ParseColocation(config);
    Nested(kThreshold, api::DefaultThresholdStrategy(), config.threshold);
    Nested(kResourceQos, api::ResourceQosStrategy(), config.resource_qos);
    Nested(kCpuBurst, api::DefaultCpuBurstStrategy(), config.cpu_burst);
    Nested(kSystem, api::SystemStrategy(), config.system);
    ParseHostApplications(config.host_applications);
    Inline(kCpuNormalization, CpuNormalizationStrategy{.enable = false}, config.cpu_normalization);
    Inline(kAmplification, AmplificationStrategy{.enable = false}, config.amplification);
    return std::move(parsed_);
  }

 private:
  // Nothing if the document cannot be read; that is said. An absent key is an empty document.
  template <class Document>
  std::optional<Document> Read(const KeyInfo& info) {
    const auto it = data_.find(info.key);
    if (it == data_.end()) return Document{};
    StatusOr<Document> document = api::DecodeLoose<Document>(it->second);
    if (document.ok()) return *std::move(document);
    Tell(info, info.unreadable,
         fmt::format("failed to unmarshal {}, err: {}: {}", info.name, info.key,
                     Message(document.status())));
    return std::nullopt;
  }

  void Tell(const KeyInfo& info, std::string_view reason, std::string message) {
    parsed_.problems.push_back({info.component, reason, std::move(message)});
  }

  // About what is readable and still cannot be used.
  void TellInvalid(const KeyInfo& info, std::string_view what) {
    const std::string_view reason =
        info.key == kColocationConfig ? "ColocationCfgInvalid" : "SLOCfgInvalid";
    Tell(info, reason, fmt::format("invalid {}, err: {}: {}", info.name, info.key, what));
  }

  template <class S, class Document>
  StrategyTable<S> Table(const KeyInfo& info, const S& defaults, Document document) {
    std::vector<std::string> problems;
    StrategyTable<S> table = MakeTable(defaults, std::move(document), problems);
    for (const std::string& problem : problems) TellInvalid(info, problem);
    return table;
  }

  template <class S>
  void Nested(const KeyInfo& info, const S& defaults, StrategyTable<S>& out) {
    if (auto document = Read<NestedDocument<S>>(info)) {
      out = Table(info, defaults, *std::move(document));
    }
  }

  template <class S>
  void Inline(const KeyInfo& info, const S& defaults, std::optional<StrategyTable<S>>& out) {
    if (auto document = Read<InlineDocument<S>>(info)) {
      out = Table(info, defaults, *std::move(document));
    }
  }

  // A node's list replaces the cluster's, also with an empty one.
  void ParseHostApplications(StrategyTable<HostApplications>& out) {
    auto document = Read<InlineDocument<HostApplications>>(kHostApplication);
    if (!document) return;
    out = Table(kHostApplication, HostApplications(), *std::move(document));
    for (auto& entry : out.entries) entry.strategy = entry.given;
  }

  void ParseColocation(SloConfig& config) {
    config.colocation_in_doubt = true;
    const auto it = data_.find(kColocationConfig);
    const bool empty = it != data_.end() && it->second.empty();
    using Document = InlineDocument<ColocationStrategy>;
    auto document = empty ? Document{} : Read<Document>(kColocation);
    if (!document) return;
    ColocationConfig table = Table(kColocation, DefaultColocationStrategy(), *std::move(document));
    if (const Status valid = Validate(table.cluster); !valid.ok()) {
      return TellInvalid(kColocation, Message(valid));
    }
    for (ColocationConfig::Entry& entry : table.entries) {
      const Status valid = Validate(entry.strategy);
      if (valid.ok()) continue;
      TellInvalid(kColocation, fmt::format("{}.{}", entry.path, Message(valid)));
      entry.given = {};
      entry.strategy = table.cluster;
    }
    config.colocation = std::move(table);
    config.colocation_in_doubt = false;
  }

  const ConfigData& data_;
  const SloConfig& old_;
  ParsedConfig parsed_;
};

}  // namespace

SloConfig DefaultConfig() {
  SloConfig config = ParseConfig({}, {}).config;
  config.colocation_in_doubt = true;
  return config;
}

ParsedConfig ParseConfig(const ConfigData& data, const SloConfig& old) {
  return Parser(data, old).Parse();
}

}  // namespace koord::manager
