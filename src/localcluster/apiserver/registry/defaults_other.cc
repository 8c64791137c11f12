#include "base/strings.h"
#include "localcluster/apiserver/registry/defaults.h"
#include "localcluster/apiserver/registry/json_edit.h"

namespace koord::apiserver {
namespace {

constexpr std::string_view kRbacGroup = "rbac.authorization.k8s.io";

template <class Edit>
void EditSpec(Json& object, Edit edit) {
  if (object.is_object()) EditObject(object.get_object(), "spec", edit);
}

void DefaultServicePort(json::object& port) {
  SetIfUnset(port, "protocol", "TCP");
  const Json* target = port.if_contains("targetPort");
  const bool unset = target == nullptr || target->is_null() || *target == 0 || *target == "";
  if (const Json* number = port.if_contains("port"); unset && number != nullptr) {
    const Json copy = *number;
    port["targetPort"] = copy;
  }
}

}  // namespace

void DefaultSpec(Json& object) {
  if (json::object* root = object.if_object()) MakeObject(*root, "spec");
}

void DefaultSecret(Json& object) {
  json::object* root = object.if_object();
  if (root == nullptr) return;
  SetIfUnset(*root, "type", "Opaque");
  // Plain text is a convenience for writers; what is kept is base64.
  const json::object plain = TakeObject(*root, "stringData");
  if (plain.empty()) return;
  MakeObject(
      *root, "data",
      [](json::object& data, const json::object& plain) {
        for (const auto& [key, text] : plain) {
          if (text.is_string()) data[key] = Base64Encode(std::string_view(text.get_string()));
        }
      },
      plain);
}

void DefaultService(Json& object) {
  EditSpec(object, [](json::object& spec) {
    SetIfUnset(spec, "type", "ClusterIP");
    SetIfUnset(spec, "sessionAffinity", "None");
    ForEachObject(spec, "ports", DefaultServicePort);
    const std::string type(StringAt(spec, "type"));
    if (type == "ExternalName") return;
    SetIfUnset(spec, "internalTrafficPolicy", "Cluster");
    SetIfUnset(spec, "ipFamilies", json::array{"IPv4"});
    SetIfUnset(spec, "ipFamilyPolicy", "SingleStack");
    if (type == "NodePort" || type == "LoadBalancer") {
      SetIfUnset(spec, "externalTrafficPolicy", "Cluster");
    }
    if (type == "LoadBalancer") SetIfUnset(spec, "allocateLoadBalancerNodePorts", true);
  });
}

void DefaultEndpoints(Json& object) {
  json::object* root = object.if_object();
  if (root == nullptr) return;
  ForEachObject(*root, "subsets", [](json::object& subset) {
    ForEachObject(subset, "ports", [](json::object& port) { SetIfUnset(port, "protocol", "TCP"); });
  });
}

void DefaultPersistentVolume(Json& object) {
  EditSpec(object, [](json::object& spec) {
    SetIfUnset(spec, "persistentVolumeReclaimPolicy", "Retain");
    SetIfUnset(spec, "volumeMode", "Filesystem");
    EditObject(spec, "hostPath", [](json::object& host_path) {
      if (!host_path.contains("type")) host_path["type"] = "";
    });
  });
}

void DefaultPersistentVolumeClaim(Json& object) {
  EditSpec(object, [](json::object& spec) { SetIfUnset(spec, "volumeMode", "Filesystem"); });
}

void DefaultPriorityClass(Json& object) {
  if (json::object* root = object.if_object()) {
    SetIfUnset(*root, "preemptionPolicy", "PreemptLowerPriority");
  }
}

void DefaultStorageClass(Json& object) {
  if (json::object* root = object.if_object()) {
    SetIfUnset(*root, "reclaimPolicy", "Delete");
    SetIfUnset(*root, "volumeBindingMode", "Immediate");
  }
}

void DefaultCsiDriver(Json& object) {
  EditSpec(object, [](json::object& spec) {
    SetIfUnset(spec, "attachRequired", true);
    for (const char* flag :
         {"podInfoOnMount", "storageCapacity", "requiresRepublish", "seLinuxMount"}) {
      SetIfUnset(spec, flag, false);
    }
    SetIfUnset(spec, "fsGroupPolicy", "ReadWriteOnceWithFSType");
    SetIfUnset(spec, "volumeLifecycleModes", json::array{"Persistent"});
  });
}

void DefaultRoleBinding(Json& object) {
  json::object* root = object.if_object();
  if (root == nullptr) return;
  EditObject(*root, "roleRef",
             [](json::object& role) { SetIfUnset(role, "apiGroup", kRbacGroup); });
  ForEachObject(*root, "subjects", [](json::object& subject) {
    const std::string_view kind = StringAt(subject, "kind");
    if (kind == "User" || kind == "Group") SetIfUnset(subject, "apiGroup", kRbacGroup);
  });
}

}  // namespace koord::apiserver
