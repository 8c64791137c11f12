#include <algorithm>
#include <initializer_list>
#include <utility>

#include "base/strings.h"
#include "kube/resources.h"
#include "localcluster/apiserver/registry/builtin_strategies.h"
#include "localcluster/apiserver/registry/registry.h"

namespace koord::apiserver {
namespace {

using Names = std::vector<std::string>;

const Names kAllVerbs{"create", "delete", "deletecollection", "get",
                      "list",   "patch",  "update",           "watch"};
const Names kCreateOnly{"create"};
const Names kCreateOrGet{"create", "get"};
const Names kReadOnly{"get", "list"};
const Names kReadAndChange{"get", "patch", "update"};
const Names kAll{"all"};
const Names kExtensions{"api-extensions"};

const kube::Resource kScale{"autoscaling", "v1", "", "Scale"};

// Collects what the table below says of one resource.
class Entry {
 public:
  Entry(kube::Resource resource, Names short_names = {}) {
    info_.singular = ToLower(resource.kind);
    info_.list_kind = resource.kind + "List";
    info_.short_names = std::move(short_names);
    info_.verbs = kAllVerbs;
    info_.type = kube::FindBuiltinType(resource.api_version(), resource.kind);
    info_.strategy = &BuiltinStrategy(resource);
    info_.resource = std::move(resource);
  }

  Entry& Categories(Names categories) {
    info_.categories = std::move(categories);
    return *this;
  }
  Entry& Singular(std::string name) {
    info_.singular = std::move(name);
    return *this;
  }
  Entry& Verbs(Names verbs) {
    info_.verbs = std::move(verbs);
    return *this;
  }
  Entry& Without(std::string_view verb) {
    std::erase(info_.verbs, verb);
    return *this;
  }
  Entry& Status() { return Own("status"); }
  Entry& Scale() { return Sub("scale", kScale, kReadAndChange); }
  // A subresource that speaks the resource's own kind.
  Entry& Own(std::string name, Names verbs = kReadAndChange) {
    return Sub(std::move(name), info_.resource, std::move(verbs));
  }
  Entry& Sub(std::string name, kube::Resource kind, Names verbs) {
    kind.resource = info_.resource.resource + "/" + name;
    info_.subresources.push_back({std::move(name), std::move(kind), std::move(verbs)});
    std::sort(info_.subresources.begin(), info_.subresources.end(),
              [](const Subresource& a, const Subresource& b) { return a.name < b.name; });
    return *this;
  }
  // "spec.nodeName" looks at member nodeName of spec.
  Entry& Field(std::string name, std::string otherwise = {}) {
    Names path;
    for (const std::string_view part : Split(name, '.')) path.emplace_back(part);
    return Field(std::move(name), std::move(path), std::move(otherwise));
  }
  Entry& Field(std::string name, Names path, std::string otherwise) {
    std::string indexed_as = Join(path, ".");
    info_.selectable_fields.push_back(
        {std::move(name), std::move(path), std::move(otherwise), std::move(indexed_as)});
    return *this;
  }
  Entry& StoredAs(const kube::Resource& other) {
    info_.storage_name = other.qualified();
    info_.storage_api_version = other.api_version();
    return *this;
  }

  ResourceInfoPtr Build() const { return std::make_shared<const ResourceInfo>(info_); }

