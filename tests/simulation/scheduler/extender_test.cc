#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "simulation/scheduler/scheduler_bed_testing.h"

// An extender that looks after a resource of its own: no node says that it has any.
namespace koord::localcluster::extender_test {
namespace {

using kube::json::array;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Keeper final : public kube::HttpHandler {
 public:
  void Handle(kube::HttpRequest request, std::shared_ptr<kube::ResponseWriter> response) override {
    asked.push_back(request.target);
    const kube::Json args = *kube::ParseJson(request.body);
    array left;
    for (const kube::Json& node : *kube::FindArray(args, {"NodeNames"})) {
      if (node == "n2") left.push_back(node);
    }
    response->Finish({200,
                      {},
                      kube::Serialize({{"NodeNames", std::move(left)},
                                       {"FailedNodes", {{"n1", "no licence"}}}})});
  }

  std::vector<std::string> asked;
};

scheduler::Extender Settings() {
  return {.url_prefix = "http://keeper",
          .filter_verb = "filter",
          .http_timeout = 5s,
          .node_cache_capable = true,
          .managed_resources = {{.name = "example.com/licence", .ignored_by_scheduler = true}}};
}

kube::Json LicensedPod(std::string_view name) {
  kube::Json pod = SchedulerBed::Pod(name, "3");
  kube::Json& container = kube::At(pod, {"spec", "containers"}).as_array().at(0);
  kube::At(container, {"resources", "requests"}).as_object()["example.com/licence"] = "1";
  kube::At(container, {"resources", "limits"}) = {{"example.com/licence", "1"}};
  return pod;
}

TEST(SchedulerWithExtender, LeavesAResourceToItAndSaysWhatItSaid) {
  Keeper keeper;
  SchedulerBed bed({.settings = Settings(), .extender = &keeper});
  EXPECT_THAT(bed.app->warnings(), IsEmpty());
  bed.AddNode("n1");
  bed.AddNode("n2");
  bed.Create(SchedulerBed::kPods, LicensedPod("first"));
  bed.server.loop.Advance(2s);
  EXPECT_EQ(bed.NodeOf("first"), "n2");
  bed.Create(SchedulerBed::kPods, SchedulerBed::Pod("plain", "1"));
  bed.server.loop.Advance(2s);
  EXPECT_EQ(bed.NodeOf("plain"), "n1") << "where more is free";
  EXPECT_THAT(keeper.asked, ElementsAre("/filter"));
  // n2 is full, and the extender does not want n1.
  bed.Create(SchedulerBed::kPods, LicensedPod("second"));
  bed.server.loop.Advance(2s);
  EXPECT_EQ(bed.NodeOf("second"), "");
  EXPECT_THAT(bed.server.Get(std::string(SchedulerBed::kPods) + "/second").body,
              HasSubstr("0/2 nodes are available: 1 Insufficient cpu, 1 no licence."));
}

TEST(SchedulerWithExtender, WarnsWhereItCannotBeReached) {
  SchedulerBed bed({.settings = Settings()});
  EXPECT_THAT(bed.app->warnings(), ElementsAre("extenders[0]: the extender at http://keeper is not "
                                               "asked as filterVerb says"));
}

// Agrees to evictions on one node only.
class Warden final : public kube::HttpHandler {
 public:
  void Handle(kube::HttpRequest request, std::shared_ptr<kube::ResponseWriter> response) override {
    const kube::Json args = *kube::ParseJson(request.body);
    kube::json::object left;
    for (const auto& [node, victims] : *kube::FindObject(args, {"NodeNameToVictims"})) {
      asked.insert(std::string(node));
      if (node != allowed) continue;
      array pods;
      for (const kube::Json& pod : *kube::FindArray(victims, {"Pods"})) {
        pods.emplace_back(kube::json::object{{"UID", kube::FindString(pod, {"metadata", "uid"})}});
      }
      left[node] = kube::json::object{{"Pods", std::move(pods)}, {"NumPDBViolations", 0}};
    }
    response->Finish({200, {}, kube::Serialize({{"NodeNameToMetaVictims", std::move(left)}})});
  }

  std::string allowed;
  std::set<std::string> asked;
};

class Eviction : public testing::TestWithParam<std::string> {
 protected:
  Eviction() {
    warden_.allowed = GetParam();
    bed_.AddPriorityClass("least", 1);
    bed_.AddPriorityClass("less", 10);
    bed_.AddPriorityClass("more", 100);
    bed_.AddNode("n1");
    bed_.AddNode("n2");
    Create("on-n1", "least", "n1");
    Create("on-n2", "less", "n2");
    bed_.server.loop.Advance(1s);
    Create("new", "more", "");
    bed_.server.loop.Advance(2s);
  }
  void Create(std::string_view name, std::string_view priority, std::string_view node) {
    kube::Json pod = SchedulerBed::Pod(name, "3");
    kube::At(pod, {"spec", "priorityClassName"}) = priority;
    if (!node.empty()) kube::At(pod, {"spec", "nodeName"}) = node;
    bed_.Create(SchedulerBed::kPods, pod);
  }
  auto Get(const std::string& pod) {
    return bed_.server.Get(std::string(SchedulerBed::kPods) + "/" + pod);
  }
  bool Leaves(const std::string& pod) {
    const auto answer = Get(pod);
    return answer.code == 404 || !answer.String({"metadata", "deletionTimestamp"}).empty();
  }

  Warden warden_;
  SchedulerBed bed_{{.settings = scheduler::Extender{.url_prefix = "http://warden",
                                                     .preempt_verb = "preempt",
                                                     .http_timeout = 5s},
                     .extender = &warden_}};
};

// The pod on n1 matters less: without a word of the extender it would go.
TEST_P(Eviction, HappensWhereTheExtenderAgrees) {
  EXPECT_THAT(bed_.app->warnings(), IsEmpty());
  EXPECT_THAT(warden_.asked, ElementsAre("n1", "n2"));
  EXPECT_EQ(Leaves("on-n1"), GetParam() == "n1");
  EXPECT_EQ(Leaves("on-n2"), GetParam() == "n2");
  if (!GetParam().empty()) return;
  EXPECT_THAT(Get("new").body, HasSubstr("no candidate node for preemption"));
}

INSTANTIATE_TEST_SUITE_P(Nodes, Eviction, testing::Values("n1", "n2", ""));

}  // namespace
}  // namespace koord::localcluster::extender_test
