#include "manager/profile/colocation_profile_controller.h"

#include <gtest/gtest.h>

#include <map>

#include "api/resources.h"
#include "base/virtual_loop.h"
#include "kube/events/event_recorders.h"
#include "kube/resources.h"
#include "kube/transport/in_process_transport.h"
#include "kube/yaml.h"

namespace koord::manager::colocation_profile_controller_test {
namespace {

using kube::Json;

// Pods, namespaces and profiles; patches of pods are noted and refused on request.
class FakeApi final : public kube::HttpHandler {
 public:
  void Handle(kube::HttpRequest request, std::shared_ptr<kube::ResponseWriter> writer) override {
    const std::string& target = request.target;
    if (target.find("sendInitialEvents") != target.npos) return writer->Finish({422, {}, "{}"});
    if (target.find("watch=") != target.npos) {
      writer->StartStream({200, {}, ""});
      return watches_.push_back(writer);
    }
    if (request.method == "PATCH") {
      patches.push_back(request.body);
      return writer->Finish({refuse ? 409 : 200, {}, "{}"});
    }
    for (const auto& [path, objects] : lists) {
      if (!target.starts_with(path)) continue;
      const bool is_list = target.size() == path.size() || target[path.size()] == '?';
      if (is_list) return writer->Finish({200, {}, kube::Serialize(List(objects))});
    }
    writer->Finish({200, {}, kube::Serialize(pod)});
  }

  std::map<std::string, std::vector<Json>> lists;
  Json pod;
  std::vector<std::string> patches;
  bool refuse = false;

 private:
  static Json List(const std::vector<Json>& objects) {
    return {{"kind", "List"},
            {"metadata", {{"resourceVersion", "9"}}},
            {"items", kube::json::array(objects.begin(), objects.end())}};
  }

  std::vector<std::shared_ptr<kube::ResponseWriter>> watches_;
};

class ColocationProfileControllerTest : public testing::Test {
 protected:
  static Json Yaml(std::string_view text) {
    auto parsed = kube::ParseYaml(text);
    EXPECT_TRUE(parsed.ok()) << Message(parsed.status());
    return *parsed;
  }

  void SetUp() override {
    api_.pod = Yaml(
        "{metadata: {name: p, namespace: default, uid: u, resourceVersion: '5', labels: {app: a}}, "
        "spec: {containers: [{name: c, command: [run]}]}, status: {phase: Pending}}");
    profile_ = Yaml(
        "{metadata: {name: x, resourceVersion: '3', labels: "
        "{config.koordinator.sh/controller-managed: 'true'}}, spec: {selector: {matchLabels: {app: "
        "a}}, qosClass: LS, schedulerName: other, priorityClassName: gone, patch: {spec: "
        "{containers: [{name: c, image: new}]}}}}");
  }
  void Start() {
    api_.lists["/api/v1/pods"] = {api_.pod};
    api_.lists["/api/v1/namespaces"] = {Yaml("{metadata: {name: default, resourceVersion: '1'}}")};
    api_.lists["/apis/config.koordinator.sh/v1alpha1/clustercolocationprofiles"] = {profile_};
    informers_.Start();
    loop_.RunReady();
    ASSERT_TRUE(informers_.synced());
    controller_.Start();
    loop_.RunReady();
  }

  VirtualLoop loop_;
  FakeApi api_;
  Json profile_;
  kube::Client client_{loop_, std::make_shared<kube::InProcessTransport>(loop_, api_), {.qps = 0}};
  kube::InformerSet informers_{client_};
  kube::EventRecorders recorders_{client_, 1};
  ColocationProfileController controller_{
      {{client_, informers_, recorders_.For("colocationprofile-controller")},
       informers_.Use<api::ClusterColocationProfile>(api::kClusterColocationProfiles),
       informers_.Use<kube::Namespace>(kube::kNamespaces),
       informers_.Use<kube::Pod>(kube::kPods)},
      {}};
};

TEST_F(ColocationProfileControllerTest, PatchesWhatWaitsAndKeepsTheRest) {
  Start();
  ASSERT_EQ(api_.patches.size(), 1u);
  EXPECT_TRUE(kube::Equal(
      *kube::ParseJson(api_.patches[0]),
      Yaml("{metadata: {resourceVersion: '5', labels: {koordinator.sh/qosClass: LS}}, spec: "
           "{containers: [{name: c, command: [run], image: new}]}}")))
      << api_.patches[0];
  // Not again for five minutes, then once more.
  loop_.Advance(std::chrono::seconds(290));
  EXPECT_EQ(api_.patches.size(), 1u);
  loop_.Advance(std::chrono::seconds(60));
  EXPECT_EQ(api_.patches.size(), 2u);
}

TEST_F(ColocationProfileControllerTest, TriesAgainWhatWasRefused) {
  api_.refuse = true;
  Start();
  EXPECT_EQ(api_.patches.size(), 1u);
  loop_.Advance(std::chrono::seconds(31));
  EXPECT_EQ(api_.patches.size(), 2u);
}

TEST_F(ColocationProfileControllerTest, LeavesAloneWhatDoesNotAskForIt) {
  kube::At(profile_, {"metadata", "labels"}) = kube::json::object();
  Start();
  loop_.Advance(std::chrono::minutes(1));
  EXPECT_TRUE(api_.patches.empty());
}

TEST_F(ColocationProfileControllerTest, LeavesAloneWhatRunsOrHasANode) {
  kube::At(api_.pod, {"spec", "nodeName"}) = "n";
  Start();
  EXPECT_TRUE(api_.patches.empty());
}

TEST_F(ColocationProfileControllerTest, NoSelectorMeansNoPod) {
  kube::Find(profile_, {"spec"})->as_object().erase("selector");
  Start();
  EXPECT_TRUE(api_.patches.empty());
}

}  // namespace
}  // namespace koord::manager::colocation_profile_controller_test
