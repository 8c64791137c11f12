#include "manager/noderesource/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "api/extended_resources.h"
#include "base/strings.h"

namespace koord::manager {
namespace {

using kube::Quantity;

class Explainer {
 public:
  Explainer(const NodeFacts& facts, const SloConfig& config, std::string_view resource)
      : resource_(resource),
        is_cpu_(resource == api::kBatchCpu || resource == api::kMidCpu),
        sources_(ColocationSourcesOf(*config.colocation, facts.node)) {
    out_.node = facts.node.metadata.name;
    out_.resource = resource;
    const auto published = facts.node.status.allocatable.find(resource);
    if (published != facts.node.status.allocatable.end()) {
      out_.published = published->second.ToString();
    }
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
    if (!is_mid && decision.batch) ExplainBatch(*decision.batch);
    if (const auto planned = decision.plan.resources.find(resource_);
        planned != decision.plan.resources.end() && planned->second) {
      out_.result = planned->second->ToString();
    }
    out_.calculation = WithNumbers(out_.formula);
    Setting("resourceDiffThreshold");
    Setting("updateTimeThresholdSeconds");
    return std::move(out_);
  }

 private:
  const Quantity& Pick(const CpuMemory& amounts) const {
    return is_cpu_ ? amounts.cpu : amounts.memory;
  }
  void Term(std::string_view name, const Quantity& value, std::string_view meaning,
            std::string_view setting = "") {
    out_.terms.push_back(
        {std::string(name), value.ToString(), std::string(meaning), std::string(setting)});
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

  void ExplainBatch(const BatchResult& batch) {
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
         "the larger of the kubelet's and the annotation's reservation");
    ExplainPods(terms, policy, calculate);
    const auto& cap = is_cpu_ ? terms.cpu_cap : terms.memory_cap;
    if (cap) Term("cap", *cap, "the most that may be lent", threshold);
    const std::string sum =
        fmt::format("capacity - margin - {} - {}",
                    by_request ? "reserved" : "max(systemUsed, reserved)", PodsTerm(policy));
    out_.formula =
        fmt::format("{} = {}", ShortName(), cap ? fmt::format("min({}, cap)", sum) : sum);
    Term("lent", terms.result, "what the formula gives, before third parties take theirs");
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
           "what production will probably not use of its requests");
      Term("unused", terms.unused, "capacity less what the node uses");
      Term("unallocated", terms.unallocated, "capacity less the system and production's requests");
      Term("share", terms.of_unallocated, "of the unallocated", "midUnallocatedPercent");
      out_.formula = fmt::format("{} = min(min(reclaimable, unused) + share, cap)", ShortName());
    }
    Term("cap", terms.cap, "the most that may be lent", threshold);
  }

  std::string_view ShortName() const { return resource_.substr(resource_.find('/') + 1); }

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

// "  <- cpuReclaimThresholdPercent = 65 (default)", or nothing.
std::string BehindTerm(const ResourceExplanation& explanation, const ExplainedTerm& term) {
  for (const ExplainedSetting& setting : explanation.settings) {
    if (term.setting.empty() || setting.member != term.setting) continue;
    return fmt::format("  <- {} = {} ({})", setting.member, setting.value, setting.source);
  }
  return {};
}

std::string FormatFormula(const ResourceExplanation& explanation) {
  const std::string& formula = explanation.formula;
  const std::string indent(formula.find("= "), ' ');
  std::string text = fmt::format("\n  {}\n  {}= {}\n\n", formula, indent, explanation.calculation);
  size_t names = std::string_view("result").size(), values = explanation.result.size();
  for (const ExplainedTerm& term : explanation.terms) {
    names = std::max(names, term.name.size());
    values = std::max(values, term.value.size());
  }
  for (const ExplainedTerm& term : explanation.terms) {
    text += fmt::format("  {:<{}}  {:>{}}  {}{}\n", term.name, names, term.value, values,
                        term.meaning, BehindTerm(explanation, term));
  }
  text += fmt::format("  {:<{}}  {:>{}}  in the units of {}\n", "result", names, explanation.result,
                      values, explanation.resource);
  return text;
}

}  // namespace

std::string FormatExplanation(const ResourceExplanation& explanation) {
  std::string text =
      fmt::format("{} of node {}: {}\n", explanation.resource, explanation.node,
                  explanation.published.empty() ? "nothing is offered" : explanation.published);
  if (!explanation.nothing_because.empty()) {
    text += fmt::format("\nNothing is lent: {}.\nNext: {}.\n", explanation.nothing_because,
                        explanation.next_step);
  }
  if (!explanation.formula.empty()) text += FormatFormula(explanation);
  text += "\nConfiguration\n";
  for (const ExplainedSetting& setting : explanation.settings) {
    text += fmt::format("  {} = {}  ({})\n", setting.member, setting.value, setting.source);
  }
  return text;
}

}  // namespace koord::manager
