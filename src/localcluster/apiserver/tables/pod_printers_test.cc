#include <gtest/gtest.h>

#include "localcluster/apiserver/tables/tables_testing.h"

namespace koord::apiserver::pod_printers_test {
namespace {

std::string PodRow(std::string_view pod) { return RowText("", "Pod", pod); }

TEST(PodTable, Columns) {
  const auto table = TableOf(BuiltinInfo("", "Pod"), kube::json::object());
  EXPECT_EQ(ColumnsText(table),
            "Name|Ready|Status|Restarts|Age|(IP)|(Node)|(Nominated Node)|(Readiness Gates)");
}

TEST(PodTable, WholeRow) {
  EXPECT_EQ(PodRow(R"({
    "metadata": {"name": "web-0", "creationTimestamp": "2026-07-01T09:00:00Z"},
    "spec": {"nodeName": "n1", "containers": [{"name": "a"}, {"name": "b"}],
             "readinessGates": [{"conditionType": "x/y"}, {"conditionType": "x/z"}]},
    "status": {"phase": "Running", "podIP": "10.0.0.7",
               "podIPs": [{"ip": "10.0.0.7"}, {"ip": "fd00::7"}],
               "nominatedNodeName": "n2",
               "conditions": [{"type": "x/y", "status": "True"}, {"type": "Ready", "status": "False"}],
               "containerStatuses": [
                 {"name": "a", "ready": true, "restartCount": 2, "state": {"running": {}},
                  "lastState": {"terminated": {"finishedAt": "2026-07-01T09:55:00Z"}}},
                 {"name": "b", "ready": false, "restartCount": 1, "state": {"running": {}},
                  "lastState": {"terminated": {"finishedAt": "2026-07-01T09:50:00Z"}}}]}})"),
            "web-0|1/2|Running|3 (5m ago)|60m|10.0.0.7|n1|n2|1/2");
}

TEST(PodTable, FreshPod) {
  EXPECT_EQ(PodRow(R"({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "a"}]},
                       "status": {"phase": "Pending"}})"),
            "p|0/1|Pending|0|<unknown>|<none>|<none>|<none>|<none>");
  EXPECT_EQ(PodRow("{}"), "|0/0||0|<unknown>|<none>|<none>|<none>|<none>");
}

// The cells Ready, Status and Restarts of pods in all their states.
std::string State(std::string_view spec, std::string_view status, std::string_view metadata = "") {
  const std::string row =
      PodRow(fmt::format(R"({{"metadata": {{"name": "p"{}}}, "spec": {{{}}}, "status": {{{}}}}})",
                         metadata, spec, status));
  size_t end = row.find("|<unknown>");
  return row.substr(2, end - 2);
}

constexpr std::string_view kOne = R"("containers": [{"name": "a"}])";
constexpr std::string_view kInit =
    R"("containers": [{"name": "a"}], "initContainers": [{"name": "i"}, {"name": "j"}])";
constexpr std::string_view kSidecar = R"("containers": [{"name": "a"}],
    "initContainers": [{"name": "s", "restartPolicy": "Always"}, {"name": "j"}])";
constexpr std::string_view kDeleting = R"(, "deletionTimestamp": "2026-07-01T10:00:30Z")";

