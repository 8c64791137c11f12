#include "scheduler/plugins/device_share/device_trial.h"

#include <algorithm>

namespace koord::scheduler {
namespace {

using model::DeviceGrant;
using model::DeviceGrants;
using model::DeviceRefusal;
using model::DeviceResult;
using model::DeviceType;
using model::NumaMask;

// Devices count for more than CPUs where both have a say in which NUMA nodes are taken.
constexpr int64_t kSameCardsScore = 500;

std::vector<int32_t> CardsOf(const DeviceResult& result) {
  std::vector<int32_t> minors;
  for (const DeviceGrant& grant : result.grants) {
    if (grant.type == DeviceType::kGpu) minors.push_back(grant.minor);
  }
  return minors;
}

}  // namespace

bool Complete(const model::NodeDevices& devices, DeviceGrants& grants) {
  return std::ranges::all_of(grants, [&](DeviceGrant& grant) {
    return grant.type != DeviceType::kGpu || model::CompleteGpuShare(devices, grant);
  });
}

std::vector<Holdings::Device> ToHoldings(const DeviceGrants& grants, const DeviceResourceIds& ids) {
  std::vector<Holdings::Device> held;
  for (const DeviceGrant& grant : grants) {
    Holdings::Device& device = held.emplace_back();
    device.type = ToString(grant.type);
    device.minor = grant.minor;
    device.amounts = ids.From(grant.amounts);
    if (grant.function != nullptr) {
      device.vfs.push_back({.minor = grant.function->minor, .bus_id = grant.function->bus_id});
    }
  }
  return held;
}

Verdict VerdictOf(const DeviceResult& result) {
  if (result.ok()) return Verdict::Success();
  std::string text = TextOf(result.refusal, result.type);
  return IsUnresolvable(result.refusal) ? Verdict::Unresolvable(std::move(text))
                                        : Verdict::Unschedulable(std::move(text));
}

DeviceTrial::DeviceTrial(const PodDevices& pod, const NodeCards& node, const DeviceBook& book,
                         const Rules& rules, const TrialQuestion& question)
    : pod_(pod),
      node_(node),
      book_(book),
      rules_(rules),
      as_they_are_(book.row(question.view.row)),
      reserve_pod_(question.source.reserve_pod != nullptr &&
                           DeviceBook::HoldsDevices(question.source.reserve_pod)
                       ? question.source.reserve_pod
                       : nullptr),
      is_restricted_(question.source.is_restricted) {
  if (question.view.delta == nullptr && reserve_pod_ == nullptr) return;
  const RowDelta delta = DeltaFor(question);
  if (std::ranges::any_of(delta.removed, DeviceBook::HoldsDevices) ||
      std::ranges::any_of(delta.added, DeviceBook::HoldsDevices)) {
    changed_ = book.With(question.view.row, delta.removed, delta.added);
  }
  if (reserve_pod_ != nullptr) left_ = book.LeftOf(*reserve_pod_, delta.removed);
}

model::DeviceLimits DeviceTrial::LimitsFor(const std::optional<NumaMask>& from) const {
  model::DeviceLimits limits;
  if (rules_.aligns) limits.numa_nodes = from;
  if (reserve_pod_ == nullptr) return limits;
  for (const DeviceBook::Left& each : left_) {
    model::DeviceLimits::Of& of = limits.by_type[static_cast<size_t>(each.type)];
    of.preferred.push_back(each.minor);
    if (!is_restricted_) continue;
    if (!of.required) of.required.emplace();
    if (!each.amounts.IsZero()) of.required->push_back({each.minor, each.amounts});
  }
  if (!is_restricted_) return limits;
  for (const Holdings::Device& held : reserve_pod_->held->devices) {
    const auto type = model::ParseDeviceType(held.type);
    if (!type || held.vfs.empty()) continue;
    auto& functions = limits.by_type[static_cast<size_t>(*type)].functions;
    if (!functions) functions.emplace();
    for (const api::VirtualFunction& vf : held.vfs) functions->push_back(vf.bus_id);
    std::ranges::sort(*functions);
  }
  return limits;
}

DeviceResult DeviceTrial::Run(const std::optional<NumaMask>& from, bool for_real) const {
  const bool unlimited = reserve_pod_ == nullptr && (!from || !rules_.aligns);
  model::DeviceLimits limits;
  if (!unlimited) limits = LimitsFor(from);
  return model::AllocateDevices({.requests = pod_.requests,
                                 .devices = devices(),
                                 .node = node_.gpu,
                                 .limits = unlimited ? nullptr : &limits,
                                 .scoring = for_real ? &rules_.scoring : nullptr,
                                 .for_real = for_real});
}

HintTrial::Answer DeviceTrial::Hints(model::NumaPolicy, NumaMask) const {
  const auto& inventory = devices().inventory();
  if (!rules_.aligns || inventory == nullptr || inventory->numa_nodes.empty()) return {};
  struct Tried {
    NumaMask mask;
    DeviceResult result;
  };
  std::vector<Tried> feasible;
  DeviceResult whole;  // of all NUMA nodes together, which come last
  for (const NumaMask mask : model::MasksOf(inventory->numa_nodes)) {
    const model::DeviceLimits limits = LimitsFor(mask);
    const auto too_few = model::TooFewInNumaNodes(
        {.requests = pod_.requests, .devices = devices(), .node = node_.gpu, .limits = &limits});
    whole =
        too_few ? DeviceResult{DeviceRefusal::kTooFewInNumaNodes, *too_few, {}} : Run(mask, false);
    if (whole.ok()) feasible.push_back({mask, whole});
  }
  if (!whole.ok()) return {.verdict = VerdictOf(whole), .hints = {}};
  std::vector<model::NumaHint> hints;
  for (const Tried& each : feasible) {
    const bool same = CardsOf(each.result) == CardsOf(whole);
    hints.push_back({.mask = each.mask, .score = same ? kSameCardsScore : 0});
  }
  // The fewest nodes, whatever the policy.
  model::MarkPreferred(hints, model::NumaPolicy::kBestEffort);
  Answer answer;
  for (const DeviceType type : model::kAllDeviceTypes) {
    if (pod_.of(type) != nullptr) answer.hints.push_back({std::string(ToString(type)), hints});
  }
  return answer;
}

Verdict DeviceTrial::Allocate(const std::optional<NumaMask>& from, Holdings* into) const {
  if (nothing_known()) return Verdict::Success();
  DeviceResult result = Run(from, into != nullptr);
  if (!result.ok() || into == nullptr) return VerdictOf(result);
  if (Complete(devices(), result.grants)) into->devices = ToHoldings(result.grants, book_.ids());
  return Verdict::Success();
}

}  // namespace koord::scheduler
