#include "kube/schema/type.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace koord::kube::type_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const Type::Field* Walk(const Type* type, std::initializer_list<std::string_view> path) {
  const Type::Field* field = nullptr;
  for (const std::string_view name : path) {
    if (field != nullptr) type = field->type;
    while (type->element != nullptr) type = type->element;
    field = type->Find(name);
    if (field == nullptr) return nullptr;
  }
  return field;
}

TEST(TypeTable, KnowsEveryServedKind) {
  const std::pair<const char*, const char*> kinds[] = {
      {"v1", "Pod"},
      {"v1", "Node"},
      {"v1", "Namespace"},
      {"v1", "ConfigMap"},
      {"v1", "Secret"},
      {"v1", "Event"},
      {"v1", "Service"},
      {"v1", "ServiceAccount"},
      {"v1", "PersistentVolume"},
      {"v1", "PersistentVolumeClaim"},
      {"v1", "ResourceQuota"},
      {"v1", "LimitRange"},
      {"v1", "ReplicationController"},
      {"v1", "Endpoints"},
      {"v1", "PodTemplate"},
      {"v1", "Binding"},
      {"v1", "Status"},
      {"apps/v1", "Deployment"},
      {"apps/v1", "ReplicaSet"},
      {"apps/v1", "StatefulSet"},
      {"apps/v1", "DaemonSet"},
      {"apps/v1", "ControllerRevision"},
      {"batch/v1", "Job"},
      {"batch/v1", "CronJob"},
      {"policy/v1", "PodDisruptionBudget"},
      {"policy/v1", "Eviction"},
      {"autoscaling/v1", "Scale"},
      {"scheduling.k8s.io/v1", "PriorityClass"},
      {"coordination.k8s.io/v1", "Lease"},
      {"events.k8s.io/v1", "Event"},
      {"storage.k8s.io/v1", "StorageClass"},
      {"storage.k8s.io/v1", "CSINode"},
      {"storage.k8s.io/v1", "CSIDriver"},
      {"storage.k8s.io/v1", "CSIStorageCapacity"},
      {"storage.k8s.io/v1", "VolumeAttachment"},
      {"admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration"},
      {"admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"},
      {"apiextensions.k8s.io/v1", "CustomResourceDefinition"},
      {"rbac.authorization.k8s.io/v1", "Role"},
      {"rbac.authorization.k8s.io/v1", "RoleBinding"},
      {"rbac.authorization.k8s.io/v1", "ClusterRole"},
      {"rbac.authorization.k8s.io/v1", "ClusterRoleBinding"},
      {"authentication.k8s.io/v1", "TokenReview"},
      {"authentication.k8s.io/v1", "TokenRequest"},
      {"authentication.k8s.io/v1", "SelfSubjectReview"},
      {"authorization.k8s.io/v1", "SubjectAccessReview"},
      {"authorization.k8s.io/v1", "SelfSubjectAccessReview"},
      {"authorization.k8s.io/v1", "SelfSubjectRulesReview"},
      {"authorization.k8s.io/v1", "LocalSubjectAccessReview"},
      {"metrics.k8s.io/v1beta1", "NodeMetrics"},
  };
  for (const auto& [version, kind] : kinds) {
    const Type* type = FindBuiltinType(version, kind);
    ASSERT_NE(type, nullptr) << version << " " << kind;
    EXPECT_EQ(type->name, kind);
    EXPECT_FALSE(type->description.empty()) << version << " " << kind;
    EXPECT_EQ(type->fields[0].name, "apiVersion");
    EXPECT_EQ(type->fields[1].name, "kind");
    EXPECT_NE(type->Find("metadata"), nullptr);
  }
}

TEST(TypeTable, UnknownKindsHaveNoType) {
  EXPECT_EQ(FindBuiltinType("v1", "Deployment"), nullptr);
  EXPECT_EQ(FindBuiltinType("v1", "PodSpec"), nullptr);
  EXPECT_EQ(FindBuiltinType("resource.k8s.io/v1", "ResourceClaim"), nullptr);
  EXPECT_EQ(FindBuiltinType("scheduling.koordinator.sh/v1alpha1", "Reservation"), nullptr);
  EXPECT_EQ(FindBuiltinType("", ""), nullptr);
}

