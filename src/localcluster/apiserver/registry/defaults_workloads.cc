#include "localcluster/apiserver/registry/defaults.h"
#include "localcluster/apiserver/registry/json_edit.h"

namespace koord::apiserver {
namespace {

// The spec of an object, made if it is missing; null if it cannot be.
json::object* MakeSpecOf(Json& object) {
  json::object* root = object.if_object();
  return root == nullptr ? nullptr : MakeObject(*root, "spec");
}

void DefaultTemplate(json::object& spec) {
  json::object* pod_template = ObjectAt(spec, "template");
  json::object* pod_spec = pod_template == nullptr ? nullptr : ObjectAt(*pod_template, "spec");
  if (pod_spec != nullptr) DefaultPodTemplateSpec(*pod_spec);
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

}  // namespace

void DefaultPodTemplate(Json& object) {
  json::object* root = object.if_object();
  if (root != nullptr) DefaultTemplate(*root);
}

void DefaultDeployment(Json& object) {
  json::object* spec = MakeSpecOf(object);
  if (spec == nullptr) return;
  SetIfUnset(*spec, "replicas", 1);
  SetIfUnset(*spec, "revisionHistoryLimit", 10);
  SetIfUnset(*spec, "progressDeadlineSeconds", 600);
  if (json::object* strategy = MakeObject(*spec, "strategy")) {
    SetIfUnset(*strategy, "type", "RollingUpdate");
    if (StringAt(*strategy, "type") == "RollingUpdate") {
      if (json::object* rolling = MakeObject(*strategy, "rollingUpdate")) {
        SetIfUnset(*rolling, "maxUnavailable", "25%");
        SetIfUnset(*rolling, "maxSurge", "25%");
      }
    }
  }
  DefaultTemplate(*spec);
}

void DefaultReplicaSet(Json& object) {
  json::object* spec = MakeSpecOf(object);
  if (spec == nullptr) return;
  SetIfUnset(*spec, "replicas", 1);
  DefaultTemplate(*spec);
}

void DefaultStatefulSet(Json& object) {
  json::object* spec = MakeSpecOf(object);
  if (spec == nullptr) return;
  SetIfUnset(*spec, "replicas", 1);
  SetIfUnset(*spec, "revisionHistoryLimit", 10);
  SetIfUnset(*spec, "podManagementPolicy", "OrderedReady");
  if (json::object* strategy = MakeObject(*spec, "updateStrategy")) {
    SetIfUnset(*strategy, "type", "RollingUpdate");
    if (StringAt(*strategy, "type") == "RollingUpdate") {
      if (json::object* rolling = MakeObject(*strategy, "rollingUpdate")) {
        SetIfUnset(*rolling, "partition", 0);
      }
    }
  }
  if (json::object* retention = MakeObject(*spec, "persistentVolumeClaimRetentionPolicy")) {
    SetIfUnset(*retention, "whenDeleted", "Retain");
    SetIfUnset(*retention, "whenScaled", "Retain");
  }
  ForEachObject(*spec, "volumeClaimTemplates", [](json::object& claim) {
    SetIfUnset(claim, "apiVersion", "v1");
    SetIfUnset(claim, "kind", "PersistentVolumeClaim");
    if (json::object* claim_spec = MakeObject(claim, "spec")) {
      SetIfUnset(*claim_spec, "volumeMode", "Filesystem");
    }
    if (json::object* status = MakeObject(claim, "status")) SetIfUnset(*status, "phase", "Pending");
  });
  DefaultTemplate(*spec);
}

void DefaultDaemonSet(Json& object) {
  json::object* spec = MakeSpecOf(object);
  if (spec == nullptr) return;
  SetIfUnset(*spec, "revisionHistoryLimit", 10);
  if (json::object* strategy = MakeObject(*spec, "updateStrategy")) {
    SetIfUnset(*strategy, "type", "RollingUpdate");
    if (StringAt(*strategy, "type") == "RollingUpdate") {
      if (json::object* rolling = MakeObject(*strategy, "rollingUpdate")) {
        SetIfUnset(*rolling, "maxUnavailable", 1);
        SetIfUnset(*rolling, "maxSurge", 0);
      }
    }
  }
  DefaultTemplate(*spec);
}

void DefaultReplicationController(Json& object) {
  json::object* spec = MakeSpecOf(object);
  if (spec == nullptr) return;
  SetIfUnset(*spec, "replicas", 1);
  LabelLikeTemplate(object);
  if (const json::object* labels = TemplateLabels(object)) {
    const Json copy = *labels;
    const json::object* selector = ObjectAt(*spec, "selector");
    if (selector == nullptr || selector->empty()) (*spec)["selector"] = copy;
  }
  DefaultTemplate(*spec);
}

void DefaultJob(Json& object) {
  json::object* spec = MakeSpecOf(object);
  if (spec == nullptr) return;
  const bool counted = !IsUnset(*spec, "completions") || !IsUnset(*spec, "parallelism");
  if (!counted) (*spec)["completions"] = 1;
  SetIfUnset(*spec, "parallelism", 1);
  const bool per_index = !IsUnset(*spec, "backoffLimitPerIndex");
  SetIfUnset(*spec, "backoffLimit", per_index ? 2147483647 : 6);
  SetIfUnset(*spec, "completionMode", "NonIndexed");
  SetIfUnset(*spec, "suspend", false);
  SetIfUnset(*spec, "manualSelector", false);
  const bool failure_policy = !IsUnset(*spec, "podFailurePolicy");
  SetIfUnset(*spec, "podReplacementPolicy", failure_policy ? "Failed" : "TerminatingOrFailed");
  LabelLikeTemplate(object);
  DefaultTemplate(*spec);
}

void DefaultCronJob(Json& object) {
  json::object* spec = MakeSpecOf(object);
  if (spec == nullptr) return;
  SetIfUnset(*spec, "concurrencyPolicy", "Allow");
  SetIfUnset(*spec, "suspend", false);
  SetIfUnset(*spec, "successfulJobsHistoryLimit", 3);
  SetIfUnset(*spec, "failedJobsHistoryLimit", 1);
  json::object* job = ObjectAt(*spec, "jobTemplate");
  json::object* job_spec = job == nullptr ? nullptr : ObjectAt(*job, "spec");
  if (job_spec != nullptr) DefaultTemplate(*job_spec);
}

}  // namespace koord::apiserver
