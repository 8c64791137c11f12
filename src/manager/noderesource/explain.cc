#include "manager/noderesource/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "api/annotation_codec.h"
#include "api/extended_resources.h"
#include "api/keys.h"
#include "api/node_annotations.h"
#include "api/priority.h"
#include "base/strings.h"

namespace koord::manager {
namespace {

using kube::Quantity;

// What was said of amounts in the unit that people think in: cores and GiB.
std::string InUnit(const Quantity& amount, bool is_cpu) {
  constexpr double kGiB = 1024.0 * 1024 * 1024;
  const double value = is_cpu ? amount.ToDouble() : amount.ToDouble() / kGiB;
  std::string text = fmt::format("{:.{}f}", value, is_cpu ? 3 : 2);
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  const bool is_lost = (text == "0" || text == "-0") && !amount.IsZero();
  return is_lost ? fmt::format("{:.2g}", value) : text;
}

// batch-cpu and mid-cpu count thousandths of a core.
Quantity InCores(const Quantity& milli) { return Quantity::FromMilli(milli.Value()); }

class Explainer {
 public:
  Explainer(const NodeFacts& facts, const SloConfig& config, std::string_view resource)
      : facts_(facts),
        config_(config),
        resource_(resource),
        is_cpu_(resource == api::kBatchCpu || resource == api::kMidCpu),
        sources_(ColocationSourcesOf(*config.colocation, facts.node)) {
    out_.node = facts.node.metadata.name;
    out_.resource = resource;
    out_.unit = is_cpu_ ? "cores" : "GiB";
    const auto published = facts.node.status.allocatable.find(resource);
    if (published != facts.node.status.allocatable.end()) {
      out_.published = published->second.ToString();
      out_.published_in_unit = OfferInUnit(published->second);
    }
    const auto own = api::ReadNonEmptyAnnotation<ColocationStrategy>(
        facts.node.metadata.annotations, api::kAnnotationColocationStrategy);
    if (!own.ok()) out_.remarks.push_back(fmt::format("ignored: {}", Message(own.status())));
  }

  ResourceExplanation Explain(const NodeDecision& decision) && {
    settings_ = kube::Encode(decision.colocation.strategy);
    Setting("enable");
    if (!decision.colocation.enabled) {
      out_.nothing_because = "co-location is off for this node";
      out_.next_step =
          "set \"enable\": true in colocation-config of the ConfigMap slo-controller-config; the "
          "cluster and, where one is for it, the node's entry must both say so";
      return std::move(out_);
    }
    Setting("degradeTimeMinutes");
    const bool is_mid = resource_ == api::kMidCpu || resource_ == api::kMidMemory;
    if (is_mid && decision.mid) ExplainMid(*decision.mid);
    if (!is_mid && decision.batch) ExplainBatch(*decision.batch, decision);
    if (const auto planned = decision.plan.resources.find(resource_);
        planned != decision.plan.resources.end() && planned->second) {
      out_.result = planned->second->ToString();
      out_.result_in_unit = OfferInUnit(*planned->second);
    }
    out_.calculation = WithNumbers(out_.formula);
    Setting("resourceDiffThreshold");
    Setting("updateTimeThresholdSeconds");
    RemarkOfDifference(decision.colocation.strategy);
    return std::move(out_);
  }

 private:
  const Quantity& Pick(const CpuMemory& amounts) const {
    return is_cpu_ ? amounts.cpu : amounts.memory;
  }
  std::string OfferInUnit(const Quantity& amount) const {
    return InUnit(is_cpu_ ? InCores(amount) : amount, is_cpu_);
  }
  void Term(std::string_view name, const Quantity& amount, std::string_view meaning,
            std::string_view setting = "") {
    out_.terms.push_back({std::string(name), InUnit(amount, is_cpu_), amount.ToString(),
                          std::string(meaning), std::string(setting)});
  }
  void Term(std::string_view name, const CpuMemory& amounts, std::string_view meaning,
            std::string_view setting = "") {
    Term(name, Pick(amounts), meaning, setting);
  }

  static std::string TextOf(const kube::Json& value) {
    if (value.is_string()) return std::string(std::string_view(value.get_string()));
    if (value.is_double()) return fmt::format("{}", value.get_double());  // 0.1, not 1E-1
    return kube::Serialize(value);
  }

