#include "scheduler/reservation_service/reservation_service.h"

#include <algorithm>
#include <functional>
#include <set>

#include "api/reservation_annotations.h"
#include "base/strings.h"
#include "kube/objects/pod_resources.h"
#include "model/reservation/reservation_offer.h"
#include "model/reservation/reservation_state.h"

namespace koord::scheduler {
namespace {

namespace json = kube::json;
using kube::Json;
using kube::ResourceList;

// What is empty, zero or false is left out.
bool IsNothing(const Json& value) {
  if (value.is_string()) return value.get_string().empty();
  if (value.is_object()) return value.get_object().empty();
  if (value.is_array()) return value.get_array().empty();
  if (value.is_bool()) return !value.get_bool();
  return value.is_null() || value == Json(0);
}
void Put(json::object& into, std::string_view name, Json value) {
  if (!IsNothing(value)) into[name] = std::move(value);
}
void PutText(json::object& into, std::string_view name, std::string_view text) {
  Put(into, name, Json(text));
}

// Amounts under the names that the scheduler's users know from Go.
Json InNumbers(const ResourceList& list) {
  json::object scalars;
  json::object numbers;
  for (const auto& [name, amount] : list) {
    if (name == kube::kCpu) {
      Put(numbers, "MilliCPU", amount.MilliValue());
    } else if (name == kube::kMemory) {
      Put(numbers, "Memory", amount.Value());
    } else if (name == kube::kEphemeralStorage) {
      Put(numbers, "EphemeralStorage", amount.Value());
    } else if (name == kube::kPodCount) {
      Put(numbers, "AllowedPodNumber", amount.Value());
    } else {
      Put(scalars, name, amount.Value());
    }
  }
  Put(numbers, "ScalarResources", std::move(scalars));
  return numbers;
}

Json Ports(const std::vector<HostPort>& ports) {
  json::object by_ip;
  for (const HostPort& port : ports) {
    Json& list = by_ip[port.ip];
    if (!list.is_array()) list.emplace_array();
    list.get_array().emplace_back(fmt::format("{}/{}", port.protocol, port.port));
  }
  return by_ip;
}

Json DescribeOwner(const PodInfo& owner) {
  const kube::Pod& pod = *owner.pod;
  json::object described;
  PutText(described, "Namespace", pod.metadata.ns);
  PutText(described, "Name", pod.metadata.name);
  PutText(described, "UID", pod.metadata.uid);
  Put(described, "Requests", kube::Encode(kube::PodRequests(pod)));
  Put(described, "Ports", Ports(owner.shape->host_ports));
  return described;
}

ResourceList UsedBy(const std::vector<const PodInfo*>& owners,
                    const std::vector<std::string>& resource_names) {
  ResourceList used;
  for (const PodInfo* owner : owners) kube::AddTo(used, kube::PodRequests(*owner->pod));
  return model::Masked(used, resource_names);
}

void DescribeTerms(const model::ReservationOffer& offer, const std::vector<const PodInfo*>& owners,
                   json::object& into) {
  const ResourceList used = UsedBy(owners, offer.resource_names);
  Put(into, "allocateOnce", offer.allocate_once);
  Put(into, "allocatable", kube::Encode(offer.allocatable));
  Put(into, "reserved", kube::Encode(offer.kept_back));
  Put(into, "allocated", kube::Encode(used));
  Put(into, "availableResource", InNumbers(model::LeftOf(offer, used)));
  Put(into, "allocatedResource", InNumbers(used));
}

// A Reservation, or a pod that acts as one.
Json Describe(const PluginContext& context, const ReservationBook::Entry& entry) {
  const api::Reservation* reservation = context.objects.reservations.Find(entry.name);
  const kube::Pod& pod = *entry.reserve_pod->pod;
  const bool is_object = reservation != nullptr && reservation->metadata.uid == entry.uid;
  std::vector<const PodInfo*> owners;
  std::vector<HostPort> used_ports;
  for (const PodInfo* owner : entry.owners) {
    if (owner->row != entry.reserve_pod->row) continue;
    owners.push_back(owner);
    const auto& ports = owner->shape->host_ports;
    used_ports.insert(used_ports.end(), ports.begin(), ports.end());
  }
  std::ranges::sort(owners, {}, [](const PodInfo* owner) { return owner->uid(); });

  json::object described;
  PutText(described, "name", entry.name);
  if (!is_object) PutText(described, "namespace", pod.metadata.ns);
  PutText(described, "uid", entry.uid);
  PutText(described, "kind", is_object ? "Reservation" : "Pod");
  Put(described, "available",
      is_object ? model::IsAvailable(*reservation) : model::IsOffering(pod));
  const auto offer =
      is_object ? model::ReservationOffer::Of(*reservation) : model::ReservationOffer::Of(pod);
  if (offer.ok()) DescribeTerms(*offer, owners, described);
  Put(described, "allocatablePorts", Ports(entry.reserve_pod->shape->host_ports));
  Put(described, "allocatedPorts", Ports(used_ports));
  if (is_object) {
    Put(described, "owners", kube::Encode(reservation->spec.owners));
    PutText(described, "allocatePolicy", reservation->spec.allocate_policy);
  } else if (const auto owners_of = api::ReservationOwnersOf(pod.metadata.annotations);
             owners_of.ok()) {
    Put(described, "owners", kube::Encode(*owners_of));
    PutText(described, "allocatePolicy", "Aligned");
  }
  json::array assigned;
  for (const PodInfo* owner : owners) assigned.push_back(DescribeOwner(*owner));
  Put(described, "assignedPods", std::move(assigned));
  return described;
}

// Reservations with a label, and where they are.
class Bucket {
 public:
  void Add(const api::Reservation& reservation) {
    by_node_[reservation.status.node_name].insert(reservation.metadata.name);
  }
  bool empty() const { return by_node_.empty(); }
  Json ToJson() const {
    std::set<std::string> names;
    json::object by_node;
    for (const auto& [node, on_it] : by_node_) {
      names.insert(on_it.begin(), on_it.end());
      by_node[node] = on_it.size();
    }
    return {{"nodes", by_node_.size()}, {"reservations", names.size()}, {"byNode", by_node}};
  }

