#include "scheduler/plugins/node_numa_resource/numa_trial.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "model/numa/numa_shares.h"

namespace koord::scheduler {
namespace {

constexpr std::string_view kNotEnoughCpus = "not enough cpus available to satisfy request";

const ResourceAmount* FindAmount(const ResourceAmounts& amounts, ResourceId id) {
  const auto found = std::ranges::find(amounts, id, &ResourceAmount::id);
  return found == amounts.end() ? nullptr : &*found;
}

// What is in `total` less what is used, not below zero.
ResourceAmounts LeftOf(const ResourceAmounts& total, const ResourceAmounts& used) {
  ResourceAmounts left = total;
  for (ResourceAmount& each : left) {
    each.amount = std::max<int64_t>(0, each.amount - AmountOf(used, each.id));
  }
  return left;
}

std::string TextOr(const CpuSet& cpus, std::string_view otherwise) {
  return cpus.empty() ? std::string(otherwise) : cpus.ToString();
}

}  // namespace

kube::Quantity QuantityOf(ResourceId id, std::string_view name, int64_t amount) {
  if (id == kCpuId) return kube::Quantity::FromMilli(amount);
  const bool bytes = id == kMemoryId || id == kEphemeralStorageId ||
                     name.starts_with(kube::kHugePagesPrefix) || name.ends_with("memory");
  return kube::Quantity(
      amount, bytes ? kube::Quantity::Format::kBinarySi : kube::Quantity::Format::kDecimalSi);
}

model::NumaExclusivity ExclusivityOf(const model::CpuTopology& topology,
                                     const std::vector<const CpuSet*>& cpus_of_pods) {
  model::NumaExclusivity exclusivity{.required = true};
  for (const CpuSet* cpus : cpus_of_pods) {
    model::NumaMask nodes;
    for (const model::CpuTopology::Unit& node : topology.nodes()) {
      if (!(node.cpus & *cpus).empty()) nodes.Add(node.id);
    }
    model::NumaMask& into = nodes.size() == 1 ? exclusivity.single : exclusivity.shared;
    into = into | nodes;
  }
  // A node with both kinds of pods is shared.
  exclusivity.single =
      model::NumaMask::FromBits(exclusivity.single.bits() & ~exclusivity.shared.bits());
  return exclusivity;
}

int64_t ShareScore(const NumaScoring& scoring, const ResourceAmounts& total,
                   const ResourceAmounts& used, const ResourceAmounts& more) {
  OneRowTerms terms(scoring.weights.size());
  for (const NumaScoring::Weight& each : scoring.weights) {
    const int64_t request = AmountOf(more, each.id);
    if (request == 0 && each.id >= kFirstScalarId) continue;
    terms.Add(AmountOf(total, each.id), AmountOf(used, each.id), request, scoring.share,
              each.weight);
  }
  int64_t score = 0;
  WeightedPercents(terms.terms(), Absent::kLeftOut, 0, OneRowTerms::row(), &score);
  return score;
}

NumaTrial::NumaTrial(const PodCpus& pod, const ResourceAmounts& requests, const CpuPlan& plan,
                     const NodeRules& rules, const CpuBook::Row& row,
                     const NumaScoring& numa_scoring, model::NumaAllocateStrategy strategy,
                     const model::NumaExclusivity& exclusivity, const ResourceNames& names,
                     const ReservedPart* reserved)
    : pod_(pod),
      requests_(requests),
      plan_(plan),
      rules_(rules),
      row_(row),
      numa_scoring_(numa_scoring),
      strategy_(rules.strategy.value_or(strategy)),
      exclusivity_(exclusivity),
      names_(names),
      reserved_(reserved) {
  if (plan_.binds) {
    CpuSet free = row_.FreeCpus();
    if (reserved_ != nullptr && reserved_->is_restricted) free &= reserved_->left.cpus;
    usable_ = Usable(free);
  }
  if (plan_.policy == model::NumaPolicy::kNone || row_.topology == nullptr) return;
  for (const Holdings::Zone& zone : row_.topology->zones) AddZone(zone);
}

CpuSet NumaTrial::Usable(const CpuSet& cpus) const {
  return plan_.required ? model::UsableFor(plan_.bind, topology(), cpus) : cpus;
}

void NumaTrial::AddZone(const Holdings::Zone& zone) {
  Zone added{.id = zone.numa_node, .total = zone.amounts};
  for (ResourceAmount& each : added.total) {
    const auto ratio = rules_.zone_ratios.find(names_.NameOf(each.id));
    if (ratio != rules_.zone_ratios.end()) each.amount = Amplified(each.amount, ratio->second);
  }
  const auto held = std::ranges::find(row_.held, zone.numa_node, &Holdings::Zone::numa_node);
  ResourceAmounts used;
  const CpuSet cpus = topology().CpusOfNode(zone.numa_node);
  if (held != row_.held.end()) {
    used = held->amounts;
    const int64_t pinned =
        1000 * static_cast<int64_t>((row_.occupancy.holders.held() & cpus).size());
    AddTo(used, {{kCpuId, Amplified(pinned, rules_.cpu_ratio) - pinned}});
  }
  added.unused = LeftOf(added.total, used);
  added.left = added.unused;
  for (ResourceAmount& each : added.left) {
    if (!IsOnlyFromReserved(each.id)) continue;
    const auto& zones = reserved_->left.zones;
    const auto left = std::ranges::find(zones, zone.numa_node, &Holdings::Zone::numa_node);
    each.amount = std::min(each.amount, left == zones.end() ? 0 : AmountOf(left->amounts, each.id));
  }
  if (plan_.binds) {
    added.free = usable_ & cpus;
    added.usable = static_cast<int64_t>(added.free.size());
    for (ResourceAmount& each : added.left) {
      if (each.id == kCpuId && plan_.required) {
        each.amount = std::min(each.amount, 1000 * added.usable);
      }
    }
  }
  all_.Add(zone.numa_node);
  zones_.push_back(std::move(added));
}

bool NumaTrial::IsOnlyFromReserved(ResourceId id) const {
  return reserved_ != nullptr && reserved_->is_restricted &&
         std::ranges::any_of(reserved_->all->zones, [&](const Holdings::Zone& zone) {
           return FindAmount(zone.amounts, id) != nullptr;
         });
}

bool NumaTrial::IsOffered(ResourceId id) const {
  return std::ranges::any_of(
      zones_, [&](const Zone& zone) { return FindAmount(zone.total, id) != nullptr; });
}

int64_t NumaTrial::UnitOf(ResourceId id) const {
  if (id != kCpuId || !plan_.binds) return 1;
  return full_required() ? 1000 * std::max<int64_t>(topology().cpus_per_core(), 1) : 1000;
}

bool NumaTrial::CanHostAlone(const Zone& zone) const {
  if (plan_.binds && zone.usable < pod_.cpus()) return false;
  return std::ranges::all_of(requests_, [&](const ResourceAmount& each) {
    return each.amount <= 0 || AmountOf(zone.left, each.id) >= each.amount || !IsOffered(each.id);
  });
}

bool NumaTrial::Fits() const {
  if (plan_.policy != model::NumaPolicy::kSingleNumaNode || zones_.size() == 1) return Run().ok;
  return std::ranges::any_of(zones_, [&](const Zone& zone) {
    return CanHostAlone(zone) && exclusivity_.Allows(model::NumaMask{zone.id});
  });
}

int64_t NumaTrial::ScoreOf(model::NumaMask mask) const {
  ResourceAmounts total, left;
  for (const Zone& zone : zones_) {
    if (!mask.Has(zone.id)) continue;
    AddTo(total, zone.total);
    AddTo(left, zone.left);
  }
  ResourceAmounts more = requests_;
  for (ResourceAmount& each : more) {
    if (each.id == kCpuId && plan_.binds) each.amount = Amplified(each.amount, rules_.cpu_ratio);
  }
  return ShareScore(numa_scoring_, total, LeftOf(total, left), more);
}

model::ProviderHints NumaTrial::Hints() const {
  model::ProviderHints all;
  for (const ResourceAmount& each : requests_) {
    if (each.amount > 0 && IsOffered(each.id)) all.push_back({names_.NameOf(each.id), {}});
  }
  std::ranges::sort(all, {}, &model::ResourceHints::resource);
  for (const model::NumaMask mask : model::MasksOf(all_)) {
    if (!Allocate(mask).ok) continue;
    const int64_t score = ScoreOf(mask);
    for (model::ResourceHints& each : all) {
      const ResourceId id = *names_.Find(each.resource);
      const bool everywhere = std::ranges::all_of(zones_, [&](const Zone& zone) {
        return !mask.Has(zone.id) || AmountOf(zone.left, id) > 0;
      });
      if (everywhere) each.hints.push_back({.mask = mask, .score = score});
    }
  }
  for (model::ResourceHints& each : all) model::MarkPreferred(each.hints, plan_.policy);
  return all;
}

bool NumaTrial::Distribute(model::NumaMask mask, Result& result) const {
  std::vector<const Zone*> among;
  for (const Zone& zone : zones_) {
    if (!mask.Has(zone.id)) continue;
    among.push_back(&zone);
    result.zones.push_back({zone.id, {}});
  }
  std::vector<int64_t> available(among.size()), shares(among.size());
  for (const ResourceAmount& each : requests_) {
    if (each.amount <= 0 || !IsOffered(each.id)) continue;
    for (size_t i = 0; i < among.size(); ++i) available[i] = AmountOf(among[i]->left, each.id);
    const int64_t missing =
        model::DivideAmongNodes(each.amount, UnitOf(each.id), available, shares);
    if (missing != 0) {
      result.reasons.push_back(fmt::format("Insufficient NUMA {}", names_.NameOf(each.id)));
    }
    for (size_t i = 0; i < among.size(); ++i) {
      if (shares[i] != 0) result.zones[i].amounts.push_back({each.id, shares[i]});
    }
  }
  std::erase_if(result.zones, [](const Holdings::Zone& zone) { return zone.amounts.empty(); });
  std::ranges::sort(result.reasons);
  return result.reasons.empty();
}

CpuSet NumaTrial::Take(const Result& result, const CpuSet& preferred) const {
  CpuSet all;
  model::CpuRequest request{
      .count = 0, .bind = plan_.bind, .exclusive = pod_.exclusive, .strategy = strategy_};
  const auto take = [&](const CpuSet& from, int64_t count) {
    request.count = std::min(count, static_cast<int64_t>(from.size()));
    const auto taken =
        model::TakePreferredCpus(topology(), from, preferred, row_.occupancy, request);
    if (taken.ok()) all |= *taken;
  };
  if (result.zones.empty()) take(usable_, pod_.cpus());
  for (const Holdings::Zone& share : result.zones) {
    const auto zone = std::ranges::find(zones_, share.numa_node, &Zone::id);
    take(zone->free, AmountOf(share.amounts, kCpuId) / 1000);
  }
  return all;
}

bool NumaTrial::TakeCpus(Result& result) const {
  const auto fail = [&](std::string reason) {
    result.reasons = {std::move(reason)};
    return false;
  };
  if (static_cast<int64_t>(usable_.size()) < pod_.cpus()) return fail(std::string(kNotEnoughCpus));
  const CpuSet preferred = reserved_ == nullptr ? CpuSet() : reserved_->left.cpus;
  const auto obeys = [&] {
    return !plan_.required || model::Obeys(plan_.bind, topology(), result.cpus);
  };
  result.cpus = Take(result, preferred);
  // Reserved CPUs and others may not make whole cores, though there are some.
  if (!preferred.empty() && !obeys()) result.cpus = Take(result, {});
  if (static_cast<int64_t>(result.cpus.size()) != pod_.cpus()) {
    return fail(std::string(kNotEnoughCpus));
  }
  if (!obeys()) {
    const std::string_view policy = full_required() ? "FullPCPUs" : "SpreadByPCPUs";
    return fail(fmt::format("insufficient CPUs to satisfy required cpu bind policy {}", policy));
  }
  return true;
}

NumaTrial::Result NumaTrial::Allocate(const std::optional<model::NumaMask>& mask) const {
  Result result;
  result.ok = (!mask || Distribute(*mask, result)) && (!plan_.binds || TakeCpus(result));
  return result;
}

NumaTrial::Result NumaTrial::Run() const {
  if (plan_.policy == model::NumaPolicy::kNone || zones_.empty()) return Allocate({});
  const model::ProviderHints hints = Hints();
  model::NumaDecision decision =
      model::MergeHints(plan_.policy, all_, std::span(&hints, 1), exclusivity_);
  if (!decision.admitted)
    return {.ok = false, .cpus = {}, .zones = {}, .reasons = decision.reasons};
  return Allocate(decision.best.mask);
}

std::vector<std::string> NumaTrial::DescribeZones() const {
  std::vector<std::string> lines;
  for (const Zone& zone : zones_) {
    std::vector<std::string> left;
    for (const ResourceAmount& each : requests_) {
      if (each.amount <= 0 || !IsOffered(each.id)) continue;
      const std::string& name = names_.NameOf(each.id);
      left.push_back(fmt::format(
          "{} {} of {}", name, QuantityOf(each.id, name, AmountOf(zone.left, each.id)).ToString(),
          QuantityOf(each.id, name, AmountOf(zone.total, each.id)).ToString()));
    }
    if (plan_.binds) left.push_back(fmt::format("CPUs {}", TextOr(zone.free, "none")));
    const Result alone = Allocate(model::NumaMask{zone.id});
    lines.push_back(
        fmt::format("NUMA node {} has {} left: {}", zone.id, fmt::join(left, ", "),
                    alone.ok ? "would do" : fmt::format("{}", fmt::join(alone.reasons, ", "))));
  }
  return lines;
}

NumaTrial::Use NumaTrial::UseOf(const std::vector<Holdings::Zone>& chosen) const {
  Use use;
  for (const Zone& zone : zones_) {
    if (std::ranges::find(chosen, zone.id, &Holdings::Zone::numa_node) == chosen.end()) continue;
    AddTo(use.total, zone.total);
    AddTo(use.used, LeftOf(zone.total, zone.unused));
  }
  return use;
}

}  // namespace koord::scheduler