  // What the strategy says, and who says it; nothing if nobody does.
  void Setting(std::string_view member) {
    const kube::Json* value = kube::Find(settings_, {member});
    if (value == nullptr) return;
    const auto source = sources_.find(member);
    out_.settings.push_back({std::string(member), TextOf(*value),
                             source != sources_.end() ? source->second : "default"});
  }
  // That of the two which is about the resource.
  std::string_view Setting(std::string_view cpu, std::string_view memory) {
    const std::string_view member = is_cpu_ ? cpu : memory;
    Setting(member);
    return member;
  }

  void Degraded(const std::string& why) {
    out_.nothing_because = why;
    out_.next_step = fmt::format(
        "koordlet on the node writes the NodeMetric; see that it runs there ('kubectl get pods -A "
        "-o wide --field-selector spec.nodeName={}') and what it last said ('kubectl get "
        "nodemetric {} -o yaml')",
        out_.node, out_.node);
  }

  // Why the node does not offer just now what the formula gives.
  void RemarkOfDifference(const ColocationStrategy& strategy) {
    if (out_.result.empty() || out_.published == out_.result) return;
    out_.remarks.push_back(fmt::format(
        "the node offers {} so far: a difference of up to {} % is written after at most {} s",
        out_.published.empty() ? "nothing" : out_.published_in_unit + " " + out_.unit,
        100 * DiffThreshold(strategy),
        ValueOrDefault(strategy, &ColocationStrategy::update_time_threshold_seconds)));
  }

  // What is right of the formula's first equals sign, each name in it replaced by its value.
  std::string WithNumbers(std::string_view formula) const {
    const size_t equals = formula.find("= ");
    if (equals == std::string_view::npos) return {};
    std::string text;
    for (size_t at = equals + 2; at < formula.size();) {
      size_t end = at;
      while (end < formula.size() && std::isalpha(static_cast<unsigned char>(formula[end])) != 0) {
        ++end;
      }
      if (end == at) {
        text += formula[at++];
        continue;
      }
      text += ValueOf(formula.substr(at, end - at));
      at = end;
    }
    return text;
  }
  std::string ValueOf(std::string_view name) const {
    for (const ExplainedTerm& term : out_.terms) {
      if (term.name != name) continue;
      return term.value.starts_with('-') ? fmt::format("({})", term.value) : term.value;
    }
    return std::string(name);
  }

  void Capacity(const CpuMemory& capacity) {
    Term("capacity", capacity, "the node's status.capacity");
  }

  void ExplainBatch(const BatchResult& batch, const NodeDecision& decision) {
    if (batch.degraded) return Degraded(*batch.degraded);
    const auto reclaim = Setting("cpuReclaimThresholdPercent", "memoryReclaimThresholdPercent");
    const auto calculate = Setting("cpuCalculatePolicy", "memoryCalculatePolicy");
    const auto threshold = Setting("batchCPUThresholdPercent", "batchMemoryThresholdPercent");
    const BatchTerms& terms = batch.node;
    const std::string_view policy = is_cpu_ ? terms.cpu_policy : terms.memory_policy;
    const bool by_request = policy == kPolicyRequest;
    Capacity(terms.capacity);
    Term("margin", terms.margin, "what is never lent", reclaim);
    if (!by_request) {
      Term("systemUsed", terms.system_used, "the system and host applications above batch");
    }
    Term("reserved", terms.reserved,
         fmt::format("the larger of what the kubelet ({}) and the annotation ({}) reserve",
                     InUnit(Pick(batch.reserved.kubelet), is_cpu_),
                     InUnit(Pick(batch.reserved.annotation), is_cpu_)));
    ExplainPods(terms, policy, calculate);
    const auto& cap = is_cpu_ ? terms.cpu_cap : terms.memory_cap;
    if (cap) Term("cap", *cap, "the most that may be lent", threshold);
    std::string sum =
        fmt::format("capacity - margin - {} - {}",
                    by_request ? "reserved" : "max(systemUsed, reserved)", PodsTerm(policy));
    const CpuMemory& raw = by_request
                               ? terms.by_request
                               : (policy == kPolicyMaxUsageRequest ? terms.by_max : terms.by_usage);
    const bool is_short = Pick(raw).Sign() <= 0;  // less than nothing is nothing
    if (is_short) sum = fmt::format("max({}, 0)", sum);
    if (cap) sum = fmt::format("min({}, cap)", sum);
    if (is_cpu_) ExplainRatio(decision);
    ExplainThirdParties(decision);
    const bool is_bare = !cap && !is_short;
    if (is_cpu_) sum = fmt::format("{} * ratio", is_bare ? fmt::format("({})", sum) : sum);
    out_.formula = fmt::format("{} = {} - thirdParties", ShortName(), sum);
  }

