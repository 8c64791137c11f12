#include <string>

#include "base/strings.h"
#include "kube/time.h"
#include "localcluster/apiserver/tables/cells.h"
#include "localcluster/apiserver/tables/human_duration.h"
#include "localcluster/apiserver/tables/printer.h"

namespace koord::apiserver {
namespace {

using kube::Json;
namespace json = kube::json;

// Names and images of the pod template's containers.
void PrintContainers(Row& row, const Json* pod_spec) {
  const auto* containers =
      pod_spec == nullptr ? nullptr : kube::FindArray(*pod_spec, {"containers"});
  row.Text(JoinField(containers, "name")).Text(JoinField(containers, "image"));
}

void PrintTemplate(Row& row) {
  PrintContainers(row, kube::Find(row.object, {"spec", "template", "spec"}));
}

std::string SpecSelector(const Json& object) {
  return SelectorText(kube::Find(object, {"spec", "selector"}));
}

std::string ReadyOfDesired(const Json& object) {
  return fmt::format("{}/{}", kube::FindInt(object, {"status", "readyReplicas"}),
                     kube::FindInt(object, {"spec", "replicas"}, 1));
}

constexpr Column kDeploymentColumns[] = {kNameColumn,         {"Ready"},       Number("Up-to-date"),
                                         Number("Available"), kAgeColumn,      Wide("Containers"),
                                         Wide("Images"),      Wide("Selector")};

void PrintDeployment(Row& row) {
  row.Name().Text(ReadyOfDesired(row.object)).IntAt({"status", "updatedReplicas"});
  row.IntAt({"status", "availableReplicas"}).Age();
  PrintTemplate(row);
  row.Text(SpecSelector(row.object));
}

constexpr Column kReplicaSetColumns[] = {kNameColumn,     Number("Desired"), Number("Current"),
                                         Number("Ready"), kAgeColumn,        Wide("Containers"),
                                         Wide("Images"),  Wide("Selector")};

void PrintReplicas(Row& row) {
  row.Name().IntAt({"spec", "replicas"}, 1).IntAt({"status", "replicas"});
  row.IntAt({"status", "readyReplicas"}).Age();
  PrintTemplate(row);
}

void PrintReplicaSet(Row& row) {
  PrintReplicas(row);
  row.Text(SpecSelector(row.object));
}

void PrintReplicationController(Row& row) {
  PrintReplicas(row);
  row.Text(LabelsText(kube::FindObject(row.object, {"spec", "selector"})));
}

constexpr Column kDaemonSetColumns[] = {
    kNameColumn,          Number("Desired"),   Number("Current"), Number("Ready"),
    Number("Up-to-date"), Number("Available"), {"Node Selector"}, kAgeColumn,
    Wide("Containers"),   Wide("Images"),      Wide("Selector")};

void PrintDaemonSet(Row& row) {
  row.Name().IntAt({"status", "desiredNumberScheduled"});
  row.IntAt({"status", "currentNumberScheduled"}).IntAt({"status", "numberReady"});
  row.IntAt({"status", "updatedNumberScheduled"}).IntAt({"status", "numberAvailable"});
  row.Text(LabelsText(kube::FindObject(row.object, {"spec", "template", "spec", "nodeSelector"})));
  row.Age();
  PrintTemplate(row);
  row.Text(SpecSelector(row.object));
}

constexpr Column kStatefulSetColumns[] = {
    kNameColumn, {"Ready"}, kAgeColumn, Wide("Containers"), Wide("Images")};

void PrintStatefulSet(Row& row) {
  row.Name().Text(ReadyOfDesired(row.object)).Age();
  PrintTemplate(row);
}

constexpr Column kJobColumns[] = {kNameColumn,    {"Status"},      {"Completions"},
                                  {"Duration"},   kAgeColumn,      Wide("Containers"),
                                  Wide("Images"), Wide("Selector")};

std::string_view JobStatus(const Row& row) {
  for (const std::string_view type : {"Complete", "Failed"}) {
    if (ConditionIsTrue(row.object, type)) return type;
  }
  if (row.deleting()) return "Terminating";
  for (const std::string_view type : {"Suspended", "FailureTarget", "SuccessCriteriaMet"}) {
    if (ConditionIsTrue(row.object, type)) return type;
  }
  return "Running";
}

std::string JobCompletions(const Json& job) {
  const int64_t succeeded = kube::FindInt(job, {"status", "succeeded"});
  const Json* completions = kube::Find(job, {"spec", "completions"});
  if (completions != nullptr && completions->is_number()) {
    return fmt::format("{}/{}", succeeded, kube::FindInt(job, {"spec", "completions"}));
  }
  const int64_t parallelism = kube::FindInt(job, {"spec", "parallelism"});
  if (parallelism > 1) return fmt::format("{}/1 of {}", succeeded, parallelism);
  return fmt::format("{}/1", succeeded);
}

std::string JobDuration(const Row& row) {
  const auto start = kube::ParseTime(row.Get({"status", "startTime"}));
  const auto completion = kube::ParseTime(row.Get({"status", "completionTime"}));
  return start ? HumanDuration(completion.value_or(row.now) - *start) : "";
}

void PrintJob(Row& row) {
  row.Name().Text(JobStatus(row)).Text(JobCompletions(row.object)).Text(JobDuration(row)).Age();
  PrintTemplate(row);
  row.Text(SpecSelector(row.object));
}

constexpr Column kCronJobColumns[] = {
    kNameColumn,       {"Schedule"}, {"Timezone"},       {"Suspend"},    Number("Active"),
    {"Last Schedule"}, kAgeColumn,   Wide("Containers"), Wide("Images"), Wide("Selector")};

std::string_view SuspendText(const Json& cron_job) {
  const Json* suspend = kube::Find(cron_job, {"spec", "suspend"});
  if (suspend == nullptr || !suspend->is_bool()) return kUnset;
  return suspend->get_bool() ? "True" : "False";
}

void PrintCronJob(Row& row) {
  const std::string_view last = row.Get({"status", "lastScheduleTime"});
  row.Name().TextAt({"spec", "schedule"}).TextAt({"spec", "timeZone"}, kNone);
  row.Text(SuspendText(row.object));
  row.Int(static_cast<int64_t>(SizeOf(kube::FindArray(row.object, {"status", "active"}))));
  row.Text(last.empty() ? std::string(kNone) : HumanAge(last, row.now)).Age();
  PrintContainers(row, kube::Find(row.object, {"spec", "jobTemplate", "spec", "template", "spec"}));
  row.Text(SelectorText(kube::Find(row.object, {"spec", "jobTemplate", "spec", "selector"})));
}

constexpr Column kRevisionColumns[] = {kNameColumn, {"Controller"}, Number("Revision"), kAgeColumn};

// "daemonset.apps/web"
std::string ControllerText(const Json& object) {
  const auto* owners = kube::FindArray(object, {"metadata", "ownerReferences"});
  if (owners == nullptr) return std::string(kNone);
  for (const Json& owner : *owners) {
    if (!kube::FindBool(owner, {"controller"})) continue;
    const std::string_view api_version = kube::FindString(owner, {"apiVersion"});
    const size_t slash = api_version.find('/');
    std::string kind(kube::FindString(owner, {"kind"}));
    if (slash != std::string_view::npos) kind.append(".").append(api_version.substr(0, slash));
    return fmt::format("{}/{}", ToLower(kind), kube::FindString(owner, {"name"}));
  }
  return std::string(kNone);
}

void PrintControllerRevision(Row& row) {
  row.Name().Text(ControllerText(row.object)).IntAt({"revision"}).Age();
}

constexpr Column kScaleColumns[] = {kNameColumn, Number("Desired"), Number("Available"),
                                    kAgeColumn};

void PrintScale(Row& row) {
  row.Name().IntAt({"spec", "replicas"}).IntAt({"status", "replicas"}).Age();
}

constexpr Printer kWorkloadPrinters[] = {
    {"apps", "Deployment", kDeploymentColumns, PrintDeployment},
    {"apps", "ReplicaSet", kReplicaSetColumns, PrintReplicaSet},
    {"", "ReplicationController", kReplicaSetColumns, PrintReplicationController},
    {"apps", "DaemonSet", kDaemonSetColumns, PrintDaemonSet},
    {"apps", "StatefulSet", kStatefulSetColumns, PrintStatefulSet},
    {"apps", "ControllerRevision", kRevisionColumns, PrintControllerRevision},
    {"batch", "Job", kJobColumns, PrintJob},
    {"batch", "CronJob", kCronJobColumns, PrintCronJob},
    {"autoscaling", "Scale", kScaleColumns, PrintScale},
};

}  // namespace

std::span<const Printer> WorkloadPrinters() { return kWorkloadPrinters; }

}  // namespace koord::apiserver
