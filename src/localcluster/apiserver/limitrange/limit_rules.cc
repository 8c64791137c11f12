#include "localcluster/apiserver/limitrange/limit_rules.h"

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <string_view>

#include "base/strings.h"
#include "kube/objects/pod_resources.h"

namespace koord::apiserver {
namespace {

using kube::Json;
using kube::LimitRangeItem;
using kube::Quantity;
using kube::ResourceList;
namespace json = kube::json;

constexpr std::string_view kAnnotation = "kubernetes.io/limit-ranger";
using Complaints = std::vector<std::string>;

// --- defaults

// Adds the amounts that `to` lacks, and returns their names.
std::vector<std::string> FillIn(const ResourceList& amounts, json::object& resources,
                                std::string_view name) {
  std::vector<std::string> added;
  for (const auto& [resource, amount] : amounts) {
    Json& list = resources[name];
    if (list.is_null()) list.emplace_object();
    json::object* to = list.if_object();
    if (to == nullptr || to->contains(resource)) continue;
    to->emplace(resource, amount.ToString());
    added.push_back(resource);
  }
  return added;
}

void FillInContainer(const LimitRangeItem& item, std::string_view what, Json& container,
                     std::vector<std::string>& notes) {
  json::object* fields = container.if_object();
  if (fields == nullptr) return;
  Json& resources = (*fields)["resources"];
  if (resources.is_null()) resources.emplace_object();
  if (!resources.is_object()) return;
  const auto requests = FillIn(item.default_requests, resources.get_object(), "requests");
  const auto limits = FillIn(item.default_limits, resources.get_object(), "limits");
  const std::string_view name = kube::FindString(container, {"name"});
  if (!requests.empty()) {
    notes.push_back(fmt::format("{} request for {} {}", Join(requests, ", "), what, name));
  }
  if (!limits.empty()) {
    notes.push_back(fmt::format("{} limit for {} {}", Join(limits, ", "), what, name));
  }
}

void FillInContainers(const LimitRangeItem& item, std::string_view list, std::string_view what,
                      Json& pod, std::vector<std::string>& notes) {
  Json* containers = kube::Find(pod, {"spec", list});
  if (containers == nullptr || !containers->is_array()) return;
  for (Json& container : containers->get_array()) FillInContainer(item, what, container, notes);
}

// --- bounds

// What is bounded, and how much of it an object asks for.
struct Subject {
  std::string_view type;
  const ResourceList& requests;
  const ResourceList& limits;
};

const Quantity* Find(const ResourceList& list, const std::string& name) {
  const auto it = list.find(name);
  return it == list.end() ? nullptr : &it->second;
}

std::string Complain(std::string_view bound, const std::string& resource, std::string_view type,
                     const Quantity& enforced, std::string_view found) {
  return fmt::format("{} {} usage per {} is {}{}", bound, resource, type, enforced.ToString(),
                     found);
}

std::optional<std::string> BelowMinimum(const Subject& subject, const std::string& resource,
                                        const Quantity& minimum) {
  const auto complain = [&](std::string_view found) {
    return Complain("minimum", resource, subject.type, minimum, found);
  };
  const Quantity* request = Find(subject.requests, resource);
  const Quantity* limit = Find(subject.limits, resource);
  if (request == nullptr) return complain(".  No request is specified");
  if (*request < minimum) return complain(", but request is " + request->ToString());
  if (limit != nullptr && *limit < minimum) return complain(", but limit is " + limit->ToString());
  return {};
}

std::optional<std::string> AboveMaximum(const Subject& subject, const std::string& resource,
                                        const Quantity& maximum) {
  const auto complain = [&](std::string_view found) {
    return Complain("maximum", resource, subject.type, maximum, found);
  };
  const Quantity* request = Find(subject.requests, resource);
  const Quantity* limit = Find(subject.limits, resource);
  if (limit == nullptr) return complain(".  No limit is specified");
  if (*limit > maximum) return complain(", but limit is " + limit->ToString());
  if (request != nullptr && *request > maximum) {
    return complain(", but request is " + request->ToString());
  }
  return {};
}

std::optional<std::string> AboveRatio(const Subject& subject, const std::string& resource,
                                      const Quantity& ratio) {
  const auto complain = [&](const std::string& found) {
    return fmt::format("{} max limit to request ratio per {} is {}, but {}", resource, subject.type,
                       ratio.ToString(), found);
  };
  const Quantity* request = Find(subject.requests, resource);
  const Quantity* limit = Find(subject.limits, resource);
  if (request == nullptr || request->IsZero()) {
    return complain("no request is specified or request is 0");
  }
  if (limit == nullptr || limit->IsZero()) return complain("no limit is specified or limit is 0");
  const double given = limit->ToDouble() / request->ToDouble();
  if (given > ratio.ToDouble()) return complain(fmt::format("provided ratio is {:f}", given));
  return {};
}

template <class Check>
void CheckEach(const ResourceList& bounds, const Subject& subject, Check check,
               Complaints& complaints) {
  for (const auto& [resource, amount] : bounds) {
    if (auto complaint = check(subject, resource, amount)) complaints.push_back(*complaint);
  }
}

void CheckAll(const LimitRangeItem& item, const Subject& subject, Complaints& complaints) {
  CheckEach(item.min, subject, BelowMinimum, complaints);
  CheckEach(item.max, subject, AboveMaximum, complaints);
  CheckEach(item.max_limit_request_ratio, subject, AboveRatio, complaints);
}

}  // namespace

void FillInLimits(const kube::LimitRange& limits, Json& pod) {
  std::vector<std::string> notes;
  for (const LimitRangeItem& item : limits.spec.limits) {
    if (item.type != "Container") continue;
    FillInContainers(item, "containers", "container", pod, notes);
    FillInContainers(item, "initContainers", "init container", pod, notes);
  }
  if (notes.empty()) return;
  kube::At(pod, {"metadata", "annotations", kAnnotation}) =
      "LimitRanger plugin set: " + Join(notes, "; ");
}

Complaints BrokenLimits(const kube::LimitRange& limits, const kube::Pod& pod) {
  Complaints complaints;
  for (const LimitRangeItem& item : limits.spec.limits) {
    if (item.type == "Container") {
      for (const std::vector<kube::Container>& containers :
           {std::cref(pod.spec.containers.get()), std::cref(pod.spec.init_containers.get())}) {
        for (const kube::Container& container : containers) {
          const kube::ResourceRequirements& resources = container.resources;
          CheckAll(item, {item.type, resources.requests, resources.limits}, complaints);
        }
      }
    } else if (item.type == "Pod") {
      CheckAll(item, {item.type, kube::PodRequests(pod), kube::PodLimits(pod)}, complaints);
    }
  }
  return complaints;
}

Complaints BrokenLimits(const kube::LimitRange& limits, const kube::PersistentVolumeClaim& claim) {
  Complaints complaints;
  const ResourceList& requests = claim.spec.resources.requests;
  const ResourceList none;
  for (const LimitRangeItem& item : limits.spec.limits) {
    if (item.type != "PersistentVolumeClaim") continue;
    CheckEach(item.min, {item.type, requests, none}, BelowMinimum, complaints);
    // A claim has no limits: what is bounded is the request.
    for (const auto& [resource, maximum] : item.max) {
      const Quantity* request = Find(requests, resource);
      if (request == nullptr) {
        complaints.push_back(
            Complain("maximum", resource, item.type, maximum, ".  No request is specified"));
      } else if (*request > maximum) {
        complaints.push_back(Complain("maximum", resource, item.type, maximum,
                                      ", but request is " + request->ToString()));
      }
    }
  }
  return complaints;
}

}  // namespace koord::apiserver
