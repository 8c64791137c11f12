#include "model/device/device_request.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "api/extended_resources.h"
#include "kube/codec_impl.h"
#include "kube/yaml.h"

namespace koord::model {
namespace {

using enum DeviceResource;

constexpr std::array kWholeCardNames{api::kNvidiaGpu, api::kAmdGpu, api::kDcuGpu};
constexpr std::array kGpuNames{api::kNvidiaGpu,    api::kAmdGpu,         api::kDcuGpu,
                               api::kGpu,          api::kGpuShared,      api::kGpuCore,
                               api::kGpuMemory,    api::kGpuMemoryRatio, api::kHuaweiNpuCore,
                               api::kHuaweiNpuCpu, api::kHuaweiNpuDvpp};
constexpr int64_t kWhole = 100;
// More cards than this are on no machine; amounts stay far from overflowing.
constexpr int64_t kMostCards = 1'000'000;

// A part of a device, or several whole ones.
bool IsPercentage(int64_t value) { return value <= kWhole || value % kWhole == 0; }

using Amounts = std::map<std::string_view, int64_t>;

Status CheckUnit(const Amounts& amounts, std::string_view name) {
  const auto found = amounts.find(name);
  if (found == amounts.end() || IsPercentage(found->second)) return {};
  return InvalidArgument("invalid resource unit {}: {}", name,
                         kube::Quantity(found->second).ToString());
}

// Which names stand together, whatever their amounts.
bool AreNames(const Amounts& amounts, std::set<std::string_view> names) {
  return std::ranges::equal(amounts, names, {}, [](const auto& each) { return each.first; });
}

bool DividesAmong(const Amounts& amounts, std::string_view name, int64_t cards) {
  const auto found = amounts.find(name);
  if (found == amounts.end()) return true;
  return found->second % cards == 0 && found->second / cards <= kWhole;
}

// Whether the names make sense together, and the amounts with them.
bool IsCombination(const Amounts& amounts) {
  const auto amount = [&](std::string_view name) {
    const auto found = amounts.find(name);
    return found == amounts.end() ? int64_t{0} : found->second;
  };
  const auto percent = [&](std::string_view name) { return IsPercentage(amount(name)); };
  for (const std::string_view name : kWholeCardNames) {
    if (AreNames(amounts, {name})) return true;
  }
  if (AreNames(amounts, {api::kGpu}) || AreNames(amounts, {api::kGpuMemory})) return true;
  if (AreNames(amounts, {api::kGpuMemoryRatio}) ||
      AreNames(amounts, {api::kHuaweiNpuCore, api::kGpuMemoryRatio})) {
    return percent(api::kGpuMemoryRatio);
  }
  if (AreNames(amounts, {api::kGpuCore, api::kGpuMemory}) ||
      AreNames(amounts, {api::kGpuCore, api::kGpuMemoryRatio})) {
    return percent(api::kGpuCore) && percent(api::kGpuMemoryRatio);
  }
  if (!amounts.contains(api::kGpuShared)) return false;
  const int64_t cards = amount(api::kGpuShared);
  const bool npu = AreNames(amounts, {api::kGpuShared, api::kHuaweiNpuCore, api::kHuaweiNpuCpu,
                                      api::kGpuMemory}) ||
                   AreNames(amounts, {api::kGpuShared, api::kHuaweiNpuCore, api::kHuaweiNpuCpu,
                                      api::kGpuMemory, api::kHuaweiNpuDvpp});
  if (npu) return cards <= 1 && amount(api::kHuaweiNpuDvpp) <= kWhole;
  const bool by_memory = AreNames(amounts, {api::kGpuShared, api::kGpuMemory}) ||
                         AreNames(amounts, {api::kGpuShared, api::kGpuCore, api::kGpuMemory});
  const bool by_ratio = AreNames(amounts, {api::kGpuShared, api::kGpuMemoryRatio}) ||
                        AreNames(amounts, {api::kGpuShared, api::kGpuCore, api::kGpuMemoryRatio});
  return (by_memory || by_ratio) && DividesAmong(amounts, api::kGpuCore, cards) &&
         DividesAmong(amounts, api::kGpuMemoryRatio, cards);
}

StatusOr<DeviceRequest> GpuRequestOf(Amounts amounts, bool* is_shared) {
  RETURN_IF_ERROR(CheckUnit(amounts, api::kGpu));
  const bool too_many = std::ranges::any_of(amounts, [](const auto& each) {
    return each.first != api::kGpuMemory && each.second > kMostCards * kWhole;
  });
  if (too_many || !IsCombination(amounts)) {
    std::vector<std::string_view> names;
    for (const auto& each : amounts) names.push_back(each.first);
    return InvalidArgument("invalid resource device requests: [{}]", fmt::join(names, " "));
  }
  for (const std::string_view name : kWholeCardNames) {
    if (const auto found = amounts.find(name); found != amounts.end()) {
      amounts[api::kGpuCore] = amounts[api::kGpuMemoryRatio] = found->second * kWhole;
    }
  }
  if (const auto found = amounts.find(api::kGpu); found != amounts.end()) {
    amounts[api::kGpuCore] = amounts[api::kGpuMemoryRatio] = found->second;
  }
  DeviceRequest request;
  const auto shared = amounts.find(api::kGpuShared);
  const auto ratio = amounts.find(api::kGpuMemoryRatio);
  if (shared != amounts.end()) {
    request.count = shared->second;
  } else if (ratio != amounts.end() && ratio->second > kWhole) {
    request.count = ratio->second / kWhole;
  }
  for (const DeviceResource each : {kGpuCore, kNpuCore, kNpuCpu, kNpuDvpp}) {
    if (const auto found = amounts.find(ToString(each)); found != amounts.end()) {
      request.per_device.Set(each, found->second / request.count);
    }
  }
  if (ratio != amounts.end()) {
    request.per_device.Set(kGpuMemoryRatio, ratio->second / request.count);
  } else {
    request.per_device.Set(kGpuMemory, amounts.at(api::kGpuMemory) / request.count);
  }
  *is_shared = ratio == amounts.end() || request.per_device.Get(kGpuMemoryRatio) < kWhole;
  return request;
}

StatusOr<DeviceRequest> PlainRequestOf(DeviceResource resource, int64_t value,
                                       const api::DeviceHint& hint) {
  RETURN_IF_ERROR(CheckUnit({{ToString(resource), value}}, ToString(resource)));
  DeviceRequest request;
  request.per_device.Set(resource, value);
  if (value > kWhole) {
    request.count = value / kWhole;
    request.per_device.Set(resource, kWhole);
  } else if (hint.allocate_strategy == "ApplyForAll") {
    request.counted = DeviceRequest::Count::kAll;
  } else if (hint.allocate_strategy == "RequestsAsCount") {
    request.count = value;
    request.per_device.Set(resource, hint.exclusive_policy == "DeviceLevel" ? kWhole : 1);
  }
  return request;
}

Status ReadSelectors(const api::DeviceHint& hint, DeviceType type, DeviceRequest& into) {
  const auto read = [&](const auto& selector, std::string_view what,
                        std::optional<kube::LabelMatcher>& matcher) -> Status {
    if (!selector) return {};
    auto made = kube::LabelMatcher::From(*selector);
    if (!made.ok()) {
      return InvalidArgument("invalid {} of DeviceHint, deviceType: {}, err: {}", what,
                             ToString(type), Message(made.status()));
    }
    matcher = std::move(*made);
    return {};
  };
  RETURN_IF_ERROR(read(hint.selector, "Selector", into.selector));
  return read(hint.vf_selector, "VFSelector", into.function_selector);
}

void ReadJoint(const api::DeviceJointAllocate& joint, const api::DeviceAllocateHint& hints,
               DeviceRequests& into) {
  for (const std::string& name : joint.device_types) {
    const auto type = ParseDeviceType(name);
    if (!type || !into.of(*type)) continue;
    const auto hint = hints.find(name);
    if (hint != hints.end() && hint->second.allocate_strategy == "ApplyForAll") continue;
    if (std::ranges::find(into.joint, *type) == into.joint.end()) into.joint.push_back(*type);
  }
  into.same_pcie = joint.required_scope == "SamePCIe";
}

Status ReadTemplates(const DeviceRequestRules& rules, DeviceRequests& into) {
  const std::optional<DeviceRequest>& cards = into.of(DeviceType::kGpu);
  if (!cards || !into.is_shared) return {};
  const bool templated = std::ranges::any_of(
      rules.templated, [&](DeviceResource each) { return cards->per_device.Has(each); });
  if (!templated) return {};
  into.templates.emplace();
  if (rules.templates != nullptr) {
    for (const auto& [kind, by_name] : *rules.templates) {
      for (const auto& [name, amounts] : by_name) {
        if (amounts == cards->per_device) (*into.templates)[kind].push_back(name);
      }
    }
  }
  if (into.templates->empty()) return InvalidArgument("no matched GPU shared resource template");
  return {};
}

template <class T>
StatusOr<T> Read(StatusOr<std::optional<T>> read, std::string_view what) {
  if (!read.ok()) {
    return InvalidArgument("invalid {} annotation, err: {}", what, Message(read.status()));
  }
  return std::move(*read).value_or(T());
}

}  // namespace

StatusOr<GpuTemplates> ParseGpuTemplates(std::string_view yaml) {
  using Lists =
      std::map<std::string, std::map<std::string, kube::ResourceList, std::less<>>, std::less<>>;
  ASSIGN_OR_RETURN(const kube::Json json, kube::ParseYaml(yaml));
  Lists lists;
  if (!json.is_null()) {
    ASSIGN_OR_RETURN(lists, kube::Decode<Lists>(json));
  }
  GpuTemplates templates;
  for (const auto& [kind, by_name] : lists) {
    for (const auto& [name, list] : by_name) templates[kind][name] = DeviceAmountsIn(list);
  }
  return templates;
}

bool DeviceRequests::empty() const {
  return std::ranges::none_of(by_type, [](const auto& each) { return each.has_value(); });
}

bool IsDeviceResource(std::string_view name) {
  return std::ranges::find(kGpuNames, name) != kGpuNames.end() || name == api::kRdma ||
         name == api::kFpga;
}

StatusOr<DeviceRequests> DeviceRequestsOf(const kube::ResourceList& requests,
                                          const kube::Annotations& annotations,
                                          const DeviceRequestRules& rules) {
  DeviceRequests found;
  Amounts cards, others;
  for (const auto& [name, quantity] : requests) {
    if (quantity.Sign() <= 0) continue;
    if (name == api::kRdma || name == api::kFpga) {
      others[name] = quantity.Value();
    } else if (IsDeviceResource(name)) {
      cards[name] = quantity.Value();
    }
  }
  if (cards.empty() && others.empty()) return found;
  ASSIGN_OR_RETURN(const auto hints,
                   Read(api::DeviceAllocateHintOf(annotations), "DeviceAllocateHint"));
  ASSIGN_OR_RETURN(const auto joint,
                   Read(api::DeviceJointAllocateOf(annotations), "DeviceJointAllocate"));
  auto partition = api::GpuPartitionSpecOf(annotations);
  if (!partition.ok()) {
    return InvalidArgument("invalid GPUPartitionSpec annotation, err: {}",
                           Message(partition.status()));
  }
  found.partition = std::move(*partition);
  const auto hint_of = [&](DeviceType type) {
    const auto hint = hints.find(ToString(type));
    return hint == hints.end() ? api::DeviceHint() : hint->second;
  };
  const auto set = [&](DeviceType type) -> std::optional<DeviceRequest>& {
    return found.by_type[static_cast<size_t>(type)];
  };
  for (const auto& [name, value] : others) {
    const DeviceType type = name == api::kRdma ? DeviceType::kRdma : DeviceType::kFpga;
    ASSIGN_OR_RETURN(set(type), PlainRequestOf(*ParseDeviceResource(name), value, hint_of(type)));
  }
  if (!cards.empty()) {
    ASSIGN_OR_RETURN(set(DeviceType::kGpu), GpuRequestOf(cards, &found.is_shared));
    found.required_scope =
        api::TopologyScopeLevel(hint_of(DeviceType::kGpu).required_topology_scope);
  }
  for (const DeviceType type : kAllDeviceTypes) {
    if (set(type)) RETURN_IF_ERROR(ReadSelectors(hint_of(type), type, *set(type)));
  }
  ReadJoint(joint, hints, found);
  RETURN_IF_ERROR(ReadTemplates(rules, found));
  return found;
}

}  // namespace koord::model
