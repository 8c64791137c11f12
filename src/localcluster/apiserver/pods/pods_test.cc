#include <gmock/gmock.h>

#include "localcluster/apiserver/server_testing.h"

namespace koord::apiserver::pods_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kSuccess[] =
    R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","code":201})";
constexpr char kBudgets[] = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";

const kube::Json* Condition(const kube::Json& object, std::string_view type) {
  const kube::Json* conditions = kube::Find(object, {"status", "conditions"});
  if (conditions == nullptr) return nullptr;
  for (const kube::Json& condition : conditions->as_array()) {
    if (kube::FindString(condition, {"type"}) == type) return &condition;
  }
  return nullptr;
}

class PodsTest : public testing::Test {
 protected:
  TestAnswer Bind(std::string_view node, const char* extra = "{}") {
    kube::Json binding = kube::json::object{{"metadata", Parse(extra)},
                                            {"target", kube::json::object{{"name", node}}}};
    return server.Post(pod + "/binding", binding);
  }
  TestAnswer Evict() {
    return server.Post(
        pod + "/eviction",
        Parse(R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p"}})"));
  }
  // A running, ready pod with label app=x.
  void CreateRunning(bool ready = true) {
    kube::Json object = TestPod("p");
    kube::At(object, {"metadata", "labels", "app"}) = "x";
    ASSERT_EQ(server.Post(kPodsPath, object).code, 201);
    ASSERT_EQ(Bind("n1").code, 201);
    const char* status = ready ? "True" : "False";
    ASSERT_EQ(
        server
            .MergePatch(
                pod + "/status",
                Parse(fmt::format(
                    R"({{"status":{{"phase":"Running","conditions":[{{"type":"Ready","status":"{}"}}]}}}})",
                    status)))
            .code,
        200);
  }
  void CreateBudget(std::string_view name, std::string_view status) {
    TestAnswer created = server.Post(
        kBudgets, Parse(fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":{{"minAvailable":2,)"
                                    R"("selector":{{"matchLabels":{{"app":"x"}}}}}}}})",
                                    name)));
    ASSERT_EQ(created.code, 201) << created.body;
    TestAnswer set = server.MergePatch(fmt::format("{}/{}/status", kBudgets, name),
                                       kube::json::object{{"status", Parse(status)}});
    ASSERT_EQ(set.code, 200) << set.body;
  }

  TestServer server;
  const std::string pod = std::string(kPodsPath) + "/p";
};

TEST_F(PodsTest, BindsOnce) {
  server.Post(kPodsPath, TestPod("p"));
  server.MergePatch(pod + "/status", Parse(R"({"status":{"nominatedNodeName":"n9"}})"));
  TestAnswer bound = Bind("n1", R"({"annotations":{"a":"b"},"labels":{"l":"m"}})");
  EXPECT_EQ(bound.code, 201);
  EXPECT_EQ(bound.body, kSuccess);
  TestAnswer got = server.Get(pod);
  EXPECT_EQ(got.String({"spec", "nodeName"}), "n1");
  EXPECT_EQ(got.String({"metadata", "annotations", "a"}), "b");
  EXPECT_EQ(got.String({"metadata", "labels", "l"}), "m");
  EXPECT_EQ(got.String({"status", "nominatedNodeName"}), "");
  ASSERT_NE(Condition(got.json, "PodScheduled"), nullptr);
  EXPECT_EQ(kube::FindString(*Condition(got.json, "PodScheduled"), {"status"}), "True");

  TestAnswer twice = Bind("n2");
  EXPECT_EQ(twice.code, 409);
  EXPECT_EQ(twice.reason(), "Conflict");
  EXPECT_EQ(
      twice.message(),
      "Operation cannot be fulfilled on pods/binding \"p\": pod p is already assigned to node "
      "\"n1\"");
}