TEST(PodTable, StatusOfContainers) {
  const struct {
    const char* name;
    std::string_view spec;
    const char* status;
    const char* cells;
  } kCases[] = {
      {"status reason wins over phase", kOne, R"("phase": "Failed", "reason": "Evicted")",
       "0/1|Evicted|0"},
      {"gated", kOne,
       R"("phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False",
          "reason": "SchedulingGated"}])",
       "0/1|SchedulingGated|0"},
      {"waiting", kOne,
       R"("phase": "Pending", "containerStatuses": [
          {"state": {"waiting": {"reason": "ContainerCreating"}}, "restartCount": 0}])",
       "0/1|ContainerCreating|0"},
      {"crash loop without a known last end", kOne,
       R"("phase": "Running", "containerStatuses": [
          {"state": {"waiting": {"reason": "CrashLoopBackOff"}}, "restartCount": 4}])",
       "0/1|CrashLoopBackOff|4"},
      {"completed", kOne,
       R"("phase": "Succeeded", "containerStatuses": [
          {"state": {"terminated": {"reason": "Completed", "exitCode": 0}}}])",
       "0/1|Completed|0"},
      {"ended by signal", kOne,
       R"("phase": "Failed", "containerStatuses": [
          {"state": {"terminated": {"signal": 9, "exitCode": 137}}}])",
       "0/1|Signal:9|0"},
      {"ended without a reason", kOne,
       R"("phase": "Failed", "containerStatuses": [{"state": {"terminated": {"exitCode": 3}}}])",
       "0/1|ExitCode:3|0"},
      {"the first container's reason stays, as the walk is from last to first", kOne,
       R"("phase": "Running", "containerStatuses": [
          {"state": {"waiting": {"reason": "ImagePullBackOff"}}},
          {"state": {"waiting": {"reason": "CrashLoopBackOff"}}}])",
       "0/1|ImagePullBackOff|0"},
      {"one completed, one runs in a ready pod", kOne,
       R"("phase": "Running", "conditions": [{"type": "Ready", "status": "True"}],
          "containerStatuses": [
          {"state": {"terminated": {"reason": "Completed", "exitCode": 0}}},
          {"ready": true, "state": {"running": {}}}])",
       "1/1|Running|0"},
      {"one completed, one failed", kOne,
       R"("phase": "Failed", "containerStatuses": [
          {"state": {"terminated": {"reason": "Completed", "exitCode": 0}}},
          {"state": {"terminated": {"reason": "Error", "exitCode": 1}}}])",
       "0/1|Error|0"},
      {"one completed, one runs, pod not ready", kOne,
       R"("phase": "Running", "containerStatuses": [
          {"state": {"terminated": {"reason": "Completed", "exitCode": 0}}},
          {"ready": true, "state": {"running": {}}}])",
       "1/1|NotReady|0"},
      {"second init container waits for its turn", kInit,
       R"("phase": "Pending", "initContainerStatuses": [
          {"name": "i", "state": {"terminated": {"exitCode": 0}}},
          {"name": "j", "state": {"waiting": {"reason": "PodInitializing"}}}])",
       "0/1|Init:1/2|0"},
      {"init container runs", kInit,
       R"("phase": "Pending", "initContainerStatuses": [{"name": "i", "state": {"running": {}}}])",
       "0/1|Init:0/2|0"},
      {"init container cannot start", kInit,
       R"("phase": "Pending", "initContainerStatuses": [
          {"name": "i", "state": {"waiting": {"reason": "ErrImagePull"}}, "restartCount": 1},
          {"name": "j", "restartCount": 5}])",
       "0/1|Init:ErrImagePull|1"},
      {"init container failed with a reason", kInit,
       R"("phase": "Pending", "initContainerStatuses": [
          {"name": "i", "state": {"terminated": {"exitCode": 1, "reason": "Error"}}}])",
       "0/1|Init:Error|0"},
      {"init container killed", kInit,
       R"("phase": "Pending", "initContainerStatuses": [
          {"name": "i", "state": {"terminated": {"exitCode": 137, "signal": 9}}}])",
       "0/1|Init:Signal:9|0"},
      {"init container failed silently", kInit,
       R"("phase": "Pending", "initContainerStatuses": [
          {"name": "i", "state": {"terminated": {"exitCode": 7}}}])",
       "0/1|Init:ExitCode:7|0"},
      {"restarts of init containers do not count once they are done", kInit,
       R"("phase": "Running", "initContainerStatuses": [
          {"name": "i", "state": {"terminated": {"exitCode": 0}}, "restartCount": 3},
          {"name": "j", "state": {"terminated": {"exitCode": 0}}, "restartCount": 3}],
          "containerStatuses": [{"ready": true, "state": {"running": {}}, "restartCount": 1}])",
       "1/1|Running|1"},
      {"a started sidecar counts as ready and its restarts stay", kSidecar,
       R"("phase": "Running", "initContainerStatuses": [
          {"name": "s", "started": true, "ready": true, "restartCount": 2, "state": {"running": {}}},
          {"name": "j", "state": {"terminated": {"exitCode": 0}}, "restartCount": 9}],
          "containerStatuses": [{"ready": true, "state": {"running": {}}, "restartCount": 1}])",
       "2/2|Running|3"},
      {"a sidecar that has not started holds the pod back", kSidecar,
       R"("phase": "Pending", "initContainerStatuses": [
          {"name": "s", "started": false, "state": {"running": {}}}])",
       "0/2|Init:0/2|0"},
      {"condition Initialized lets the containers speak", kInit,
       R"("phase": "Running", "conditions": [{"type": "Initialized", "status": "True"}],
          "initContainerStatuses": [{"name": "i", "state": {"running": {}}}],
          "containerStatuses": [{"state": {"waiting": {"reason": "CrashLoopBackOff"}}}])",
       "0/1|CrashLoopBackOff|0"},
  };
  for (const auto& c : kCases) EXPECT_EQ(State(c.spec, c.status), c.cells) << c.name;
}

TEST(PodTable, StatusOfDeletedPods) {
  EXPECT_EQ(State(kOne, R"("phase": "Running")", kDeleting), "0/1|Terminating|0");
  EXPECT_EQ(State(kOne, R"("phase": "Running", "reason": "NodeLost")", kDeleting), "0/1|Unknown|0");
  EXPECT_EQ(State(kOne, R"("phase": "Succeeded")", kDeleting), "0/1|Succeeded|0");
}

TEST(PodTable, MarksRowsOfEndedPods) {
  const struct {
    const char* phase;
    const char* conditions;
  } kCases[] = {{"Succeeded", "Succeeded"}, {"Failed", "Failed"}, {"Running", ""}};
  for (const auto& c : kCases) {
    const auto table = TableOf(
        BuiltinInfo("", "Pod"),
        kube::ParseJson(fmt::format(R"({{"status": {{"phase": "{}"}}}})", c.phase)).value());
    const auto* conditions = kube::FindArray(table.at("rows").at(0), {"conditions"});
    if (*c.conditions == '\0') {
      EXPECT_EQ(conditions, nullptr);
      continue;
    }
    ASSERT_NE(conditions, nullptr) << c.phase;
    EXPECT_EQ(kube::FindString(conditions->at(0), {"type"}), "Completed");
    EXPECT_EQ(kube::FindString(conditions->at(0), {"status"}), "True");
    EXPECT_EQ(kube::FindString(conditions->at(0), {"reason"}), c.conditions);
  }
}

TEST(PodTemplateTable, Row) {
  EXPECT_EQ(RowText("", "PodTemplate", R"({"metadata": {"name": "t"}, "template": {
      "metadata": {"labels": {"b": "2", "a": "1"}},
      "spec": {"containers": [{"name": "x", "image": "i:1"}, {"name": "y", "image": "j"}]}}})"),
            "t|x,y|i:1,j|a=1,b=2");
}

}  // namespace
}  // namespace koord::apiserver::pod_printers_test
