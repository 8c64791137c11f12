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
  EditObject(handler, "httpGet", [](json::object& http) {
    SetIfUnset(http, "path", "/");
    SetIfUnset(http, "scheme", "HTTP");
  });
}

void SetIfNotPositive(json::object& parent, std::string_view field, int value) {
  const Json* found = parent.if_contains(field);
  if (found == nullptr || found->is_null() || *found == 0) parent[field] = value;
}

// An empty text is a value here.
void SetIfMissing(json::object& parent, std::string_view field) {
  if (!parent.contains(field)) parent[field] = "";
}

void DefaultProbe(json::object& probe) {
  DefaultHttpGet(probe);
  EditObject(probe, "grpc", [](json::object& grpc) { SetIfMissing(grpc, "service"); });
  SetIfNotPositive(probe, "timeoutSeconds", 1);
  SetIfNotPositive(probe, "periodSeconds", 10);
  SetIfNotPositive(probe, "successThreshold", 1);
  SetIfNotPositive(probe, "failureThreshold", 3);
}

void DefaultLifecycle(json::object& lifecycle) {
  for (const char* hook : {"postStart", "preStop"}) EditObject(lifecycle, hook, DefaultHttpGet);
}

void DefaultContainerPort(json::object& port, bool host_network) {
  SetIfUnset(port, "protocol", "TCP");
  if (const Json* number = port.if_contains("containerPort"); host_network && number != nullptr) {
    const Json copy = *number;
    SetIfUnset(port, "hostPort", copy);
  }
}

void DefaultFieldRef(json::object& parent) {
  EditObject(parent, "fieldRef",
             [](json::object& field) { SetIfUnset(field, "apiVersion", "v1"); });
}

void DefaultContainer(json::object& container, bool host_network) {
  container.reserve(container.size() + 4);  // each of the next four would make it grow by itself
  SetIfUnset(container, "terminationMessagePath", "/dev/termination-log");
  SetIfUnset(container, "terminationMessagePolicy", "File");
  if (IsUnset(container, "imagePullPolicy")) {
    container["imagePullPolicy"] = PullPolicyFor(StringAt(container, "image"));
  }
  SetIfUnset(container, "resources", json::object());
  ForEachObject(container, "ports", DefaultContainerPort, host_network);
  ForEachObject(container, "env",
                [](json::object& variable) { EditObject(variable, "valueFrom", DefaultFieldRef); });
  for (const char* probe : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    EditObject(container, probe, DefaultProbe);
  }
  EditObject(container, "lifecycle", DefaultLifecycle);
}

void DefaultFieldRefs(json::object& parent) { ForEachObject(parent, "items", DefaultFieldRef); }

void DefaultProjection(json::object& projection) {
  EditObject(projection, "serviceAccountToken",
             [](json::object& token) { SetIfUnset(token, "expirationSeconds", 3600); });
  EditObject(projection, "downwardAPI", DefaultFieldRefs);
}

void DefaultVolume(json::object& volume) {
  if (volume.size() == 1 && volume.contains("name")) volume["emptyDir"] = json::object();
  for (const char* source : {"secret", "configMap", "downwardAPI", "projected"}) {
    EditObject(volume, source, [](json::object& details) {
      SetIfUnset(details, "defaultMode", kFileMode);
      DefaultFieldRefs(details);
      ForEachObject(details, "sources", DefaultProjection);
    });
  }
  EditObject(volume, "hostPath", [](json::object& host_path) { SetIfMissing(host_path, "type"); });
  EditObject(volume, "ephemeral", [](json::object& ephemeral) {
    EditObject(ephemeral, "volumeClaimTemplate", [](json::object& claim) {
      EditObject(claim, "spec",
                 [](json::object& spec) { SetIfUnset(spec, "volumeMode", "Filesystem"); });
    });
  });
}

// What is limited but not requested is requested in full.
void RequestLimits(json::object& container) {
  EditObject(container, "resources", [](json::object& resources) {
    const Json* found = resources.if_contains("limits");
    // A copy: it moves if `requests` is put beside it.
    const Json limits = found == nullptr ? Json() : *found;
    if (!limits.is_object() || limits.get_object().empty()) return;
    MakeObject(
        resources, "requests",
        [](json::object& requests, const json::object& limits) {
          for (const auto& [name, quantity] : limits) requests.emplace(name, quantity);
        },
        limits.get_object());
  });
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
    ForEachObject(spec, list, DefaultContainer, host_network);
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
  if (!pod.is_object()) return;
  EditObject(pod.get_object(), "spec", [](json::object& spec) {
    DefaultPodTemplateSpec(spec);
    SetIfUnset(spec, "enableServiceLinks", true);
    for (const char* list : {"containers", "initContainers"}) {
      ForEachObject(spec, list, RequestLimits);
    }
  });
}

}  // namespace koord::apiserver