 private:
  std::map<std::string, std::set<std::string>> by_node_;
};

using Buckets = std::map<std::string, Bucket>;

Json ToJson(const Buckets& buckets) {
  json::object all;
  for (const auto& [name, bucket] : buckets) all[name] = bucket.ToJson();
  return all;
}

Json DescribeIndex(const PluginContext& context, const ReservationSelectorIndexArgs& args,
                   bool detail) {
  Buckets by_prefix, by_key, by_value;
  std::set<std::string> indexed;
  const auto add = [&](const api::Reservation& reservation, const std::string& key,
                       const std::string& value) {
    bool is_indexed = std::ranges::find(args.keys, key) != args.keys.end();
    if (is_indexed) by_key[key].Add(reservation);
    for (const std::string& prefix : args.key_prefixes) {
      if (!key.starts_with(prefix)) continue;
      by_prefix[prefix].Add(reservation);
      is_indexed = true;
    }
    if (!is_indexed) return;
    indexed.insert(reservation.metadata.name);
    by_value[fmt::format("{}={}", key, value)].Add(reservation);
  };
  for (const auto& [name, reservation] : context.objects.reservations.objects()) {
    if (!args.enabled || !model::IsActive(*reservation)) continue;
    for (const auto& [key, value] : reservation->metadata.labels) add(*reservation, key, value);
  }
  json::object described{
      {"enabled", args.enabled},
      {"prefixes", json::array(args.key_prefixes.begin(), args.key_prefixes.end())},
      {"keys", json::array(args.keys.begin(), args.keys.end())},
      {"indexedReservations", indexed.size()},
      {"byPrefix", ToJson(by_prefix)},
      {"byKey", ToJson(by_key)}};
  if (detail) described["byKeyValue"] = ToJson(by_value);
  return described;
}

}  // namespace

Json DescribeReservationsOn(const PluginContext& context, std::string_view node) {
  const auto row = context.nodes().Find(node);
  if (!row) return json::object();
  std::vector<const ReservationBook::Entry*> entries;
  for (const auto* entry : context.books.reservations.On(*row)) entries.push_back(entry);
  std::ranges::sort(entries, {},
                    [](const auto* entry) { return std::tie(entry->name, entry->uid); });
  json::array items;
  for (const auto* entry : entries) items.push_back(Describe(context, *entry));
  json::object answer;
  Put(answer, "items", std::move(items));
  return answer;
}

std::vector<ServicePlugin::Endpoint> ReservationEndpoints(const PluginContext& context,
                                                          const ReservationArgs& args) {
  using Params = ServicePlugin::Params;
  const auto index = args.reservation_selector_index.value_or(ReservationSelectorIndexArgs());
  return {{"nodeReservations/{node}",
           [context](const Params& params) -> StatusOr<Json> {
             return DescribeReservationsOn(context, params.find("node")->second);
           }},
          {"reservationSelectorIndex", [context, index](const Params& params) -> StatusOr<Json> {
             const auto detail = params.find("detail");
             return DescribeIndex(context, index,
                                  detail != params.end() && detail->second == "true");
           }}};
}

}  // namespace koord::scheduler
