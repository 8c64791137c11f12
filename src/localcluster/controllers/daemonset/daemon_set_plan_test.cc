#include "localcluster/controllers/daemonset/daemon_set_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/controller/plan_testing.h"
#include "kube/objects/objects_testing.h"
#include "kube/resources.h"
#include "localcluster/controllers/daemonset/daemon_pod.h"

namespace koord::localcluster::daemon_set_plan_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

kube::Node NodeNamed(const std::string& name) {
  kube::Node node;
  node.metadata.name = name;
  node.metadata.labels = {{"kubernetes.io/os", "linux"}};
  return node;
}

kube::Node Tainted(const std::string& name, std::string key, std::string effect) {
  kube::Node node = NodeNamed(name);
  node.spec.taints.Mutable().push_back({.key = std::move(key), .effect = std::move(effect)});
  return node;
}

kube::DaemonSet Agent() {
  return kube::FromText<kube::DaemonSet>(R"({
    "metadata": {"name": "agent", "namespace": "default", "uid": "u1", "generation": 1},
    "spec": {"selector": {"matchLabels": {"app": "agent"}},
             "template": {"metadata": {"labels": {"app": "agent"}},
                          "spec": {"containers": [{"name": "c", "image": "agent:1"}],
                                   "nodeSelector": {"kubernetes.io/os": "linux"}}},
             "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}}}})");
}

class DaemonSetPlanTest : public ::testing::Test {
 protected:
  DaemonSetPlanTest() {
    kube::Plan plan = PlanNow({}, {});
    for (const kube::Write& write : plan.writes) {
      if (write.resource != kube::kControllerRevisions) continue;
      revisions_.push_back(SharedOf(*kube::Decode<kube::ControllerRevision>(write.body)));
    }
    hash_ = revisions_.at(0)->metadata.labels.at("controller-revision-hash");
  }

  kube::Pod PodOn(const std::string& node, const std::string& name) const {
    kube::Pod pod = kube::ReadyPod(name, node);
    pod.metadata.labels.Mutable()["controller-revision-hash"] = hash_;
    return pod;
  }
  kube::Pod OldOn(const std::string& node, const std::string& name) const {
    kube::Pod pod = PodOn(node, name);
    pod.metadata.labels.Mutable()["controller-revision-hash"] = "earlier";
    return pod;
  }

  kube::Plan PlanNow(const std::vector<kube::Node>& nodes, const std::vector<kube::Pod>& pods) {
    NodeList node_list;
    for (const kube::Node& node : nodes) node_list.push_back(SharedOf(node));
    PodList pod_list;
    for (const kube::Pod& pod : pods) pod_list.push_back(SharedOf(pod));
    kube::Plan plan;
    Random random(1);
    PlanDaemonSet({.set = set_,
                   .pods = pod_list,
                   .revisions = revisions_,
                   .nodes = node_list,
                   .revision_is_taken = [](const std::string&) { return false; },
                   .now = kube::kTestNow},
                  random, plan);
    return plan;
  }
  // "make on n1", "remove a"
  std::vector<std::string> Acts(const std::vector<kube::Node>& nodes,
                                const std::vector<kube::Pod>& pods) {
    std::vector<std::string> acts;
    for (const kube::Write& write : PlanNow(nodes, pods).writes) {
      if (write.resource != kube::kPods) continue;
      if (write.verb == kube::Write::Verb::kDelete) {
        acts.push_back("remove " + write.key.name);
      } else {
        acts.push_back("make on " + NodeOf(*kube::Decode<kube::Pod>(write.body)));
      }
    }
    return acts;
  }

  kube::DaemonSet set_ = Agent();
  RevisionList revisions_;
  std::string hash_;
};

TEST_F(DaemonSetPlanTest, EveryMatchingNodeGetsAPod) {
  kube::Node windows = NodeNamed("n3");
  windows.metadata.labels.Mutable()["kubernetes.io/os"] = "windows";
  EXPECT_THAT(Acts({NodeNamed("n1"), NodeNamed("n2"), windows}, {PodOn("n1", "a")}),
              ElementsAre("make on n2"));
}

TEST_F(DaemonSetPlanTest, TroubleDoesNotDriveDaemonsAwayButOtherTaintsDo) {
  const std::string key = "node.kubernetes.io/";
  EXPECT_THAT(Acts({Tainted("n1", key + "unschedulable", "NoSchedule"),
                    Tainted("n2", key + "not-ready", "NoExecute"),
                    Tainted("n3", key + "memory-pressure", "NoSchedule"),
                    Tainted("n4", "dedicated", "NoSchedule"),
                    Tainted("n5", "dedicated", "PreferNoSchedule")},
                   {}),
              ElementsAre("make on n1", "make on n2", "make on n3", "make on n5"));
  EXPECT_THAT(Acts({Tainted("n4", "dedicated", "NoSchedule"), Tainted("n6", "drain", "NoExecute")},
                   {PodOn("n4", "stays"), PodOn("n6", "goes")}),
              ElementsAre("remove goes"));
}

TEST_F(DaemonSetPlanTest, DoublesAndUnplaceablePodsGo) {
  kube::Pod young = PodOn("n1", "young");
  young.metadata.creation_timestamp += 1min;
  kube::Pod waiting = kube::PendingPod("waiting");
  waiting.spec.affinity = kube::Decode<kube::Pod>(DaemonPod(set_, hash_, "gone"))->spec.affinity;
  EXPECT_THAT(Acts({NodeNamed("n1")}, {young, PodOn("n1", "old"), waiting}),
              UnorderedElementsAre("remove young", "remove waiting"));
}

TEST_F(DaemonSetPlanTest, EndedPodsAreReplacedAfterAPause) {
  kube::Pod refused = Ended(PodOn("n1", "refused"), "Failed");
  EXPECT_THAT(Acts({NodeNamed("n1")}, {refused}), ElementsAre("remove refused"));
  refused.metadata.creation_timestamp = kube::kTestNow - 4s;
  EXPECT_THAT(Acts({NodeNamed("n1")}, {refused}), IsEmpty());
  EXPECT_EQ(PlanNow({NodeNamed("n1")}, {refused}).again, Duration(6s));
}

TEST_F(DaemonSetPlanTest, UpdatesLeaveEnoughNodesServed) {
  const std::vector<kube::Node> nodes = {NodeNamed("n1"), NodeNamed("n2"), NodeNamed("n3")};
  EXPECT_THAT(Acts(nodes, {OldOn("n1", "a"), OldOn("n2", "b"), OldOn("n3", "c")}),
              ElementsAre("remove a"));
  kube::Pod starting = PodOn("n1", "a2");
  starting.status.conditions.clear();
  EXPECT_THAT(Acts(nodes, {starting, OldOn("n2", "b"), OldOn("n3", "c")}), IsEmpty());
  EXPECT_THAT(Acts(nodes, {PodOn("n1", "a2"), OldOn("n2", "b"), OldOn("n3", "c")}),
              ElementsAre("remove b"));
  kube::Pod broken = OldOn("n3", "c");
  broken.status.conditions.clear();
  EXPECT_THAT(Acts(nodes, {PodOn("n1", "a2"), OldOn("n2", "b"), broken}), ElementsAre("remove c"))
      << "what does not work anyway is replaced first, and uses the allowance up";
  set_.spec.update_strategy.type = "OnDelete";
  EXPECT_THAT(Acts(nodes, {OldOn("n1", "a"), OldOn("n2", "b"), OldOn("n3", "c")}), IsEmpty());
}

TEST_F(DaemonSetPlanTest, SurgeStartsTheNewPodBesideTheOld) {
  set_.spec.update_strategy.rolling_update = kube::RollingUpdate{.max_surge = kube::IntOrString(1)};
  const std::vector<kube::Node> nodes = {NodeNamed("n1"), NodeNamed("n2")};
  EXPECT_THAT(Acts(nodes, {OldOn("n1", "a"), OldOn("n2", "b")}), ElementsAre("make on n1"));
  kube::Pod starting = PodOn("n1", "a2");
  starting.status.conditions.clear();
  EXPECT_THAT(Acts(nodes, {OldOn("n1", "a"), starting, OldOn("n2", "b")}), IsEmpty());
  EXPECT_THAT(Acts(nodes, {OldOn("n1", "a"), PodOn("n1", "a2"), OldOn("n2", "b")}),
              ElementsAre("remove a"));
}

TEST_F(DaemonSetPlanTest, StatusCountsNodes) {
  kube::Pod unready = PodOn("n2", "b");
  unready.status.conditions.clear();
  const kube::Plan plan = PlanNow(
      {NodeNamed("n1"), NodeNamed("n2"), NodeNamed("n3"), Tainted("n4", "dedicated", "NoSchedule")},
      {PodOn("n1", "a"), unready, OldOn("n4", "d")});
  EXPECT_TRUE(kube::Equal(BodyOf(plan, "patch daemonsets/status default/agent"),
                          kube::ParseTestJson(R"({"status":{
        "desiredNumberScheduled":3,"currentNumberScheduled":2,"numberMisscheduled":1,
        "numberReady":1,"numberAvailable":1,"numberUnavailable":2,"updatedNumberScheduled":2,
        "observedGeneration":1}})")))
      << kube::Serialize(BodyOf(plan, "patch daemonsets/status default/agent"));
}

}  // namespace
}  // namespace koord::localcluster::daemon_set_plan_test