TEST_F(PodsTest, BindingRefusals) {
  server.Post(kPodsPath, TestPod("p"));
  TestAnswer other = Bind("n1", R"({"name":"q"})");
  EXPECT_EQ(other.code, 400);
  EXPECT_EQ(other.message(), "name in URL does not match name in Binding object");
  TestAnswer nowhere = Bind("");
  EXPECT_EQ(nowhere.code, 500);
  EXPECT_EQ(nowhere.message(), "target.name: Required value");
  EXPECT_EQ(Bind("n1", R"({"uid":"other"})").code, 409);
  EXPECT_EQ(Bind("n1", R"({"resourceVersion":"1"})").code, 409);
  EXPECT_EQ(
      server.Post(std::string(kPodsPath) + "/q/binding", Parse(R"({"target":{"name":"n1"}})")).code,
      404);

  kube::Json gated = TestPod("g");
  kube::At(gated, {"spec", "schedulingGates"}) = Parse(R"([{"name":"x.io/g"}])");
  TestAnswer created = server.Post(kPodsPath, gated);
  ASSERT_EQ(created.code, 201) << created.body;
  const kube::Json* scheduled = Condition(created.json, "PodScheduled");
  ASSERT_NE(scheduled, nullptr);
  EXPECT_EQ(kube::FindString(*scheduled, {"reason"}), "SchedulingGated");
  EXPECT_EQ(kube::FindString(*scheduled, {"message"}),
            "Scheduling is blocked due to non-empty scheduling gates");
  TestAnswer blocked =
      server.Post(std::string(kPodsPath) + "/g/binding", Parse(R"({"target":{"name":"n1"}})"));
  EXPECT_EQ(blocked.message(),
            "Operation cannot be fulfilled on pods/binding \"g\": pod g has non-empty "
            ".spec.schedulingGates");
}

TEST_F(PodsTest, BindingsIsAnotherDoor) {
  server.Post(kPodsPath, TestPod("p"));
  EXPECT_EQ(server
                .Post("/api/v1/namespaces/default/bindings",
                      Parse(R"({"metadata":{"name":"p"},"target":{"kind":"Node","name":"n1"}})"))
                .code,
            201);
  EXPECT_EQ(server.Get(pod).String({"spec", "nodeName"}), "n1");
}

TEST_F(PodsTest, EvictionAsksTheBudget) {
  CreateRunning();
  CreateBudget("b", R"({"observedGeneration":1,"disruptionsAllowed":0,"desiredHealthy":2,
                        "currentHealthy":2,"expectedPods":2})");
  TestAnswer refused = Evict();
  EXPECT_EQ(refused.code, 429);
  EXPECT_EQ(refused.reason(), "TooManyRequests");
  EXPECT_EQ(refused.message(), "Cannot evict pod as it would violate the pod's disruption budget.");
  const kube::Json& cause = refused.json.at("details").at("causes").at(0);
  EXPECT_EQ(kube::FindString(cause, {"reason"}), "DisruptionBudget");
  EXPECT_EQ(kube::FindString(cause, {"message"}),
            "The disruption budget b needs 2 healthy pods and has 2 currently");
  EXPECT_FALSE(refused.headers.Has("Retry-After"));

  server.MergePatch(std::string(kBudgets) + "/b/status",
                    Parse(R"({"status":{"disruptionsAllowed":1,"currentHealthy":3}})"));
  TestAnswer evicted = Evict();
  ASSERT_EQ(evicted.code, 201) << evicted.body;
  EXPECT_EQ(evicted.body, kSuccess);
  TestAnswer budget = server.Get(std::string(kBudgets) + "/b");
  EXPECT_EQ(kube::FindInt(budget.json, {"status", "disruptionsAllowed"}, -1), 0);
  EXPECT_NE(budget.String({"status", "disruptedPods", "p"}), "");
  ASSERT_NE(Condition(budget.json, "DisruptionAllowed"), nullptr);
  EXPECT_EQ(kube::FindString(*Condition(budget.json, "DisruptionAllowed"), {"reason"}),
            "InsufficientPods");
  TestAnswer going = server.Get(pod);
  EXPECT_NE(going.String({"metadata", "deletionTimestamp"}), "");
  ASSERT_NE(Condition(going.json, "DisruptionTarget"), nullptr);
  EXPECT_EQ(kube::FindString(*Condition(going.json, "DisruptionTarget"), {"reason"}),
            "EvictionByEvictionAPI");
}

