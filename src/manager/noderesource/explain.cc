#include "manager/noderesource/explain.h"

#include <fmt/format.h>

#include <algorithm>

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
    Setting("resourceDiffThreshold");
    Setting("updateTimeThresholdSeconds");
    return std::move(out_);
  }

 private:
  const Quantity& Pick(const CpuMemory& amounts) const {
    return is_cpu_ ? amounts.cpu : amounts.memory;
  }
  void Term(std::string_view name, const Quantity& value, std::string_view meaning) {
    out_.terms.push_back({std::string(name), value.ToString(), std::string(meaning)});
  }
  void Term(std::string_view name, const CpuMemory& amounts, std::string_view meaning) {
    Term(name, Pick(amounts), meaning);
  }

  // What the strategy says, and who says it; nothing if nobody does.
  void Setting(std::string_view member) {
    const kube::Json* value = kube::Find(settings_, {member});
    if (value == nullptr) return;
    const auto source = sources_.find(member);
    out_.settings.push_back({std::string(member),
                             value->is_string() ? std::string(std::string_view(value->get_string()))
                                                : kube::Serialize(*value),
                             source != sources_.end() ? source->second : "default"});
  }
  void Setting(std::string_view cpu, std::string_view memory) { Setting(is_cpu_ ? cpu : memory); }

  void Capacity(const CpuMemory& capacity) {
    Term("capacity", capacity, "the node's status.capacity");
  }

  void ExplainBatch(const BatchResult& batch) {
    if (batch.degraded) {
      out_.nothing_because = *batch.degraded;
      return;
    }
    Setting("cpuReclaimThresholdPercent", "memoryReclaimThresholdPercent");
    Setting("cpuCalculatePolicy", "memoryCalculatePolicy");
    Setting("batchCPUThresholdPercent", "batchMemoryThresholdPercent");
    const BatchTerms& terms = batch.node;
    const std::string_view policy = is_cpu_ ? terms.cpu_policy : terms.memory_policy;
    const bool by_request = policy == kPolicyRequest;
    Capacity(terms.capacity);
    Term("margin", terms.margin, "what is never lent");
    if (!by_request) {
      Term("systemUsed", terms.system_used, "the system and host applications above batch");
    }
    Term("reserved", terms.reserved,
         "the larger of the kubelet's and the annotation's reservation");
    ExplainPods(terms, policy);
    const auto& cap = is_cpu_ ? terms.cpu_cap : terms.memory_cap;
    if (cap) Term("cap", *cap, "the most that may be lent");
    const std::string sum =
        fmt::format("capacity - margin - {} - {}",
                    by_request ? "reserved" : "max(systemUsed, reserved)", PodsTerm(policy));
    out_.formula =
        fmt::format("{} = {}", ShortName(), cap ? fmt::format("min({}, cap)", sum) : sum);
    Term("lent", terms.result, "what the formula gives, before third parties take theirs");
  }

  void ExplainPods(const BatchTerms& terms, std::string_view policy) {
    if (policy == kPolicyRequest) {
      Term(PodsTerm(policy), terms.hp_request, "what pods above batch have asked for");
    } else if (policy == kPolicyMaxUsageRequest) {
      Term(PodsTerm(policy), terms.hp_max,
           "the larger of usage and request of each pod above batch");
    } else {
      Term(PodsTerm(policy), terms.hp_used, "what pods above batch use");
    }
  }
  static std::string_view PodsTerm(std::string_view policy) {
    if (policy == kPolicyRequest) return "hpRequest";
    return policy == kPolicyMaxUsageRequest ? "hpMax" : "hpUsed";
  }

  void ExplainMid(const MidResult& mid) {
    if (mid.degraded) {
      out_.nothing_because = *mid.degraded;
      return;
    }
    const MidTerms& terms = mid.node;
    Setting("midReclaimMode");
    Setting("midCPUThresholdPercent", "midMemoryThresholdPercent");
    Capacity(terms.capacity);
    if (terms.is_static) {
      Setting("midStaticCPUReservedPercent", "midStaticMemoryReservedPercent");
      Term("static", terms.base, "a fixed share of the capacity");
      out_.formula = fmt::format("{} = min(static, cap)", ShortName());
    } else {
      Setting("midUnallocatedPercent");
      Term("reclaimable", terms.reclaimable,
           "what production will probably not use of its requests");
      Term("unused", terms.unused, "capacity less what the node uses");
      Term("unallocated", terms.unallocated, "capacity less the system and production's requests");
      Term("share", terms.of_unallocated, "of the unallocated");
      out_.formula = fmt::format("{} = min(min(reclaimable, unused) + share, cap)", ShortName());
    }
    Term("cap", terms.cap, "the most that may be lent");
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

std::string FormatExplanation(const ResourceExplanation& explanation) {
  std::string text =
      fmt::format("{} of node {}: {}\n", explanation.resource, explanation.node,
                  explanation.published.empty() ? "nothing is offered" : explanation.published);
  if (!explanation.nothing_because.empty()) {
    text += fmt::format("\nNothing is lent: {}.\n", explanation.nothing_because);
  }
  if (!explanation.formula.empty()) {
    text += fmt::format("\n  {}\n\n", explanation.formula);
    for (const ExplainedTerm& term : explanation.terms) {
      text += fmt::format("  {:<12} {:>16}  {}\n", term.name, term.value, term.meaning);
    }
    text += fmt::format("  {:<12} {:>16}\n", "result", explanation.result);
  }
  text += "\nConfiguration\n";
  for (const ExplainedSetting& setting : explanation.settings) {
    text += fmt::format("  {} = {}  ({})\n", setting.member, setting.value, setting.source);
  }
  return text;
}

}  // namespace koord::manager
