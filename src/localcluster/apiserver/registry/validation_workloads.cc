#include <fmt/format.h>

#include "kube/selectors.h"
#include "localcluster/apiserver/registry/check.h"
#include "localcluster/apiserver/registry/validation.h"
#include "localcluster/cron/cron_schedule.h"

namespace koord::apiserver {
namespace {

void ValidateSelector(const json::object& spec, const FieldPath& path, FieldErrors& errors) {
  const FieldPath at = path / "selector";
  const json::object* selector = ObjectIn(spec, "selector");
  if (selector == nullptr) {
    errors.push_back(Required(at));
    return;
  }
  const FieldPath labels = at / "matchLabels";
  ValidateLabels(selector->if_contains("matchLabels"), labels, errors);
  if (selector->empty()) {
    errors.push_back(Invalid(at, Json(*selector), "empty selector is invalid for deployment"));
  }
}

// The template itself, and that the selector finds the pods made from it.
void ValidateTemplate(const json::object& spec, const FieldPath& path, const Json& selector,
                      std::initializer_list<std::string_view> restart_policies,
                      FieldErrors& errors) {
  const FieldPath at = path / "template";
  const json::object* pod_template = ObjectIn(spec, "template");
  if (pod_template == nullptr) {
    errors.push_back(Required(at));
    return;
  }
  const FieldPath meta = at / "metadata";
  const FieldPath labels_path = meta / "labels";
  const json::object* metadata = ObjectIn(*pod_template, "metadata");
  const Json* labels = metadata == nullptr ? nullptr : metadata->if_contains("labels");
  const Json none = json::object();
  ValidateLabels(labels, labels_path, errors);
  if (!selector.is_null()) {
    const auto matcher = kube::LabelMatcher::FromJson(selector);
    if (!matcher.ok()) {
      errors.push_back(
          Invalid(path / "selector", selector, std::string(Message(matcher.status()))));
    } else if (!matcher->Matches(labels == nullptr ? nullptr : labels->if_object())) {
      errors.push_back(Invalid(labels_path, labels == nullptr ? none : *labels,
                               "`selector` does not match template `labels`"));
    }
  }
  const FieldPath spec_path = at / "spec";
  const json::object* pod_spec = ObjectIn(*pod_template, "spec");
  if (pod_spec == nullptr) {
    errors.push_back(Required(spec_path / "containers"));
    return;
  }
  ValidatePodSpec(*pod_spec, spec_path, errors);
  CheckOneOf(*pod_spec, "restartPolicy", spec_path, restart_policies, errors);
  const Json* deadline = pod_spec->if_contains("activeDeadlineSeconds");
  const bool long_running = restart_policies.size() == 1;
  if (long_running && deadline != nullptr && !deadline->is_null()) {
    errors.push_back(Forbidden(spec_path / "activeDeadlineSeconds",
                               "activeDeadlineSeconds in this template is "
                               "not Supported"));
  }
}

Json SelectorOf(const json::object& spec) {
  const Json* selector = spec.if_contains("selector");
  return selector == nullptr ? Json() : *selector;
}

void ValidateReplicated(const Json& object, FieldErrors& errors) {
  const json::object* spec = RequiredSpecOf(object, errors);
  if (spec == nullptr) return;
  const FieldPath path("spec");
  CheckNotNegative(*spec, "replicas", path, errors);
  CheckNotNegative(*spec, "minReadySeconds", path, errors);
  CheckNotNegative(*spec, "revisionHistoryLimit", path, errors);
  ValidateSelector(*spec, path, errors);
  ValidateTemplate(*spec, path, SelectorOf(*spec), {"Always"}, errors);
}

// "25%" or a number that is not negative; true if it is certainly zero.
bool ValidateAmount(const json::object& parent, std::string_view name, const FieldPath& path,
                    FieldErrors& errors) {
  const Json* value = parent.if_contains(name);
  if (value == nullptr || value->is_null()) return false;
  CheckNotNegative(parent, name, path, errors);
  const json::string* text = value->if_string();
  if (text == nullptr) return *value == 0;
  const bool digits =
      text->size() > 1 && text->back() == '%' &&
      std::all_of(text->begin(), text->end() - 1, [](char c) { return c >= '0' && c <= '9'; });
  if (!digits) {
    errors.push_back(Invalid(path / name, *value,
                             "a valid percent string must be a numeric string followed by an "
                             "ending '%' (e.g. '1%',  or '93%', regex used for validation is "
                             "'[0-9]+%')"));
  }
  return *text == "0%";
}

void ValidateDeploymentStrategy(const json::object& spec, FieldErrors& errors) {
  const json::object* strategy = ObjectIn(spec, "strategy");
  if (strategy == nullptr) return;
  const FieldPath path("spec.strategy");
  CheckOneOf(*strategy, "type", path, {"Recreate", "RollingUpdate"}, errors);
  const json::object* rolling = ObjectIn(*strategy, "rollingUpdate");
  const FieldPath at = path / "rollingUpdate";
  if (StringAt(*strategy, "type") == "Recreate") {
    if (rolling != nullptr) {
      errors.push_back(Forbidden(at, "may not be specified when strategy `type` is 'Recreate'"));
    }
    return;
  }
  if (rolling == nullptr) return;
  const bool no_unavailable = ValidateAmount(*rolling, "maxUnavailable", at, errors);
  const bool no_surge = ValidateAmount(*rolling, "maxSurge", at, errors);
  if (no_unavailable && no_surge) {
    errors.push_back(Invalid(at / "maxUnavailable", *rolling->if_contains("maxUnavailable"),
                             "may not be 0 when `maxSurge` is 0"));
  }
}

void ValidateJobSpec(const json::object& spec, const FieldPath& path, bool selects,
                     FieldErrors& errors) {
  for (const char* field : {"parallelism", "completions", "activeDeadlineSeconds", "backoffLimit",
                            "ttlSecondsAfterFinished"}) {
    CheckNotNegative(spec, field, path, errors);
  }
  CheckOneOf(spec, "completionMode", path, {"Indexed", "NonIndexed"}, errors);
  if (StringAt(spec, "completionMode") == "Indexed" && IsUnset(spec, "completions")) {
    errors.push_back(Required(path / "completions", "when completion mode is Indexed"));
  }
  const Json selector = selects ? SelectorOf(spec) : Json();
  ValidateTemplate(spec, path, selector, {"OnFailure", "Never"}, errors);
}

// When a CronJob is due, and in which zone.
void CheckSchedule(const json::object& spec, const FieldPath& path, FieldErrors& errors) {
  CheckRequired(spec, "schedule", path, errors);
  const std::string_view text = StringAt(spec, "schedule");
  if (!text.empty()) {
    const auto schedule = localcluster::CronSchedule::Parse(text);
    if (!schedule.ok()) {
      errors.push_back(
          Invalid(path / "schedule", Text(text), std::string(Message(schedule.status()))));
    }
  }
  const Json* zone = spec.if_contains("timeZone");
  if (zone == nullptr || zone->is_null()) return;
  const std::string name(StringAt(spec, "timeZone"));
  if (name.empty()) {
    errors.push_back(
        Invalid(path / "timeZone", Text(name), "timeZone must be nil or non-empty string"));
  } else if (const auto found = localcluster::FindTimeZone(name); !found.ok()) {
    errors.push_back(Invalid(path / "timeZone", Text(name), std::string(Message(found.status()))));
  }
}

}  // namespace

void ValidateDeployment(const Json& object, FieldErrors& errors) {
  ValidateReplicated(object, errors);
  if (const json::object* spec = kube::FindObject(object, {"spec"})) {
    ValidateDeploymentStrategy(*spec, errors);
  }
}

void ValidateReplicaSet(const Json& object, FieldErrors& errors) {
  ValidateReplicated(object, errors);
}

void ValidateStatefulSet(const Json& object, FieldErrors& errors) {
  ValidateReplicated(object, errors);
  const json::object* spec = kube::FindObject(object, {"spec"});
  if (spec == nullptr) return;
  CheckOneOf(*spec, "podManagementPolicy", FieldPath("spec"), {"OrderedReady", "Parallel"}, errors);
  if (const json::object* strategy = ObjectIn(*spec, "updateStrategy")) {
    CheckOneOf(*strategy, "type", FieldPath("spec.updateStrategy"), {"OnDelete", "RollingUpdate"},
               errors);
  }
}

void ValidateDaemonSet(const Json& object, FieldErrors& errors) {
  ValidateReplicated(object, errors);
  const json::object* spec = kube::FindObject(object, {"spec"});
  const json::object* strategy = spec == nullptr ? nullptr : ObjectIn(*spec, "updateStrategy");
  if (strategy == nullptr) return;
  const FieldPath path("spec.updateStrategy");
  CheckOneOf(*strategy, "type", path, {"OnDelete", "RollingUpdate"}, errors);
  if (const json::object* rolling = ObjectIn(*strategy, "rollingUpdate")) {
    const FieldPath at = path / "rollingUpdate";
    ValidateAmount(*rolling, "maxUnavailable", at, errors);
    ValidateAmount(*rolling, "maxSurge", at, errors);
  }
}

void ValidateReplicationController(const Json& object, FieldErrors& errors) {
  const json::object* spec = RequiredSpecOf(object, errors);
  if (spec == nullptr) return;
  const FieldPath path("spec");
  CheckNotNegative(*spec, "replicas", path, errors);
  const json::object* selector = ObjectIn(*spec, "selector");
  if (selector == nullptr || selector->empty()) {
    errors.push_back(Required(path / "selector"));
    return;
  }
  ValidateTemplate(*spec, path, json::object{{"matchLabels", *selector}}, {"Always"}, errors);
}

void ValidateJob(const Json& object, FieldErrors& errors) {
  const json::object* spec = RequiredSpecOf(object, errors);
  if (spec != nullptr) ValidateJobSpec(*spec, FieldPath("spec"), true, errors);
}

void ValidateCronJob(const Json& object, FieldErrors& errors) {
  const json::object* spec = RequiredSpecOf(object, errors);
  if (spec == nullptr) return;
  const FieldPath path("spec");
  CheckSchedule(*spec, path, errors);
  CheckNotNegative(*spec, "startingDeadlineSeconds", path, errors);
  CheckOneOf(*spec, "concurrencyPolicy", path, {"Allow", "Forbid", "Replace"}, errors);
  CheckNotNegative(*spec, "successfulJobsHistoryLimit", path, errors);
  CheckNotNegative(*spec, "failedJobsHistoryLimit", path, errors);
  constexpr size_t kLongestName = 52;  // its Jobs are named after it
  const std::string_view name = kube::FindString(object, {"metadata", "name"});
  if (name.size() > kLongestName) {
    errors.push_back(Invalid("metadata.name", Text(name), "must be no more than 52 characters"));
  }
  const json::object* job = ObjectIn(*spec, "jobTemplate");
  const json::object* job_spec = job == nullptr ? nullptr : ObjectIn(*job, "spec");
  if (job_spec == nullptr) {
    errors.push_back(Required("spec.jobTemplate.spec"));
    return;
  }
  ValidateJobSpec(*job_spec, FieldPath("spec.jobTemplate.spec"), false, errors);
}

void ValidateSelectorUnchanged(const Json& object, const Json& old, FieldErrors& errors) {
  CheckUnchanged(object, old, {"spec", "selector"}, "spec.selector", errors);
}

void ValidateStatefulSetUpdate(const Json& object, const Json& old, FieldErrors& errors) {
  const json::object* spec = kube::FindObject(object, {"spec"});
  const json::object* before = kube::FindObject(old, {"spec"});
  if (spec == nullptr || before == nullptr) return;
  json::object rest = *spec;
  for (const char* field :
       {"replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit",
        "persistentVolumeClaimRetentionPolicy", "minReadySeconds"}) {
    TakeField(rest, *before, field);
  }
  if (SameMembers(rest, *before)) return;
  errors.push_back(
      Forbidden("spec",
                "updates to statefulset spec for fields other than 'replicas', 'ordinals', "
                "'template', 'updateStrategy', 'revisionHistoryLimit', "
                "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"));
}

void ValidateJobUpdate(const Json& object, const Json& old, FieldErrors& errors) {
  CheckUnchanged(object, old, {"spec", "selector"}, "spec.selector", errors);
  CheckUnchanged(object, old, {"spec", "completionMode"}, "spec.completionMode", errors);
  // A suspended job that has not started yet may still be placed elsewhere by a queue.
  if (!kube::FindBool(old, {"spec", "suspend"})) {
    CheckUnchanged(object, old, {"spec", "template"}, "spec.template", errors);
  }
  if (kube::FindString(object, {"spec", "completionMode"}) != "Indexed") {
    CheckUnchanged(object, old, {"spec", "completions"}, "spec.completions", errors);
  }
}

void ValidateControllerRevisionUpdate(const Json& object, const Json& old, FieldErrors& errors) {
  CheckUnchanged(object, old, {"data"}, "data", errors);
}

}  // namespace koord::apiserver
