#include "scheduler/plugins/device_share/device_description.h"

#include <fmt/format.h>

#include <string>

#include "base/strings.h"

namespace koord::scheduler {
namespace {

using kube::Json;
using model::DeviceAmounts;
using model::DeviceCard;
using model::DeviceType;
namespace json = kube::json;

Json ToJson(const DeviceAmounts& amounts) {
  json::object object;
  for (const auto& [name, quantity] : ToResourceList(amounts)) object[name] = quantity.ToString();
  return object;
}

// One part of every device, by type and minor, and the sum over all of them.
template <class Part>
void AddPart(const model::NodeDevices& devices, const std::string& name, Part part,
             json::object& into) {
  DeviceAmounts sum;
  json::object details;
  for (const DeviceType type : model::kAllDeviceTypes) {
    json::object by_minor;
    for (const DeviceCard& card : devices.of(type)) {
      const DeviceAmounts& amounts = part(card);
      sum.Add(amounts);
      by_minor[std::to_string(card.minor)] = ToJson(amounts);
    }
    if (!by_minor.empty()) details[ToString(type)] = std::move(by_minor);
  }
  into[name] = ToJson(sum);
  into[name + "Detail"] = std::move(details);
}

json::object& ObjectAt(json::object& in, std::string_view key) {
  Json& value = in[key];
  if (!value.is_object()) value = json::object();
  return value.as_object();
}

std::string PlaceOf(const model::NodeDevices& devices, const DeviceCard& card) {
  if (card.device == nullptr || !card.device->has_topology) return "";
  std::string text;
  if (card.device->numa_node != model::kNoNumaNode) {
    text = fmt::format(", NUMA node {}", card.device->numa_node);
  }
  if (card.device->pcie != model::kNoPcie) {
    text += fmt::format(", PCIe {}",
                        devices.inventory()->pcies[static_cast<size_t>(card.device->pcie)]);
  }
  return text;
}

// "gpu-core 50, gpu-memory-ratio 50"
std::string AmountsText(const DeviceAmounts& amounts) {
  std::vector<std::string> texts;
  for (const auto& [name, quantity] : ToResourceList(amounts)) {
    texts.push_back(fmt::format("{} {}", name.substr(name.find('/') + 1), quantity.ToString()));
  }
  return Join(texts, ", ");
}

std::string WhyNot(const model::DeviceRequest& request, const DeviceCard& card) {
  if (card.device == nullptr) return "is not listed by the Device object";
  if (card.total().empty()) return "is not healthy";
  if (request.selector && !request.selector->Matches(card.device->labels)) {
    return "is not selected by the pod's hint";
  }
  std::vector<std::string> lacking;
  request.per_device.ForEach([&](model::DeviceResource resource, int64_t amount) {
    if (!card.free.Has(resource) || amount <= card.free.Get(resource)) return;
    const std::string_view name = ToString(resource);
    lacking.push_back(fmt::format(
        "{} of {} left, {} asked for",
        model::DeviceQuantity(resource, card.free.Get(resource)).ToString(),
        name.substr(name.find('/') + 1), model::DeviceQuantity(resource, amount).ToString()));
  });
  return lacking.empty() ? "could be given" : Join(lacking, ", ");
}

}  // namespace

std::vector<std::string> ExplainDevices(const PodDevices& pod, const DeviceTrial& trial,
                                        const std::optional<model::NumaMask>& from) {
  if (trial.nothing_known()) {
    return {"the node has no Device object: its devices are left to the kubelet"};
  }
  std::vector<std::string> lines;
  model::DeviceResult result = trial.Run(from, true);
  if (result.ok()) {
    Complete(trial.devices(), result.grants);
    for (const model::DeviceGrant& grant : result.grants) {
      const DeviceCard& card = *trial.devices().Find(grant.type, grant.minor);
      lines.push_back(fmt::format("{} {}: {}{}{}", ToString(grant.type), grant.minor,
                                  AmountsText(grant.amounts), PlaceOf(trial.devices(), card),
                                  grant.function == nullptr ? ""
                                                            : fmt::format(", virtual function {}",
                                                                          grant.function->bus_id)));
    }
    return lines;
  }
  lines.push_back(TextOf(result.refusal, result.type));
  constexpr size_t kMostLines = 16;
  for (const DeviceType type : model::kAllDeviceTypes) {
    if (pod.of(type) == nullptr) continue;
    for (const DeviceCard& card : trial.devices().of(type)) {
      if (lines.size() == kMostLines) return lines;
      lines.push_back(fmt::format("{} {}: {}{}", ToString(type), card.minor,
                                  WhyNot(*pod.of(type), card), PlaceOf(trial.devices(), card)));
    }
  }
  return lines;
}

Json DescribeDevices(NodeRow row, const DeviceBook& book) {
  json::object described;
  const model::NodeDevices& devices = book.row(row);
  AddPart(
      devices, "deviceTotal", [](const DeviceCard& card) { return card.total(); }, described);
  AddPart(
      devices, "deviceFree", [](const DeviceCard& card) { return card.free; }, described);
  AddPart(
      devices, "deviceUsed", [](const DeviceCard& card) { return card.used; }, described);
  json::object places;
  for (const DeviceType type : model::kAllDeviceTypes) {
    for (const DeviceCard& card : devices.of(type)) {
      if (card.device == nullptr || !card.device->has_topology) continue;
      json::object place{{"nodeID", card.device->numa_node}};
      if (card.device->pcie != model::kNoPcie) {
        place["pcieID"] = devices.inventory()->pcies[static_cast<size_t>(card.device->pcie)];
      }
      ObjectAt(places, ToString(type))[std::to_string(card.minor)] = std::move(place);
    }
  }
  described["deviceTopology"] = std::move(places);
  json::object holders;
  for (const PodInfo* pod : book.holders(row)) {
    const std::string name = KeyOf(pod->pod->metadata).ToString();
    for (const Holdings::Device& held : pod->held->devices) {
      ObjectAt(ObjectAt(holders, held.type), name)[std::to_string(held.minor)] =
          ToJson(book.ids().In(held.amounts));
    }
  }
  described["allocateSet"] = std::move(holders);
  return described;
}

}  // namespace koord::scheduler