  // What a core of this model is worth. Only a ratio above 1 counts.
  void ExplainRatio(const NodeDecision& decision) {
    const auto planned = decision.plan.annotations.find(api::kAnnotationCpuNormalizationRatio);
    const std::string ratio = planned != decision.plan.annotations.end() && planned->second
                                  ? *planned->second
                                  : api::FormatRatio(1);
    constexpr std::string_view kSetting = "cpu-normalization-ratio";
    out_.terms.push_back({"ratio", ratio, "",
                          "what one of its cores is worth, by CPU normalization",
                          std::string(kSetting)});
    out_.settings.push_back({std::string(kSetting), ratio, RatioSource()});
    RemarkOfFailure(decision, kCpuNormalization,
                    "CPU normalization does not work, cores count as "
                    "they are");
  }
  std::string RatioSource() const {
    const kube::Labels& labels = facts_.node.metadata.labels;
    if (labels.contains(api::kLabelCpuNormalizationEnabled)) {
      return fmt::format("label {}", api::kLabelCpuNormalizationEnabled);
    }
    if (!config_.cpu_normalization || !config_.cpu_normalization->For(labels).enable) {
      return "default";
    }
    const auto* entry = config_.cpu_normalization->Match(labels);
    if (entry != nullptr) return fmt::format("{}, {}", kCpuNormalizationConfig, entry->path);
    return config_.cpu_normalization->given.enable ? std::string(kCpuNormalizationConfig)
                                                   : "default";
  }

  void ExplainThirdParties(const NodeDecision& decision) {
    const auto others = api::ThirdPartyAllocationsOf(facts_.node.metadata.annotations);
    Quantity taken;
    std::vector<std::string> names;
    if (others.ok()) {
      const auto sum = api::SumOf(*others, api::ToString(api::PriorityBand::kBatch));
      taken = kube::AmountOf(sum, resource_);
      for (const auto& each : *others) names.push_back(each.name);
    }
    Term("thirdParties", is_cpu_ ? InCores(taken) : taken,
         names.empty() ? "what other schedulers hold of it: none is named on the node"
                       : fmt::format("what other schedulers hold of it: {}", Join(names, ", ")));
    RemarkOfFailure(decision, kBatchResource, "batch resources stay as they are");
  }

  void RemarkOfFailure(const NodeDecision& decision, std::string_view plugin,
                       std::string_view consequence) {
    for (const NodeDecision::Failure& failure : decision.failures) {
      if (failure.plugin != plugin) continue;
      out_.remarks.push_back(fmt::format("{}: {}", consequence, Message(failure.why)));
    }
  }

  void ExplainPods(const BatchTerms& terms, std::string_view policy, std::string_view setting) {
    if (policy == kPolicyRequest) {
      Term(PodsTerm(policy), terms.hp_request, "what pods above batch have asked for", setting);
    } else if (policy == kPolicyMaxUsageRequest) {
      Term(PodsTerm(policy), terms.hp_max,
           "the larger of usage and request of each pod above batch", setting);
    } else {
      Term(PodsTerm(policy), terms.hp_used, "what pods above batch use", setting);
    }
  }
  static std::string_view PodsTerm(std::string_view policy) {
    if (policy == kPolicyRequest) return "hpRequest";
    return policy == kPolicyMaxUsageRequest ? "hpMax" : "hpUsed";
  }