 private:
  ResourceInfo info_;
};

// `involvedObject.` or `regarding.`, and the fields of the event itself.
Entry& EventFields(Entry& entry, const std::string& object, const std::string& component) {
  for (const char* field :
       {"kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"}) {
    entry.Field(object + "." + field, {"involvedObject", field}, "");
  }
  return entry.Field("reason")
      .Field(component, {"reportingComponent"}, "")
      .Field("source", {"source", "component"}, "")
      .Field("type");
}

std::vector<Entry> CoreEntries() {
  using namespace kube;
  const Resource eviction{"policy", "v1", "", "Eviction"};
  const Resource binding{"", "v1", "bindings", "Binding"};
  const Resource token{"authentication.k8s.io", "v1", "", "TokenRequest"};

  Entry events(kEvents, {"ev"});
  EventFields(events, "involvedObject", "reportingComponent");

  return {
      Entry(kPods, {"po"})
          .Categories(kAll)
          .Status()
          .Own("ephemeralcontainers")
          .Own("resize")
          .Own("log", {"get"})
          .Sub("attach", {"", "v1", "", "PodAttachOptions"}, kCreateOrGet)
          .Sub("exec", {"", "v1", "", "PodExecOptions"}, kCreateOrGet)
          .Sub("portforward", {"", "v1", "", "PodPortForwardOptions"}, kCreateOrGet)
          .Sub("binding", binding, kCreateOnly)
          .Sub("eviction", eviction, kCreateOnly)
          .Field("spec.nodeName")
          .Field("spec.host", {"spec", "nodeName"}, "")
          .Field("spec.restartPolicy")
          .Field("spec.schedulerName")
          .Field("spec.serviceAccountName")
          .Field("spec.hostNetwork", "false")
          .Field("status.phase")
          .Field("status.podIP")
          .Field("status.podIPs")
          .Field("status.nominatedNodeName"),
      Entry(kNodes, {"no"}).Status().Field("spec.unschedulable", "false"),
      Entry(kNamespaces, {"ns"})
          .Without("deletecollection")
          .Status()
          .Own("finalize", {"update"})
          .Field("status.phase"),
      Entry(kConfigMaps, {"cm"}),
      Entry(kSecrets).Field("type"),
      events,
      Entry(kServices, {"svc"})
          .Categories(kAll)
          .Status()
          .Field("spec.clusterIP")
          .Field("spec.type"),
      Entry(kServiceAccounts, {"sa"}).Sub("token", token, kCreateOnly),
      Entry(kPersistentVolumes, {"pv"}).Status(),
      Entry(kPersistentVolumeClaims, {"pvc"}).Status(),
      Entry({"", "v1", "resourcequotas", "ResourceQuota"}, {"quota"}).Status(),
      Entry({"", "v1", "limitranges", "LimitRange"}, {"limits"}),
      Entry(kReplicationControllers, {"rc"})
          .Categories(kAll)
          .Status()
          .Scale()
          .Field("status.replicas", "0"),
      Entry({"", "v1", "endpoints", "Endpoints"}, {"ep"}),
      Entry({"", "v1", "podtemplates", "PodTemplate"}),
      Entry(binding).Verbs(kCreateOnly),
  };
}

std::vector<Entry> WorkloadEntries() {
  using namespace kube;
  return {
      Entry(kDeployments, {"deploy"}).Categories(kAll).Status().Scale(),
      Entry(kReplicaSets, {"rs"}).Categories(kAll).Status().Scale(),
      Entry(kStatefulSets, {"sts"}).Categories(kAll).Status().Scale(),
      Entry(kDaemonSets, {"ds"}).Categories(kAll).Status(),
      Entry(kControllerRevisions),
      Entry(kJobs).Categories(kAll).Status().Field("status.successful", {"status", "succeeded"},
                                                   "0"),
      Entry(kCronJobs, {"cj"}).Categories(kAll).Status(),
      Entry(kPodDisruptionBudgets, {"pdb"}).Status(),
      Entry(kPriorityClasses, {"pc"}),
      Entry(kLeases),
  };
}

std::vector<Entry> StorageEntries() {
  using namespace kube;
  return {
      Entry(kStorageClasses, {"sc"}),
      Entry(kCsiNodes),
      Entry({"storage.k8s.io", "v1", "csidrivers", "CSIDriver", false}),
      Entry({"storage.k8s.io", "v1", "csistoragecapacities", "CSIStorageCapacity"}),
      Entry({"storage.k8s.io", "v1", "volumeattachments", "VolumeAttachment", false}).Status(),
  };
}

std::vector<Entry> DeviceEntries() {
  std::vector<Entry> entries;
  for (const char* version : {"v1", "v1beta1"}) {
    const auto add = [&](std::string plural, std::string kind, bool namespaced) -> Entry& {
      const kube::Resource resource{"resource.k8s.io", version, std::move(plural), std::move(kind),
                                    namespaced};
      kube::Resource stored = resource;
      stored.version = "v1";
      entries.push_back(Entry(resource).StoredAs(stored));
      return entries.back();
    };
    add("deviceclasses", "DeviceClass", false);
    add("resourceslices", "ResourceSlice", false).Field("spec.nodeName").Field("spec.driver");
    add("resourceclaims", "ResourceClaim", true).Status();
    add("resourceclaimtemplates", "ResourceClaimTemplate", true);
  }
  return entries;
}

std::vector<Entry> PolicyEntries() {
  using namespace kube;
  const std::string rbac = "rbac.authorization.k8s.io";
  const std::string authn = "authentication.k8s.io";
  const std::string authz = "authorization.k8s.io";
  const std::string metrics = "metrics.k8s.io";

  Entry events(kEventsV1, {"ev"});
  EventFields(events, "regarding", "reportingController").StoredAs(kEvents);

  return {
      events,
      Entry(kMutatingWebhookConfigurations).Categories(kExtensions),
      Entry(kValidatingWebhookConfigurations).Categories(kExtensions),
      Entry(kCustomResourceDefinitions, {"crd", "crds"}).Categories(kExtensions).Status(),
      // Not "nodemetrics": whoever says that means Koordinator's.
      Entry({metrics, "v1beta1", "nodes", "NodeMetrics", false}).Singular("node").Verbs(kReadOnly),
      Entry({metrics, "v1beta1", "pods", "PodMetrics"}).Singular("pod").Verbs(kReadOnly),
      Entry({rbac, "v1", "roles", "Role"}),
      Entry({rbac, "v1", "rolebindings", "RoleBinding"}),
      Entry({rbac, "v1", "clusterroles", "ClusterRole", false}),
      Entry({rbac, "v1", "clusterrolebindings", "ClusterRoleBinding", false}),
      Entry({authn, "v1", "tokenreviews", "TokenReview", false}).Verbs(kCreateOnly),
      Entry({authn, "v1", "selfsubjectreviews", "SelfSubjectReview", false}).Verbs(kCreateOnly),
      Entry({authz, "v1", "subjectaccessreviews", "SubjectAccessReview", false}).Verbs(kCreateOnly),
      Entry({authz, "v1", "selfsubjectaccessreviews", "SelfSubjectAccessReview", false})
          .Verbs(kCreateOnly),
      Entry({authz, "v1", "selfsubjectrulesreviews", "SelfSubjectRulesReview", false})
          .Verbs(kCreateOnly),
      Entry({authz, "v1", "localsubjectaccessreviews", "LocalSubjectAccessReview"})
          .Verbs(kCreateOnly),
  };
}

}  // namespace

std::vector<ResourceInfoPtr> BuiltinResources() {
  std::vector<ResourceInfoPtr> resources;
  for (const auto& entries :
       {CoreEntries(), WorkloadEntries(), StorageEntries(), DeviceEntries(), PolicyEntries()}) {
    for (const Entry& entry : entries) resources.push_back(entry.Build());
  }
  return resources;
}

}  // namespace koord::apiserver