TEST_F(PodsTest, EvictionWaitsForTheBudgetsController) {
  CreateRunning();
  CreateBudget("b", R"({"observedGeneration":0,"disruptionsAllowed":1})");
  TestAnswer refused = Evict();
  EXPECT_EQ(refused.code, 429);
  EXPECT_EQ(refused.headers.Get("Retry-After"), "10");
  EXPECT_EQ(kube::FindString(refused.json.at("details").at("causes").at(0), {"message"}),
            "The disruption budget b is still being processed by the server.");
}

TEST_F(PodsTest, EvictionNeedsNoBudgetForPodsThatDoNotServe) {
  server.Post(kPodsPath, TestPod("p"));  // pending
  CreateBudget("b", R"({"observedGeneration":1,"disruptionsAllowed":0})");
  EXPECT_EQ(Evict().code, 201);
  EXPECT_EQ(server.Get(pod).code, 404);
  EXPECT_EQ(Evict().code, 404);

  CreateRunning(false);
  TestAnswer unhealthy = Evict();
  EXPECT_EQ(unhealthy.code, 429);  // nothing healthy at all
  server.MergePatch(std::string(kBudgets) + "/b/status",
                    Parse(R"({"status":{"desiredHealthy":2,"currentHealthy":2}})"));
  EXPECT_EQ(Evict().code, 201);
}

// An eviction is one request for admission, a CREATE of pods/eviction: the deletion and the binding
// that follow from a request are not asked about again.
TEST_F(PodsTest, AdmissionSeesBindingsAndEvictionsOnce) {
  std::vector<std::string> seen;
  bool allow = false;
  InProcessHook hook;
  hook.name = "test";
  hook.rules.push_back({{"*"}, {"*"}, {"*"}, {"pods/*"}, "*"});
  hook.mutate = [](AdmissionRequest& request) -> Status {
    if (request.subresource == "eviction") {
      kube::At(request.object, {"deleteOptions", "gracePeriodSeconds"}) = 7;
    }
    return absl::OkStatus();
  };
  hook.validate = [&](const AdmissionRequest& request) -> Status {
    seen.push_back(fmt::format("{} {} {} {}", ToString(request.operation), request.subresource,
                               kube::FindString(request.object, {"apiVersion"}),
                               kube::FindString(request.object, {"kind"})));
    if (request.subresource == "eviction" && !allow) return InvalidArgument("not now");
    return absl::OkStatus();
  };
  ASSERT_EQ(server.Post(kPodsPath, TestPod("p")).code, 201);
  server.server->RegisterAdmission(std::move(hook));
  ASSERT_EQ(Bind("n1").code, 201);
  const TestAnswer refused = Evict();
  EXPECT_EQ(refused.code, 403) << refused.body;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("not now"));
  EXPECT_EQ(kube::Find(server.Get(pod).json, {"metadata", "deletionTimestamp"}), nullptr);
  allow = true;
  EXPECT_EQ(Evict().code, 201);
  EXPECT_EQ(kube::FindInt(server.Get(pod).json, {"metadata", "deletionGracePeriodSeconds"}), 7);
  EXPECT_THAT(seen, ElementsAre("CREATE binding v1 Binding", "CREATE eviction policy/v1 Eviction",
                                "CREATE eviction policy/v1 Eviction"));
}

TEST_F(PodsTest, AdmissionCannotSendABindingOrAnEvictionToAnotherPod) {
  ASSERT_EQ(server.Post(kPodsPath, TestPod("p")).code, 201);
  ASSERT_EQ(server.Post(kPodsPath, TestPod("q")).code, 201);
  InProcessHook hook;
  hook.name = "test";
  hook.rules.push_back({{"CREATE"}, {""}, {"v1"}, {"pods/binding", "pods/eviction"}, "*"});
  hook.mutate = [](AdmissionRequest& request) -> Status {
    kube::At(request.object, {"metadata", "name"}) = "q";
    return absl::OkStatus();
  };
  server.server->RegisterAdmission(std::move(hook));
  const TestAnswer bound = Bind("n1");
  EXPECT_EQ(bound.code, 400);
  EXPECT_EQ(bound.message(), "name in URL does not match name in Binding object");
  const TestAnswer evicted = Evict();
  EXPECT_EQ(evicted.code, 400);
  EXPECT_EQ(evicted.message(), "name in URL does not match name in Eviction object");
}