TEST(TypeTable, ListsAndDeleteOptions) {
  const Type* list = FindBuiltinType("apps/v1", "DeploymentList");
  ASSERT_NE(list, nullptr);
  EXPECT_EQ(list->Find("items")->type->element, FindBuiltinType("apps/v1", "Deployment"));
  EXPECT_EQ(list->openapi_name, "io.k8s.api.apps.v1.DeploymentList");
  const Type* options = FindBuiltinType("policy/v1", "DeleteOptions");
  ASSERT_NE(options, nullptr);
  EXPECT_EQ(options, FindBuiltinType("v1", "DeleteOptions"));
  EXPECT_EQ(options->Find("gracePeriodSeconds")->number, 1u);
}

TEST(TypeTable, NumbersTypesAndPresence) {
  const Type* pod = FindBuiltinType("v1", "Pod");
  EXPECT_EQ(Walk(pod, {"spec"})->number, 2u);
  EXPECT_EQ(Walk(pod, {"spec"})->type->openapi_name, "io.k8s.api.core.v1.PodSpec");
  EXPECT_EQ(Walk(pod, {"spec", "volumes"})->number, 1u);
  EXPECT_EQ(Walk(pod, {"spec", "tolerations"})->number, 22u);
  EXPECT_EQ(Walk(pod, {"metadata", "managedFields"})->number, 17u);
  EXPECT_TRUE(Walk(pod, {"spec", "priority"})->presence);
  EXPECT_FALSE(Walk(pod, {"spec", "hostNetwork"})->presence);
  EXPECT_TRUE(Walk(pod, {"spec", "containers"})->required);
  EXPECT_FALSE(Walk(pod, {"spec", "nodeName"})->required);
  EXPECT_EQ(Walk(pod, {"spec", "containers", "resources", "limits"})->type->element->kind,
            Type::Kind::kQuantity);
  EXPECT_EQ(Walk(pod, {"metadata", "creationTimestamp"})->type->kind, Type::Kind::kTime);
  EXPECT_EQ(Walk(pod, {"apiVersion"})->number, 0u);
  EXPECT_EQ(Walk(FindBuiltinType("apps/v1", "StatefulSet"), {"status", "collisionCount"})->number,
            9u);
}

TEST(TypeTable, MembersOfInlinedMessagesBelongToTheParent) {
  const Type* pod = FindBuiltinType("v1", "Pod");
  EXPECT_NE(Walk(pod, {"spec", "volumes", "emptyDir", "sizeLimit"}), nullptr);
  EXPECT_EQ(Walk(pod, {"spec", "volumes", "volumeSource"}), nullptr);
  EXPECT_EQ(Walk(pod, {"spec", "volumes", "emptyDir"})->number, 0u);
  EXPECT_NE(Walk(pod, {"spec", "containers", "livenessProbe", "httpGet", "port"}), nullptr);
  EXPECT_EQ(Walk(pod, {"spec", "ephemeralContainers", "env"})->patch_merge_key, "name");
  const Type* volume = Walk(pod, {"spec", "volumes"})->type->element;
  ASSERT_EQ(volume->inlined.size(), 1u);
  EXPECT_EQ(volume->inlined[0].number, 2u);
}

TEST(TypeTable, TypesOfTheSameNameStayApart) {
  const Type* core = FindBuiltinType("v1", "Event");
  const Type* events = FindBuiltinType("events.k8s.io/v1", "Event");
  EXPECT_EQ(core->Find("series")->type->openapi_name, "io.k8s.api.core.v1.EventSeries");
  EXPECT_EQ(events->Find("series")->type->openapi_name, "io.k8s.api.events.v1.EventSeries");
  EXPECT_EQ(events->Find("note")->number, 10u);
  EXPECT_EQ(core->Find("note"), nullptr);
}

struct MergeCase {
  const char* version;
  const char* kind;
  std::vector<std::string> path;
  const char* key;
};

