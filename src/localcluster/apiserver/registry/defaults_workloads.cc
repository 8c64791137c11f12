#include "localcluster/apiserver/registry/defaults.h"
#include "localcluster/apiserver/registry/json_edit.h"

namespace koord::apiserver {
namespace {

// Edits the spec of an object, made if it is missing.
template <class Edit>
void MakeSpec(Json& object, Edit edit) {
  if (object.is_object()) MakeObject(object.get_object(), "spec", edit);
}

void DefaultTemplate(json::object& spec) {
  EditObject(spec, "template", [](json::object& pod_template) {
    EditObject(pod_template, "spec", DefaultPodTemplateSpec);
  });
}

const json::object* TemplateLabels(const Json& object) {
  const json::object* labels = kube::FindObject(object, {"spec", "template", "metadata", "labels"});
  return labels == nullptr || labels->empty() ? nullptr : labels;
}

// An object without labels takes those of its pods.
void LabelLikeTemplate(Json& object) {
  const json::object* labels = TemplateLabels(object);
  const json::object* own = kube::FindObject(object, {"metadata", "labels"});
  if (labels == nullptr || (own != nullptr && !own->empty())) return;
  const Json copy = *labels;
  kube::At(object, {"metadata", "labels"}) = copy;
}

template <class Edit>
void DefaultRollingUpdate(json::object& strategy, Edit edit) {
  SetIfUnset(strategy, "type", "RollingUpdate");
  if (StringAt(strategy, "type") == "RollingUpdate") MakeObject(strategy, "rollingUpdate", edit);
}

void DefaultClaimTemplate(json::object& claim) {
  SetIfUnset(claim, "apiVersion", "v1");
  SetIfUnset(claim, "kind", "PersistentVolumeClaim");
  MakeObject(claim, "spec",
             [](json::object& spec) { SetIfUnset(spec, "volumeMode", "Filesystem"); });
  MakeObject(claim, "status", [](json::object& status) { SetIfUnset(status, "phase", "Pending"); });
}

void SelectIfNothingIs(json::object& spec, const json::object& labels) {
  const Json* selector = spec.if_contains("selector");
  const json::object* pairs = selector == nullptr ? nullptr : selector->if_object();
  if (pairs == nullptr || pairs->empty()) spec["selector"] = labels;
}

}  // namespace

void DefaultPodTemplate(Json& object) {
  json::object* root = object.if_object();
  if (root != nullptr) DefaultTemplate(*root);
}

void DefaultDeployment(Json& object) {
  MakeSpec(object, [](json::object& spec) {
    SetIfUnset(spec, "replicas", 1);
    SetIfUnset(spec, "revisionHistoryLimit", 10);
    SetIfUnset(spec, "progressDeadlineSeconds", 600);
    MakeObject(spec, "strategy", [](json::object& strategy) {
      DefaultRollingUpdate(strategy, [](json::object& rolling) {
        SetIfUnset(rolling, "maxUnavailable", "25%");
        SetIfUnset(rolling, "maxSurge", "25%");
      });
    });
    DefaultTemplate(spec);
  });
}

void DefaultReplicaSet(Json& object) {
  MakeSpec(object, [](json::object& spec) {
    SetIfUnset(spec, "replicas", 1);
    DefaultTemplate(spec);
  });
}

void DefaultStatefulSet(Json& object) {
  MakeSpec(object, [](json::object& spec) {
    SetIfUnset(spec, "replicas", 1);
    SetIfUnset(spec, "revisionHistoryLimit", 10);
    SetIfUnset(spec, "podManagementPolicy", "OrderedReady");
    MakeObject(spec, "updateStrategy", [](json::object& strategy) {
      DefaultRollingUpdate(strategy,
                           [](json::object& rolling) { SetIfUnset(rolling, "partition", 0); });
    });
    MakeObject(spec, "persistentVolumeClaimRetentionPolicy", [](json::object& retention) {
      SetIfUnset(retention, "whenDeleted", "Retain");
      SetIfUnset(retention, "whenScaled", "Retain");
    });
    ForEachObject(spec, "volumeClaimTemplates", DefaultClaimTemplate);
    DefaultTemplate(spec);
  });
}

void DefaultDaemonSet(Json& object) {
  MakeSpec(object, [](json::object& spec) {
    SetIfUnset(spec, "revisionHistoryLimit", 10);
    MakeObject(spec, "updateStrategy", [](json::object& strategy) {
      DefaultRollingUpdate(strategy, [](json::object& rolling) {
        SetIfUnset(rolling, "maxUnavailable", 1);
        SetIfUnset(rolling, "maxSurge", 0);
      });
    });
    DefaultTemplate(spec);
  });
}

void DefaultReplicationController(Json& object) {
  LabelLikeTemplate(object);
  const json::object* found = TemplateLabels(object);
  const json::object labels = found == nullptr ? json::object() : *found;
  MakeSpec(object, [](json::object& spec) {
    SetIfUnset(spec, "replicas", 1);
    DefaultTemplate(spec);
  });
  if (!labels.empty()) MakeObject(object.get_object(), "spec", SelectIfNothingIs, labels);
}

void DefaultJob(Json& object) {
  LabelLikeTemplate(object);
  MakeSpec(object, [](json::object& spec) {
    const bool counted = !IsUnset(spec, "completions") || !IsUnset(spec, "parallelism");
    if (!counted) spec["completions"] = 1;
    SetIfUnset(spec, "parallelism", 1);
    const bool per_index = !IsUnset(spec, "backoffLimitPerIndex");
    SetIfUnset(spec, "backoffLimit", per_index ? 2147483647 : 6);
    SetIfUnset(spec, "completionMode", "NonIndexed");
    SetIfUnset(spec, "suspend", false);
    SetIfUnset(spec, "manualSelector", false);
    const bool failure_policy = !IsUnset(spec, "podFailurePolicy");
    SetIfUnset(spec, "podReplacementPolicy", failure_policy ? "Failed" : "TerminatingOrFailed");
    DefaultTemplate(spec);
  });
}

void DefaultCronJob(Json& object) {
  MakeSpec(object, [](json::object& spec) {
    SetIfUnset(spec, "concurrencyPolicy", "Allow");
    SetIfUnset(spec, "suspend", false);
    SetIfUnset(spec, "successfulJobsHistoryLimit", 3);
    SetIfUnset(spec, "failedJobsHistoryLimit", 1);
    EditObject(spec, "jobTemplate",
               [](json::object& job) { EditObject(job, "spec", DefaultTemplate); });
  });
}

}  // namespace koord::apiserver
