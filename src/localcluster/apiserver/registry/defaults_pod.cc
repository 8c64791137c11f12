#include <string>

#include "localcluster/apiserver/registry/defaults.h"
#include "localcluster/apiserver/registry/json_edit.h"

namespace koord::apiserver {
namespace {

constexpr int kFileMode = 420;  // 0644

// An image without a tag, or with the tag `latest`, is pulled every time.
std::string_view PullPolicyFor(std::string_view image) {
  if (image.find('@') != std::string_view::npos) return "IfNotPresent";
  const size_t slash = image.rfind('/');
  const std::string_view last = slash == std::string_view::npos ? image : image.substr(slash + 1);
  const size_t colon = last.find(':');
  const bool latest = colon == std::string_view::npos || last.substr(colon + 1) == "latest";
  return latest ? "Always" : "IfNotPresent";
}

void DefaultHttpGet(json::object& handler) {
  if (json::object* http = ObjectAt(handler, "httpGet")) {
    SetIfUnset(*http, "path", "/");
    SetIfUnset(*http, "scheme", "HTTP");
  }
}

void DefaultProbe(json::object& container, std::string_view name) {
  json::object* probe = ObjectAt(container, name);
  if (probe == nullptr) return;
  const auto positive = [&](std::string_view field, int value) {
    const Json* found = probe->if_contains(field);
    if (found == nullptr || found->is_null() || *found == 0) (*probe)[field] = value;
  };
  DefaultHttpGet(*probe);
  if (json::object* grpc = ObjectAt(*probe, "grpc")) {
    if (!grpc->contains("service")) (*grpc)["service"] = "";
  }
  positive("timeoutSeconds", 1);
  positive("periodSeconds", 10);
  positive("successThreshold", 1);
  positive("failureThreshold", 3);
}

void DefaultLifecycle(json::object& container) {
  json::object* lifecycle = ObjectAt(container, "lifecycle");
  if (lifecycle == nullptr) return;
  for (const char* hook : {"postStart", "preStop"}) {
    if (json::object* handler = ObjectAt(*lifecycle, hook)) DefaultHttpGet(*handler);
  }
}

void DefaultContainer(json::object& container, bool host_network) {
  SetIfUnset(container, "terminationMessagePath", "/dev/termination-log");
  SetIfUnset(container, "terminationMessagePolicy", "File");
  if (IsUnset(container, "imagePullPolicy")) {
    container["imagePullPolicy"] = PullPolicyFor(StringAt(container, "image"));
  }
  SetIfUnset(container, "resources", json::object());
  ForEachObject(container, "ports", [&](json::object& port) {
    SetIfUnset(port, "protocol", "TCP");
    if (const Json* number = port.if_contains("containerPort"); host_network && number != nullptr) {
      const Json copy = *number;
      SetIfUnset(port, "hostPort", copy);
    }
  });
  ForEachObject(container, "env", [](json::object& variable) {
    json::object* source = ObjectAt(variable, "valueFrom");
    json::object* field = source == nullptr ? nullptr : ObjectAt(*source, "fieldRef");
    if (field != nullptr) SetIfUnset(*field, "apiVersion", "v1");
  });
  for (const char* probe : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    DefaultProbe(container, probe);
  }
  DefaultLifecycle(container);
}

void DefaultFieldRefs(json::object& parent) {
  ForEachObject(parent, "items", [](json::object& item) {
    if (json::object* field = ObjectAt(item, "fieldRef")) SetIfUnset(*field, "apiVersion", "v1");
  });
}

void DefaultVolume(json::object& volume) {
  if (volume.size() == 1 && volume.contains("name")) volume["emptyDir"] = json::object();
  for (const char* source : {"secret", "configMap", "downwardAPI", "projected"}) {
    json::object* details = ObjectAt(volume, source);
    if (details == nullptr) continue;
    SetIfUnset(*details, "defaultMode", kFileMode);
    DefaultFieldRefs(*details);
    ForEachObject(*details, "sources", [](json::object& projection) {
      if (json::object* token = ObjectAt(projection, "serviceAccountToken")) {
        SetIfUnset(*token, "expirationSeconds", 3600);
      }
      if (json::object* downward = ObjectAt(projection, "downwardAPI")) DefaultFieldRefs(*downward);
    });
  }
  if (json::object* host_path = ObjectAt(volume, "hostPath")) {
    if (!host_path->contains("type")) (*host_path)["type"] = "";
  }
  json::object* ephemeral = ObjectAt(volume, "ephemeral");
  json::object* claim =
      ephemeral == nullptr ? nullptr : ObjectAt(*ephemeral, "volumeClaimTemplate");
  json::object* spec = claim == nullptr ? nullptr : ObjectAt(*claim, "spec");
  if (spec != nullptr) SetIfUnset(*spec, "volumeMode", "Filesystem");
}

// What is limited but not requested is requested in full.
void RequestLimits(json::object& container) {
  json::object* resources = ObjectAt(container, "resources");
  json::object* limits = resources == nullptr ? nullptr : ObjectAt(*resources, "limits");
  if (limits == nullptr || limits->empty()) return;
  json::object* requests = MakeObject(*resources, "requests");
  if (requests == nullptr) return;
  for (const auto& [name, quantity] : *limits) {
    if (!requests->contains(name)) requests->emplace(name, quantity);
  }
}

}  // namespace

void DefaultPodTemplateSpec(json::object& spec) {
  SetIfUnset(spec, "restartPolicy", "Always");
  SetIfUnset(spec, "dnsPolicy", "ClusterFirst");
  SetIfUnset(spec, "schedulerName", "default-scheduler");
  SetIfUnset(spec, "terminationGracePeriodSeconds", 30);
  SetIfUnset(spec, "securityContext", json::object());
  const Json* flag = spec.if_contains("hostNetwork");
  const bool host_network = flag != nullptr && *flag == true;
  for (const char* list : {"containers", "initContainers", "ephemeralContainers"}) {
    ForEachObject(spec, list,
                  [&](json::object& container) { DefaultContainer(container, host_network); });
  }
  ForEachObject(spec, "volumes", DefaultVolume);
  // The old name of the field is kept in step.
  std::string account(StringAt(spec, "serviceAccountName"));
  if (account.empty()) account = StringAt(spec, "serviceAccount");
  if (!account.empty()) {
    spec["serviceAccountName"] = account;
    spec["serviceAccount"] = account;
  }
}

void DefaultPod(Json& pod) {
  Json* value = kube::Find(pod, {"spec"});
  json::object* spec = value == nullptr ? nullptr : value->if_object();
  if (spec == nullptr) return;
  DefaultPodTemplateSpec(*spec);
  SetIfUnset(*spec, "enableServiceLinks", true);
  for (const char* list : {"containers", "initContainers"}) {
    ForEachObject(*spec, list, RequestLimits);
  }
}

}  // namespace koord::apiserver