TEST_F(PodsTest, ABindingIsOfItsType) {
  ASSERT_EQ(server.Post(kPodsPath, TestPod("p")).code, 201);
  const TestAnswer bound = server.Post(
      pod + "/binding",
      Parse(R"({"metadata":{"annotations":{"a":{"b":1}}},"target":{"kind":"Node","name":"n"}})"));
  EXPECT_EQ(bound.code, 400);
  EXPECT_THAT(std::string(bound.message()),
              HasSubstr("metadata.annotations.a: expected a string, found an object"));
}

// Webhooks are asked about every part of a pod that their rules name.
TEST_F(PodsTest, AdmissionSeesWritesToSubresources) {
  ASSERT_EQ(server.Post(kPodsPath, TestPod("p")).code, 201);
  std::vector<std::string> seen;
  InProcessHook hook;
  hook.name = "test";
  hook.rules.push_back({{"CREATE", "UPDATE"},
                        {""},
                        {"v1"},
                        {"pods/status", "pods/binding", "pods/resize", "pods/ephemeralcontainers"},
                        "*"});
  hook.validate = [&](const AdmissionRequest& request) -> Status {
    seen.push_back(fmt::format("{} {}", ToString(request.operation), request.subresource));
    const bool marked =
        kube::Find(request.object, {"metadata", "annotations", "example.com/mark"}) != nullptr;
    return marked ? InvalidArgument("only the scheduler may mark") : absl::OkStatus();
  };
  server.server->RegisterAdmission(std::move(hook));
  const kube::Json mark = Parse(R"({"metadata":{"annotations":{"example.com/mark":"x"}}})");
  kube::Json binding = mark;
  kube::At(binding, {"target"}) = Parse(R"({"kind":"Node","name":"n1"})");
  EXPECT_EQ(server.Post(pod + "/binding", binding).code, 403);
  // Of metadata, a write to /status may change labels and annotations; the others may not.
  EXPECT_EQ(server.MergePatch(pod + "/status", mark).code, 403);
  EXPECT_EQ(server.MergePatch(pod + "/resize", mark).code, 200);
  EXPECT_EQ(server.MergePatch(pod + "/ephemeralcontainers", mark).code, 200);
  EXPECT_EQ(kube::Find(server.Get(pod).json, {"metadata", "annotations"}), nullptr);
  EXPECT_THAT(seen, ElementsAre("CREATE binding", "UPDATE status", "UPDATE resize",
                                "UPDATE ephemeralcontainers"));
}

TEST_F(PodsTest, StatusMayChangeLabelsAndAnnotationsOnlyOfMetadata) {
  ASSERT_EQ(server.Post(kPodsPath, TestPod("p")).code, 201);
  const TestAnswer answer = server.MergePatch(
      pod + "/status",
      Parse(R"({"metadata":{"labels":{"a":"b"},"annotations":{"c":"d"},"ownerReferences":[
          {"apiVersion":"v1","kind":"Node","name":"n","uid":"u"}]},"spec":{"nodeName":"n"},
          "status":{"message":"m"}})"));
  ASSERT_EQ(answer.code, 200) << answer.body;
  EXPECT_EQ(answer.String({"metadata", "labels", "a"}), "b");
  EXPECT_EQ(answer.String({"metadata", "annotations", "c"}), "d");
  EXPECT_EQ(kube::Find(answer.json, {"metadata", "ownerReferences"}), nullptr);
  EXPECT_EQ(kube::Find(answer.json, {"spec", "nodeName"}), nullptr);
  EXPECT_EQ(answer.String({"status", "message"}), "m");
}