  void ExplainMid(const MidResult& mid) {
    if (mid.degraded) return Degraded(*mid.degraded);
    const MidTerms& terms = mid.node;
    Setting("midReclaimMode");
    const auto threshold = Setting("midCPUThresholdPercent", "midMemoryThresholdPercent");
    Capacity(terms.capacity);
    if (terms.is_static) {
      Term("static", terms.base, "a fixed share of the capacity",
           Setting("midStaticCPUReservedPercent", "midStaticMemoryReservedPercent"));
      out_.formula = fmt::format("{} = min(static, cap)", ShortName());
    } else {
      Setting("midUnallocatedPercent");
      Term("reclaimable", terms.reclaimable,
           "what production will probably not use of its requests, as koordlet predicts");
      Term("unused", terms.unused, "capacity less what the node uses");
      Term("system", terms.system, "what the system uses, or is reserved for it if that is more");
      Term("allocated", terms.allocated, "what production has asked for");
      Term("unallocated", terms.unallocated, "capacity - system - allocated");
      Term("share", terms.of_unallocated, "the part of unallocated that is lent",
           "midUnallocatedPercent");
      const bool is_short = Pick(terms.unused).Sign() < 0 || Pick(terms.reclaimable).Sign() < 0;
      out_.formula =
          fmt::format("{} = min({} + share, cap)", ShortName(),
                      is_short ? "max(min(reclaimable, unused), 0)" : "min(reclaimable, unused)");
    }
    Term("cap", terms.cap, "the most that may be lent", threshold);
  }

  std::string_view ShortName() const { return resource_.substr(resource_.find('/') + 1); }

  const NodeFacts& facts_;
  const SloConfig& config_;
  const std::string_view resource_;
  const bool is_cpu_;
  const StrategySources sources_;
  kube::Json settings_;
  ResourceExplanation out_;
};

}  // namespace

const std::vector<std::string>& ExplainableResources() {
  static const std::vector<std::string> kResources{
      std::string(api::kBatchCpu), std::string(api::kBatchMemory), std::string(api::kMidCpu),
      std::string(api::kMidMemory)};
  return kResources;
}

StatusOr<ResourceExplanation> ExplainResource(const NodeFacts& facts, const SloConfig& config,
                                              const NodeResourceOptions& options,
                                              std::string_view resource) {
  const auto& known = ExplainableResources();
  if (std::find(known.begin(), known.end(), resource) == known.end()) {
    return InvalidArgument("resource {}: must be one of {}", Quote(resource), Join(known, ", "));
  }
  return Explainer(facts, config, resource).Explain(DecideNode(facts, config, options));
}

namespace {

std::string FormatFormula(const ResourceExplanation& explanation) {
  const std::string& formula = explanation.formula;
  const std::string indent(formula.find("= "), ' ');
  std::string text = fmt::format("\n  {}\n  {}= {}\n", formula, indent, explanation.calculation);
  if (!explanation.result.empty()) {
    text += fmt::format("  {}= {} {}\n", indent, explanation.result_in_unit, explanation.unit);
  }
  text += "\n";
  size_t names = 0, values = 0;
  for (const ExplainedTerm& term : explanation.terms) {
    names = std::max(names, term.name.size());
    values = std::max(values, term.value.size());
  }
  for (const ExplainedTerm& term : explanation.terms) {
    text +=
        fmt::format("  {:<{}}  {:>{}}  {}{}\n", term.name, names, term.value, values, term.meaning,
                    term.setting.empty() ? "" : fmt::format(" ({})", term.setting));
  }
  return text;
}

std::string FormatSettings(const std::vector<ExplainedSetting>& settings) {
  size_t members = 0, values = 0;
  for (const ExplainedSetting& setting : settings) {
    members = std::max(members, setting.member.size());
    values = std::max(values, setting.value.size());
  }
  std::string text = "\nConfiguration in force, and who says so\n";
  for (const ExplainedSetting& setting : settings) {
    text += fmt::format("  {:<{}}  {:<{}}  {}\n", setting.member, members, setting.value, values,
                        setting.source);
  }
  return text;
}

// "48 cores (48k)": as people count, and as the resource does.
std::string Offered(const ResourceExplanation& explanation) {
  if (explanation.published.empty()) return "nothing is offered";
  return fmt::format("{} {} ({})", explanation.published_in_unit, explanation.unit,
                     explanation.published);
}

}  // namespace

std::string FormatExplanation(const ResourceExplanation& explanation) {
  std::string text = fmt::format("{} of node {}: {}\n", explanation.resource, explanation.node,
                                 Offered(explanation));
  if (!explanation.nothing_because.empty()) {
    text += fmt::format("\nNothing is lent: {}.\nNext: {}.\n", explanation.nothing_because,
                        explanation.next_step);
  }
  if (!explanation.formula.empty()) text += FormatFormula(explanation);
  for (const std::string& remark : explanation.remarks)
    text += fmt::format("\nNote: {}.\n", remark);
  return text + FormatSettings(explanation.settings);
}

}  // namespace koord::manager