TEST(TypeTable, StrategicMergeKeys) {
  const MergeCase cases[] = {
      {"v1", "Pod", {"metadata", "ownerReferences"}, "uid"},
      {"v1", "Pod", {"metadata", "finalizers"}, ""},
      {"v1", "Pod", {"spec", "volumes"}, "name"},
      {"v1", "Pod", {"spec", "initContainers"}, "name"},
      {"v1", "Pod", {"spec", "ephemeralContainers"}, "name"},
      {"v1", "Pod", {"spec", "imagePullSecrets"}, "name"},
      {"v1", "Pod", {"spec", "hostAliases"}, "ip"},
      {"v1", "Pod", {"spec", "topologySpreadConstraints"}, "topologyKey"},
      {"v1", "Pod", {"spec", "schedulingGates"}, "name"},
      {"v1", "Pod", {"spec", "resourceClaims"}, "name"},
      {"v1", "Pod", {"spec", "containers", "ports"}, "containerPort"},
      {"v1", "Pod", {"spec", "containers", "env"}, "name"},
      {"v1", "Pod", {"spec", "containers", "volumeMounts"}, "mountPath"},
      {"v1", "Pod", {"spec", "containers", "volumeDevices"}, "devicePath"},
      {"v1", "Pod", {"status", "conditions"}, "type"},
      {"v1", "Pod", {"status", "podIPs"}, "ip"},
      {"v1", "Pod", {"status", "hostIPs"}, "ip"},
      {"v1", "Pod", {"status", "resourceClaimStatuses"}, "name"},
      {"v1", "Pod", {"status", "containerStatuses", "volumeMounts"}, "mountPath"},
      {"v1", "Pod", {"status", "containerStatuses", "allocatedResourcesStatus"}, "name"},
      {"v1", "Node", {"spec", "podCIDRs"}, ""},
      {"v1", "Node", {"status", "conditions"}, "type"},
      {"v1", "Node", {"status", "addresses"}, "type"},
      {"v1", "Namespace", {"status", "conditions"}, "type"},
      {"v1", "PersistentVolumeClaim", {"status", "conditions"}, "type"},
      {"v1", "ReplicationController", {"status", "conditions"}, "type"},
      {"v1", "Service", {"status", "conditions"}, "type"},
      {"v1", "Service", {"spec", "ports"}, "port"},
      {"v1", "ServiceAccount", {"secrets"}, "name"},
      {"apps/v1", "Deployment", {"status", "conditions"}, "type"},
      {"apps/v1", "ReplicaSet", {"status", "conditions"}, "type"},
      {"apps/v1", "StatefulSet", {"status", "conditions"}, "type"},
      {"apps/v1", "DaemonSet", {"status", "conditions"}, "type"},
      {"batch/v1", "Job", {"status", "conditions"}, "type"},
      {"policy/v1", "PodDisruptionBudget", {"status", "conditions"}, "type"},
      {"admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", {"webhooks"}, "name"},
      {"admissionregistration.k8s.io/v1",
       "ValidatingWebhookConfiguration",
       {"webhooks", "matchConditions"},
       "name"},
      {"storage.k8s.io/v1", "CSINode", {"spec", "drivers"}, "name"},
  };
  for (const MergeCase& c : cases) {
    const Type::Field* field = nullptr;
    const Type* type = FindBuiltinType(c.version, c.kind);
    for (const std::string& name : c.path) {
      field = Walk(type, {name});
      ASSERT_NE(field, nullptr) << c.kind << " " << name;
      type = field->type;
    }
    EXPECT_TRUE(field->patch_merge) << c.kind << " " << field->name;
    EXPECT_EQ(field->patch_merge_key, c.key) << c.kind << " " << field->name;
  }
}

TEST(TypeTable, AtomicLists) {
  const Type* pod = FindBuiltinType("v1", "Pod");
  for (const auto& path : std::initializer_list<std::initializer_list<std::string_view>>{
           {"spec", "tolerations"},
           {"spec", "containers", "args"},
           {"spec", "containers", "command"},
           {"spec", "containers", "envFrom"},
           {"status", "containerStatuses"}}) {
    EXPECT_FALSE(Walk(pod, path)->patch_merge);
    EXPECT_EQ(Walk(pod, path)->list_kind, Type::ListKind::kAtomic);
  }
  EXPECT_FALSE(Walk(FindBuiltinType("v1", "Node"), {"spec", "taints"})->patch_merge);
  EXPECT_FALSE(Walk(FindBuiltinType("v1", "ServiceAccount"), {"imagePullSecrets"})->patch_merge);
}