// A patch that does what the subresource is for, and brings metadata along.
TEST_F(PodsTest, ResizeAndEphemeralContainersChangeNothingOfMetadata) {
  kube::Json sized = TestPod("p");
  kube::At(sized, {"metadata", "labels"}) = Parse(R"({"app":"x"})");
  sized.at("spec").at("containers").at(0).as_object()["resources"] =
      Parse(R"({"requests":{"cpu":"1"}})");
  const TestAnswer made = server.Post(kPodsPath, sized);
  ASSERT_EQ(made.code, 201) << made.body;
  const char* metadata =
      R"("metadata":{"labels":{"app":"y","a":"b"},"annotations":{"c":"d"},"finalizers":["e/f"],
          "ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n","uid":"u"}]},
          "status":{"message":"m"})";
  const std::pair<const char*, const char*> kPatches[] = {
      {"resize", R"("containers":[{"name":"c","resources":{"requests":{"cpu":"2"}}}])"},
      {"ephemeralcontainers", R"("ephemeralContainers":[{"name":"d","image":"busybox"}])"}};
  for (const auto& [subresource, spec] : kPatches) {
    const TestAnswer patched =
        server.Send("PATCH", fmt::format("{}/{}", pod, subresource),
                    fmt::format(R"({{{},"spec":{{"nodeName":"n",{}}}}})", metadata, spec),
                    "application/strategic-merge-patch+json");
    ASSERT_EQ(patched.code, 200) << patched.body;
  }
  const kube::Json stored = server.Get(pod).json;
  EXPECT_EQ(
      kube::FindString(stored.at("spec").at("containers").at(0), {"resources", "requests", "cpu"}),
      "2");
  EXPECT_EQ(stored.at("spec").at("ephemeralContainers").as_array().size(), 1u);
  EXPECT_EQ(stored.at("metadata").at("labels"), Parse(R"({"app":"x"})"));
  for (const char* field : {"annotations", "finalizers", "ownerReferences"}) {
    EXPECT_EQ(kube::Find(stored, {"metadata", field}), nullptr) << field;
  }
  EXPECT_EQ(kube::Find(stored, {"spec", "nodeName"}), nullptr);
  EXPECT_EQ(kube::Find(stored, {"status", "message"}), nullptr);
}

// What cannot be done is refused and not left out.
TEST_F(PodsTest, AResizeThatAddsAContainerOrMoreOfAnotherResourceIsRefused) {
  kube::Json sized = TestPod("p");
  sized.at("spec").at("containers").at(0).as_object()["resources"] =
      Parse(R"({"requests":{"cpu":"1"},"limits":{"kubernetes.io/batch-cpu":"1k"}})");
  ASSERT_EQ(server.Post(kPodsPath, sized).code, 201);
  const auto resize = [&](const char* containers) {
    return server.Send("PATCH", pod + "/resize",
                       fmt::format(R"({{"metadata":{{"labels":{{"a":"b"}}}},
                                        "spec":{{"containers":[{}]}}}})",
                                   containers),
                       "application/strategic-merge-patch+json");
  };
  EXPECT_EQ(resize(R"({"name":"new","image":"i"})").code, 422);
  EXPECT_EQ(resize(R"({"name":"c","resources":{"limits":{"kubernetes.io/batch-cpu":"64k"}}})").code,
            422);
  EXPECT_EQ(resize(R"({"name":"c","resources":{"requests":null}})").code, 422);
  EXPECT_EQ(kube::Find(server.Get(pod).json, {"metadata", "labels"}), nullptr);
}

TEST_F(PodsTest, EvictionRefusesTwoBudgets) {
  CreateRunning();
  CreateBudget("b", R"({"observedGeneration":1,"disruptionsAllowed":1})");
  CreateBudget("c", R"({"observedGeneration":1,"disruptionsAllowed":1})");
  TestAnswer refused = Evict();
  EXPECT_EQ(refused.code, 500);
  EXPECT_EQ(
      refused.message(),
      "This pod has more than one PodDisruptionBudget, which the eviction subresource does not "
      "support.");
  server.Delete(std::string(kBudgets) + "/c");
  EXPECT_EQ(server.Post(pod + "/eviction?dryRun=All", Parse(R"({"metadata":{"name":"p"}})")).code,
            201);
  EXPECT_EQ(server.Get(pod).String({"metadata", "deletionTimestamp"}), "");
  EXPECT_EQ(server.Post(pod + "/eviction", Parse(R"({"metadata":{"name":"q"}})")).code, 400);
}

