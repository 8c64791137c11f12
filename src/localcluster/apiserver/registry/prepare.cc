#include "localcluster/apiserver/registry/prepare.h"

#include <map>
#include <string>

#include "kube/time.h"
#include "localcluster/apiserver/registry/json_edit.h"

namespace koord::apiserver {
namespace {

// What a container asks for of cpu and memory. Quantities are canonical: equal texts are equal
// amounts, and "0" is nothing.
struct Ask {
  bool any = false;        // requests or limits something
  bool guaranteed = true;  // limits both, and requests exactly that
};

void AddContainer(const Json& container, Ask& ask) {
  for (const char* resource : {"cpu", "memory"}) {
    const std::string_view request =
        kube::FindString(container, {"resources", "requests", resource}, "0");
    const std::string_view limit =
        kube::FindString(container, {"resources", "limits", resource}, "0");
    if (request != "0" || limit != "0") ask.any = true;
    if (limit == "0" || request != limit) ask.guaranteed = false;
  }
}

// Adds what `keys` of the term say about the pod's own labels to its selector.
void MergeKeys(json::object& term, const json::object& labels, std::string_view keys,
               std::string_view operation) {
  const Json* names = term.if_contains(keys);
  if (names == nullptr || !names->is_array() || !term.contains("labelSelector")) return;
  json::array requirements;
  for (const Json& name : names->get_array()) {
    const Json* value = name.is_string() ? labels.if_contains(name.get_string()) : nullptr;
    if (value == nullptr) continue;
    requirements.push_back(
        json::object{{"key", name}, {"operator", operation}, {"values", json::array{*value}}});
  }
  if (requirements.empty()) return;
  EditObject(
      term, "labelSelector",
      [](json::object& selector, const json::array& requirements) {
        Json& expressions = selector["matchExpressions"];
        if (!expressions.is_array()) expressions.emplace_array();
        json::array& list = expressions.get_array();
        list.insert(list.end(), requirements.begin(), requirements.end());
      },
      requirements);
}

void MergeKeysOfTerm(json::object& term, const json::object& labels) {
  MergeKeys(term, labels, "matchLabelKeys", "In");
  MergeKeys(term, labels, "mismatchLabelKeys", "NotIn");
}

// matchLabelKeys and mismatchLabelKeys of affinity terms are short for requirements that differ
// from pod to pod of the same template.
void MergeLabelKeys(Json& pod) {
  const json::object* labels = kube::FindObject(pod, {"metadata", "labels"});
  if (labels == nullptr) return;
  for (const char* kind : {"podAffinity", "podAntiAffinity"}) {
    Json* affinity = kube::Find(pod, {"spec", "affinity", kind});
    if (affinity == nullptr || !affinity->is_object()) continue;
    json::object& terms = affinity->get_object();
    ForEachObject(terms, "requiredDuringSchedulingIgnoredDuringExecution", MergeKeysOfTerm,
                  *labels);
    ForEachObject(
        terms, "preferredDuringSchedulingIgnoredDuringExecution",
        [](json::object& weighted, const json::object& labels) {
          EditObject(weighted, "podAffinityTerm", MergeKeysOfTerm, labels);
        },
        *labels);
  }
}

void SetLabel(Json& object, std::string_view key, std::string_view value) {
  kube::At(object, {"metadata", "labels", key}) = value;
}

void SelectJobByUid(Json& object) {
  const std::string uid(kube::FindString(object, {"metadata", "uid"}));
  const std::string name(kube::FindString(object, {"metadata", "name"}));
  json::object* labels = kube::At(object, {"spec", "template", "metadata", "labels"}).if_object();
  if (labels == nullptr) {
    labels = &kube::At(object, {"spec", "template", "metadata", "labels"}).emplace_object();
  }
  for (const char* prefix : {"", "batch.kubernetes.io/"}) {
    (*labels)[std::string(prefix) + "controller-uid"] = uid;
    (*labels)[std::string(prefix) + "job-name"] = name;
  }
  kube::At(object, {"spec", "selector", "matchLabels", "batch.kubernetes.io/controller-uid"}) = uid;
}

json::object Zeros(std::initializer_list<std::string_view> counts) {
  json::object zeros;
  for (const std::string_view count : counts) zeros[count] = 0;
  return zeros;
}

json::object NodeStatus() {
  json::object info;
  for (const char* text :
       {"architecture", "bootID", "containerRuntimeVersion", "kernelVersion", "kubeProxyVersion",
        "kubeletVersion", "machineID", "operatingSystem", "osImage", "systemUUID"}) {
    info[text] = "";
  }
  return {{"daemonEndpoints", json::object{{"kubeletEndpoint", json::object{{"Port", 0}}}}},
          {"nodeInfo", std::move(info)}};
}

}  // namespace

void CompleteStatus(const kube::Resource& resource, Json& object) {
  static const auto& required = *new std::map<std::string, json::object>{
      {"nodes", NodeStatus()},
      {"services", {{"loadBalancer", json::object()}}},
      {"replicationcontrollers", Zeros({"replicas"})},
      {"replicasets.apps", Zeros({"replicas"})},
      {"statefulsets.apps", Zeros({"replicas", "availableReplicas"})},
      {"daemonsets.apps", Zeros({"currentNumberScheduled", "desiredNumberScheduled",
                                 "numberMisscheduled", "numberReady"})},
      {"poddisruptionbudgets.policy",
       Zeros({"currentHealthy", "desiredHealthy", "disruptionsAllowed", "expectedPods"})},
      {"volumeattachments.storage.k8s.io", {{"attached", false}}},
  };
  MakeObject(object.as_object(), "status");
  const auto it = required.find(resource.qualified());
  if (it == required.end()) return;
  EditObject(
      object.as_object(), "status",
      [](json::object& status, const json::object& members) {
        for (const auto& [member, value] : members) SetIfUnset(status, member, value);
      },
      it->second);
}

std::string_view PodQosClass(const Json& pod) {
  Ask ask;
  for (const char* list : {"containers", "initContainers"}) {
    const json::array* containers = kube::FindArray(pod, {"spec", list});
    if (containers == nullptr) continue;
    for (const Json& container : *containers) AddContainer(container, ask);
  }
  if (!ask.any) return "BestEffort";
  return ask.guaranteed ? "Guaranteed" : "Burstable";
}

void AlignPodIps(Json& pod) {
  json::object* status = kube::At(pod, {"status"}).if_object();
  if (status == nullptr) return;
  const std::string ip(StringAt(*status, "podIP"));
  const json::array* ips = kube::FindArray(pod, {"status", "podIPs"});
  const bool listed = ips != nullptr && !ips->empty();
  const std::string first(listed ? kube::FindString(ips->front(), {"ip"}) : "");
  if (ip.empty()) {
    if (listed) (*status)["podIP"] = first;
  } else if (!listed || first != ip) {
    (*status)["podIPs"] = json::array{json::object{{"ip", ip}}};
  }
}

void PreparePodCreate(Json& pod) {
  MergeLabelKeys(pod);
  json::object status{{"phase", "Pending"}, {"qosClass", PodQosClass(pod)}};
  const json::array* gates = kube::FindArray(pod, {"spec", "schedulingGates"});
  if (gates != nullptr && !gates->empty()) {
    status["conditions"] = json::array{json::object{
        {"type", "PodScheduled"},
        {"status", "False"},
        {"lastProbeTime", nullptr},
        {"lastTransitionTime", kube::FindString(pod, {"metadata", "creationTimestamp"})},
        {"reason", "SchedulingGated"},
        {"message", "Scheduling is blocked due to non-empty scheduling gates"}}};
  }
  kube::At(pod, {"status"}) = std::move(status);
}

void PreparePodUpdate(Json& pod, const Json& old) {
  // Older objects may lack it.
  const std::string_view before = kube::FindString(old, {"status", "qosClass"});
  kube::At(pod, {"status", "qosClass"}) = before.empty() ? PodQosClass(pod) : before;
}

void PrepareNamespaceCreate(Json& object) {
  kube::At(object, {"spec", "finalizers"}) = json::array{"kubernetes"};
  kube::At(object, {"status"}) = json::object{{"phase", "Active"}};
  const std::string name(kube::FindString(object, {"metadata", "name"}));
  SetLabel(object, "kubernetes.io/metadata.name", name);
}

void PrepareNamespaceUpdate(Json& object, const Json& old) {
  if (const Json* spec = kube::Find(old, {"spec"})) kube::At(object, {"spec"}) = *spec;
  const std::string name(kube::FindString(object, {"metadata", "name"}));
  SetLabel(object, "kubernetes.io/metadata.name", name);
}

void PrepareServiceUpdate(Json& object, const Json& old) {
  if (kube::FindString(object, {"spec", "type"}) == "ExternalName") return;
  json::object* spec = kube::At(object, {"spec"}).if_object();
  if (spec == nullptr) return;
  for (const char* field : {"clusterIP", "clusterIPs"}) {
    if (const Json* before = kube::Find(old, {"spec", field})) SetIfUnset(*spec, field, *before);
  }
}

void PreparePendingPhase(Json& object) {
  kube::At(object, {"status"}) = json::object{{"phase", "Pending"}};
}

void PrepareJobCreate(Json& object) {
  if (!kube::FindBool(object, {"spec", "manualSelector"})) SelectJobByUid(object);
  const json::object* labels = kube::FindObject(object, {"metadata", "labels"});
  const json::object* of_pods =
      kube::FindObject(object, {"spec", "template", "metadata", "labels"});
  if (of_pods == nullptr || (labels != nullptr && !labels->empty())) return;
  json::object copy = *of_pods;
  kube::At(object, {"metadata", "labels"}) = std::move(copy);
}

}  // namespace koord::apiserver