TEST(TypeTable, OtherPatchStrategies) {
  const Type* pod = FindBuiltinType("v1", "Pod");
  EXPECT_TRUE(Walk(pod, {"spec", "volumes"})->patch_retain_keys);
  EXPECT_TRUE(Walk(pod, {"spec", "resourceClaims"})->patch_retain_keys);
  EXPECT_TRUE(Walk(pod, {"status", "resourceClaimStatuses"})->patch_retain_keys);
  EXPECT_FALSE(Walk(pod, {"spec", "containers"})->patch_retain_keys);
  EXPECT_TRUE(
      Walk(FindBuiltinType("apps/v1", "Deployment"), {"spec", "strategy"})->patch_retain_keys);
  EXPECT_TRUE(Walk(FindBuiltinType("policy/v1", "PodDisruptionBudget"), {"spec", "selector"})
                  ->patch_replace);
  EXPECT_FALSE(Walk(FindBuiltinType("apps/v1", "Deployment"), {"spec", "selector"})->patch_replace);
}

TEST(TypeTable, ServerSideApplyKeys) {
  const Type* pod = FindBuiltinType("v1", "Pod");
  EXPECT_THAT(Walk(pod, {"spec", "containers", "ports"})->list_keys,
              ElementsAre("containerPort", "protocol"));
  EXPECT_THAT(Walk(pod, {"spec", "topologySpreadConstraints"})->list_keys,
              ElementsAre("topologyKey", "whenUnsatisfiable"));
  EXPECT_THAT(Walk(FindBuiltinType("v1", "Service"), {"spec", "ports"})->list_keys,
              ElementsAre("port", "protocol"));
  EXPECT_THAT(Walk(pod, {"status", "conditions"})->list_keys, ElementsAre("type"));
  EXPECT_EQ(Walk(pod, {"metadata", "finalizers"})->list_kind, Type::ListKind::kSet);
  // Patched by key, but several addresses may have the same type.
  const Type::Field* addresses = Walk(FindBuiltinType("v1", "Node"), {"status", "addresses"});
  EXPECT_EQ(addresses->list_kind, Type::ListKind::kAtomic);
  EXPECT_THAT(addresses->list_keys, IsEmpty());
}

TEST(TypeTable, ValuesOwnedAsAWhole) {
  const Type* pod = FindBuiltinType("v1", "Pod");
  EXPECT_TRUE(Walk(pod, {"spec", "nodeSelector"})->type->atomic);
  EXPECT_FALSE(Walk(pod, {"metadata", "labels"})->type->atomic);
  EXPECT_TRUE(Walk(FindBuiltinType("apps/v1", "Deployment"), {"spec", "selector"})->type->atomic);
  EXPECT_TRUE(Walk(FindBuiltinType("v1", "Event"), {"involvedObject"})->type->atomic);
  EXPECT_FALSE(Walk(pod, {"spec"})->type->atomic);
}

TEST(TypeTable, EveryFieldOfEveryTypeIsFound) {
  std::set<const Type*> seen;
  std::vector<const Type*> open;
  for (const char* kind : {"Pod", "Node", "PersistentVolume"}) {
    open.push_back(FindBuiltinType("v1", kind));
  }
  open.push_back(FindBuiltinType("apiextensions.k8s.io/v1", "CustomResourceDefinition"));
  while (!open.empty()) {
    const Type* type = open.back();
    open.pop_back();
    if (type == nullptr || !seen.insert(type).second) continue;
    open.push_back(type->element);
    std::set<std::string> names;
    for (const Type::Field& field : type->fields) {
      EXPECT_EQ(type->Find(field.name), &field) << type->name << "." << field.name;
      EXPECT_TRUE(names.insert(field.name).second) << type->name << "." << field.name;
      EXPECT_EQ(type->Find(field.name + "x"), nullptr);
      open.push_back(field.type);
    }
    EXPECT_EQ(type->Find(""), nullptr);
  }
  EXPECT_GT(seen.size(), 100u);
}

}  // namespace
}  // namespace koord::kube::type_test