TEST_F(PodsTest, AdmissionFillsInPriorityAccountAndTolerations) {
  TestAnswer plain = server.Post(kPodsPath, TestPod("p"));
  EXPECT_EQ(kube::FindInt(plain.json, {"spec", "priority"}, -1), 0);
  EXPECT_EQ(plain.String({"spec", "preemptionPolicy"}), "PreemptLowerPriority");
  EXPECT_EQ(plain.String({"spec", "serviceAccountName"}), "default");
  EXPECT_EQ(
      plain.json.at("spec").at("tolerations"),
      Parse(R"([{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute",
                       "tolerationSeconds":300},
                      {"key":"node.kubernetes.io/unreachable","operator":"Exists",
                       "effect":"NoExecute","tolerationSeconds":300}])"));

  kube::Json critical = TestPod("q");
  kube::At(critical, {"spec", "priorityClassName"}) = "system-node-critical";
  EXPECT_EQ(kube::FindInt(server.Post(kPodsPath, critical).json, {"spec", "priority"}), 2000001000);
  kube::At(critical, {"spec", "priorityClassName"}) = "x";
  TestAnswer unknown = server.Post(kPodsPath, critical);
  EXPECT_EQ(unknown.code, 403);
  EXPECT_EQ(unknown.message(), "pods \"q\" is forbidden: no PriorityClass with name x was found");
  kube::Json given = TestPod("r");
  kube::At(given, {"spec", "priority"}) = 7;
  EXPECT_EQ(server.Post(kPodsPath, given).code, 403);

  server.Post("/apis/scheduling.k8s.io/v1/priorityclasses",
              Parse(R"({"metadata":{"name":"usual"},"value":42,"globalDefault":true,
                        "preemptionPolicy":"Never"})"));
  TestAnswer usual = server.Post(kPodsPath, TestPod("s"));
  EXPECT_EQ(kube::FindInt(usual.json, {"spec", "priority"}), 42);
  EXPECT_EQ(usual.String({"spec", "priorityClassName"}), "usual");
  EXPECT_EQ(usual.String({"spec", "preemptionPolicy"}), "Never");
}

TEST_F(PodsTest, SpecIsFixedButForAFewFields) {
  kube::Json sized = TestPod("p");
  sized.at("spec").at("containers").at(0).as_object()["resources"] =
      Parse(R"({"requests":{"cpu":"500m"}})");
  server.Post(kPodsPath, sized);
  TestAnswer moved = server.MergePatch(pod, Parse(R"({"spec":{"nodeName":"n1"}})"));
  EXPECT_EQ(moved.code, 422);
  EXPECT_THAT(std::string(moved.message()),
              HasSubstr("spec: Forbidden: pod updates may not change fields other than "
                        "`spec.containers[*].image`,`spec.initContainers[*].image`,"));
  TestAnswer resized =
      server.Send("PATCH", pod + "/resize",
                  R"({"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}})",
                  "application/strategic-merge-patch+json");
  ASSERT_EQ(resized.code, 200) << resized.body;
  EXPECT_EQ(kube::FindString(resized.json.at("spec").at("containers").at(0),
                             {"resources", "requests", "cpu"}),
            "1");
  TestAnswer debug =
      server.Send("PATCH", pod + "/ephemeralcontainers",
                  R"({"spec":{"ephemeralContainers":[{"name":"d","image":"busybox"}]}})",
                  "application/strategic-merge-patch+json");
  ASSERT_EQ(debug.code, 200) << debug.body;
  EXPECT_EQ(debug.json.at("spec").at("ephemeralContainers").as_array().size(), 1u);
}

TEST_F(PodsTest, StatusKeepsIpsTogether) {
  server.Post(kPodsPath, TestPod("p"));
  TestAnswer first =
      server.MergePatch(pod + "/status", Parse(R"({"status":{"podIP":"10.0.0.1"}})"));
  EXPECT_EQ(first.json.at("status").at("podIPs"), Parse(R"([{"ip":"10.0.0.1"}])"));
  TestAnswer second =
      server.MergePatch(pod + "/status", Parse(R"({"status":{"podIP":"10.0.0.2"}})"));
  EXPECT_EQ(second.json.at("status").at("podIPs"), Parse(R"([{"ip":"10.0.0.2"}])"));
}

}  // namespace
}  // namespace koord::apiserver::pods_test
