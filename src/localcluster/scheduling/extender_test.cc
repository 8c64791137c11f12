#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "localcluster/scheduling/scheduler_bed_testing.h"

// An extender that looks after a resource of its own: no node says that it has any.
namespace koord::localcluster {
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
  SchedulerBed bed(Settings(), &keeper);
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
  SchedulerBed bed(Settings());
  EXPECT_THAT(bed.app->warnings(), ElementsAre("extenders[0]: the extender at http://keeper is not "
                                               "asked as filterVerb says"));
}

}  // namespace
}  // namespace koord::localcluster
