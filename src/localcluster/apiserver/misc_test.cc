#include <gmock/gmock.h>

#include "kube/resources.h"
#include "localcluster/apiserver/server_testing.h"

namespace koord::apiserver::misc_test {
namespace {

using testing::HasSubstr;

TEST(BootstrapTest, EveryClusterHasThese) {
  TestServer server;
  for (const char* name : {"default", "kube-system", "kube-public", "kube-node-lease"}) {
    TestAnswer ns = server.Get(std::string("/api/v1/namespaces/") + name);
    ASSERT_EQ(ns.code, 200) << name;
    EXPECT_EQ(ns.String({"status", "phase"}), "Active");
    EXPECT_EQ(ns.String({"metadata", "labels", "kubernetes.io/metadata.name"}), name);
    EXPECT_EQ(ns.json.at("spec").at("finalizers"), kube::Json(kube::json::array{"kubernetes"}));
    EXPECT_EQ(
        server.Get(std::string("/api/v1/namespaces/") + name + "/serviceaccounts/default").code,
        200);
  }
  EXPECT_EQ(server.Get("/api/v1/namespaces/default/services/kubernetes").code, 200);
  EXPECT_EQ(
      kube::FindInt(
          server.Get("/apis/scheduling.k8s.io/v1/priorityclasses/system-cluster-critical").json,
          {"value"}),
      2000000000);
  server.Post("/api/v1/namespaces", Parse(R"({"metadata":{"name":"new"}})"));
  EXPECT_EQ(server.Get("/api/v1/namespaces/new/serviceaccounts/default").code, 200);
}

// The newest of the classes that are marked as default, unless the claim says something itself.
TEST(AdmissionTest, ClaimsGetTheDefaultStorageClass) {
  TestServer server;
  const auto class_of = [&](std::string_view name, std::string_view annotations,
                            std::string_view spec) {
    const TestAnswer answer = server.Post(
        "/api/v1/namespaces/default/persistentvolumeclaims",
        Parse(fmt::format(R"({{"metadata":{{"name":"{}","annotations":{{{}}}}},"spec":{{)"
                          R"("accessModes":["ReadWriteOnce"],"resources":{{"requests":)"
                          R"({{"storage":"1Gi"}}}}{}}}}})",
                          name, annotations, spec)));
    EXPECT_EQ(answer.code, 201) << answer.body;
    const kube::Json* value = kube::Find(answer.json, {"spec", "storageClassName"});
    return value == nullptr ? "none" : kube::Serialize(*value);
  };
  const auto create_class = [&](std::string_view name, std::string_view mark) {
    const TestAnswer answer = server.Post(
        "/apis/storage.k8s.io/v1/storageclasses",
        Parse(fmt::format(R"({{"metadata":{{"name":"{}","annotations":{{"{}":"true"}}}},)"
                          R"("provisioner":"p"}})",
                          name, mark)));
    EXPECT_EQ(answer.code, 201) << answer.body;
    server.loop.Advance(2s);
  };
  EXPECT_EQ(class_of("early", "", ""), "none");
  create_class("b", "storageclass.kubernetes.io/is-default-class");
  create_class("c", "example.com/unrelated");
  EXPECT_EQ(class_of("open", "", ""), R"("b")");
  create_class("a", "storageclass.beta.kubernetes.io/is-default-class");
  EXPECT_EQ(class_of("newest", "", ""), R"("a")");
  EXPECT_EQ(class_of("said", "", R"(,"storageClassName":"c")"), R"("c")");
  EXPECT_EQ(class_of("empty", "", R"(,"storageClassName":"")"), R"("")");
  EXPECT_EQ(class_of("old", R"("volume.beta.kubernetes.io/storage-class":"c")", ""), "none");
}

TEST(EventsTest, TwoViewsOfOneObject) {
  TestServer server;
  const std::string core = "/api/v1/namespaces/default/events";
  const std::string v1 = "/apis/events.k8s.io/v1/namespaces/default/events";
  TestAnswer created = server.Post(core, Parse(R"({
    "metadata":{"name":"e"},"involvedObject":{"kind":"Pod","name":"p","namespace":"default"},
    "reason":"R","message":"hello","type":"Normal","count":2,"source":{"component":"me"}})"));
  ASSERT_EQ(created.code, 201) << created.body;
  TestAnswer other = server.Get(v1 + "/e");
  ASSERT_EQ(other.code, 200);
  EXPECT_EQ(other.String({"apiVersion"}), "events.k8s.io/v1");
  EXPECT_EQ(other.String({"note"}), "hello");
  EXPECT_EQ(other.String({"regarding", "name"}), "p");
  EXPECT_EQ(kube::FindInt(other.json, {"deprecatedCount"}), 2);
  EXPECT_EQ(other.String({"deprecatedSource", "component"}), "me");
  EXPECT_EQ(kube::Find(other.json, {"message"}), nullptr);

  TestAnswer modern = server.Post(v1, Parse(R"({
    "metadata":{"name":"f"},"regarding":{"kind":"Pod","name":"q","namespace":"default"},
    "reason":"R","note":"n","type":"Warning","action":"Act","eventTime":"2026-07-01T00:00:00.000000Z",
    "reportingController":"c","reportingInstance":"i"})"));
  ASSERT_EQ(modern.code, 201) << modern.body;
  EXPECT_EQ(server.Get(core + "/f").String({"message"}), "n");
  EXPECT_EQ(server.Get(core + "/f").String({"reportingComponent"}), "c");
  EXPECT_EQ(server.Get(core + "?fieldSelector=involvedObject.name%3Dq")
                .json.at("items")
                .as_array()
                .size(),
            1u);
  EXPECT_EQ(server.Get(v1 + "?fieldSelector=regarding.name%3Dp").json.at("items").as_array().size(),
            1u);

  TestAnswer incomplete = server.Post(v1, Parse(R"({"metadata":{"name":"g"},"note":"n",
      "regarding":{"namespace":"default"}})"));
  EXPECT_EQ(incomplete.code, 422);
  EXPECT_THAT(std::string(incomplete.message()), HasSubstr("reportingController: Required value"));
  TestAnswer elsewhere = server.Post(core, Parse(R"({"metadata":{"name":"h"},
      "involvedObject":{"namespace":"kube-system"}})"));
  EXPECT_EQ(elsewhere.code, 422);
}

TEST(EventsTest, ExpireAnHourAfterTheirLastWrite) {
  TestServer server;
  const std::string path = "/api/v1/namespaces/default/events";
  for (const char* name : {"a", "b"}) {
    server.Post(path, Parse(fmt::format(R"({{"metadata":{{"name":"{}"}},"involvedObject":)"
                                        R"({{"namespace":"default"}},"count":1}})",
                                        name)));
  }
  server.loop.Advance(50min);
  server.MergePatch(path + "/b", Parse(R"({"count":2})"));
  server.loop.Advance(12min);
  EXPECT_EQ(server.Get(path + "/a").code, 404);
  EXPECT_EQ(server.Get(path + "/b").code, 200);
  server.loop.Advance(1h);
  EXPECT_EQ(server.Get(path + "/b").code, 404);
}

TEST(ReviewsTest, WhoAmIAndWhatMayI) {
  ApiServer::Options options;
  options.review_token = [](std::string_view token) -> std::optional<kube::UserInfo> {
    if (token != "good") return {};
    return kube::UserInfo{"jane", "7", {"devs"}, {}};
  };
  options.issue_token = [](const kube::Json& account, const kube::Json& spec) {
    return fmt::format("{}/{}/{}/{}", kube::FindString(account, {"metadata", "namespace"}),
                       kube::FindString(account, {"metadata", "name"}),
                       kube::FindString(account, {"metadata", "uid"}),
                       kube::FindInt(spec, {"expirationSeconds"}));
  };
  TestServer server(std::move(options));
  TestAnswer self = server.Post("/apis/authentication.k8s.io/v1/selfsubjectreviews", Parse("{}"));
  EXPECT_EQ(self.code, 201);
  EXPECT_EQ(self.String({"status", "userInfo", "username"}), "admin");

  const std::string authz = "/apis/authorization.k8s.io/v1/";
  TestAnswer may = server.Post(authz + "selfsubjectaccessreviews",
                               Parse(R"({"spec":{"resourceAttributes":{"verb":"delete"}}})"));
  EXPECT_TRUE(kube::FindBool(may.json, {"status", "allowed"}));
  TestAnswer anonymous =
      server.Post(authz + "subjectaccessreviews", Parse(R"({"spec":{"user":"system:anonymous"}})"));
  EXPECT_FALSE(kube::FindBool(anonymous.json, {"status", "allowed"}, true));
  TestAnswer rules =
      server.Post(authz + "selfsubjectrulesreviews", Parse(R"({"spec":{"namespace":"default"}})"));
  EXPECT_EQ(rules.json.at("status").at("resourceRules").at(0).at("verbs"),
            kube::Json(kube::json::array{"*"}));

  const std::string tokens = "/apis/authentication.k8s.io/v1/tokenreviews";
  TestAnswer good = server.Post(tokens, Parse(R"({"spec":{"token":"good"}})"));
  EXPECT_TRUE(kube::FindBool(good.json, {"status", "authenticated"}));
  EXPECT_EQ(good.String({"status", "user", "username"}), "jane");
  TestAnswer bad = server.Post(tokens, Parse(R"({"spec":{"token":"bad"}})"));
  EXPECT_FALSE(kube::FindBool(bad.json, {"status", "authenticated"}, true));

  const std::string account = "/api/v1/namespaces/default/serviceaccounts/default";
  const std::string uid(server.Get(account).String({"metadata", "uid"}));
  EXPECT_FALSE(uid.empty());
  const std::string token = account + "/token";
  TestAnswer issued = server.Post(token, Parse(R"({"spec":{"expirationSeconds":7200}})"));
  EXPECT_EQ(issued.code, 201);
  EXPECT_EQ(issued.String({"status", "token"}), "default/default/" + uid + "/7200");
  EXPECT_EQ(issued.String({"status", "expirationTimestamp"}), "2026-07-01T02:00:00Z");
  EXPECT_EQ(server.Post(token, Parse(R"({"spec":{"expirationSeconds":5}})")).code, 422);
  EXPECT_EQ(server.Post("/api/v1/namespaces/default/serviceaccounts/x/token", Parse("{}")).code,
            404);
}

TEST(ReviewsTest, TokensAreBoundToWhatExists) {
  ApiServer::Options options;
  options.issue_token = [](const kube::Json&, const kube::Json& spec) {
    return std::string(kube::FindString(spec, {"boundObjectRef", "uid"}));
  };
  TestServer server(std::move(options));
  const std::string uid(server.Post(kPodsPath, TestPod("p")).String({"metadata", "uid"}));
  const struct {
    std::string reference;
    int code;
    std::string token_or_reason;
  } cases[] = {
      {R"({"kind":"Pod","name":"p"})", 201, uid},
      {fmt::format(R"({{"kind":"Pod","name":"p","uid":"{}"}})", uid), 201, uid},
      {R"({"kind":"Pod","name":"p","uid":"another"})", 409, "Conflict"},
      {R"({"kind":"Pod","name":"none"})", 404, "NotFound"},
      {R"({"kind":"ConfigMap","name":"c"})", 400, "BadRequest"},
  };
  for (const auto& [reference, code, token_or_reason] : cases) {
    const TestAnswer answer =
        server.Post("/api/v1/namespaces/default/serviceaccounts/default/token",
                    Parse(fmt::format(R"({{"spec":{{"boundObjectRef":{}}}}})", reference)));
    EXPECT_EQ(answer.code, code) << reference;
    EXPECT_EQ(code == 201 ? answer.String({"status", "token"}) : answer.reason(), token_or_reason)
        << reference;
  }
}

TEST(ApiServerTest, KnowsWhatExists) {
  TestServer server;
  const std::string path = "/api/v1/namespaces/default/serviceaccounts";
  const kube::Json account = Parse(R"({"metadata":{"name":"a"}})");
  const std::string uid(server.Post(path, account).String({"metadata", "uid"}));
  const kube::ObjectKey key{"default", "a"};
  EXPECT_TRUE(server.server->Has(kube::kServiceAccounts, key, uid));
  EXPECT_FALSE(server.server->Has(kube::kServiceAccounts, {"default", "b"}, uid));
  server.Delete(path + "/a");
  EXPECT_FALSE(server.server->Has(kube::kServiceAccounts, key, uid));
  server.Post(path, account);
  EXPECT_FALSE(server.server->Has(kube::kServiceAccounts, key, uid)) << "it is another one";
}

TEST(BootstrapTest, PublishesTheCaOfClients) {
  const std::string path =
      "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
  TestServer without;
  EXPECT_EQ(without.Get(path).code, 404);
  ApiServer::Options options;
  options.client_ca = "a certificate";
  TestServer server(options);
  EXPECT_EQ(server.Get(path).String({"data", "client-ca-file"}), "a certificate");
  options.client_ca = "a newer one";
  server.server.reset();
  server.server = std::make_unique<ApiServer>(server.loop, *server.store, std::move(options));
  EXPECT_EQ(server.Get(path).String({"data", "client-ca-file"}), "a newer one");
}

TEST(ServicesTest, GetAddressesAndKeepThem) {
  TestServer server;
  const std::string path = "/api/v1/namespaces/default/services";
  TestAnswer created = server.Post(
      path, Parse(R"({"metadata":{"name":"s"},"spec":{"type":"NodePort","ports":[{"port":80}]}})"));
  ASSERT_EQ(created.code, 201) << created.body;
  const std::string ip(created.String({"spec", "clusterIP"}));
  EXPECT_TRUE(ip.starts_with("10.")) << ip;
  EXPECT_EQ(created.json.at("spec").at("clusterIPs"), kube::Json(kube::json::array{ip}));
  const kube::Json& port = created.json.at("spec").at("ports").at(0);
  EXPECT_EQ(kube::FindInt(port, {"targetPort"}), 80);
  EXPECT_EQ(kube::FindString(port, {"protocol"}), "TCP");
  EXPECT_GE(kube::FindInt(port, {"nodePort"}), 30000);
  TestAnswer updated =
      server.Put(path + "/s", Parse(R"({"metadata":{"name":"s"},"spec":{"ports":[{"port":81}]}})"));
  ASSERT_EQ(updated.code, 200) << updated.body;
  EXPECT_EQ(updated.String({"spec", "clusterIP"}), ip);
  TestAnswer headless = server.Post(
      path, Parse(R"({"metadata":{"name":"h"},"spec":{"clusterIP":"None","selector":{"a":"b"}}})"));
  EXPECT_EQ(headless.String({"spec", "clusterIP"}), "None");
}

TEST(AdmissionTest, InProcessHooksChangeAndRefuse) {
  TestServer server;
  InProcessHook hook;
  hook.name = "test";
  hook.rules.push_back({{"CREATE"}, {""}, {"v1"}, {"pods"}, "*"});
  hook.mutate = [](AdmissionRequest& request) -> Status {
    kube::At(request.object, {"metadata", "labels", "touched"}) = "yes";
    return absl::OkStatus();
  };
  hook.validate = [](const AdmissionRequest& request) -> Status {
    if (request.name == "bad") return InvalidArgument("not this one");
    return absl::OkStatus();
  };
  server.server->RegisterAdmission(std::move(hook));
  EXPECT_EQ(server.Post(kPodsPath, TestPod("a")).String({"metadata", "labels", "touched"}), "yes");
  TestAnswer refused = server.Post(kPodsPath, TestPod("bad"));
  EXPECT_EQ(refused.code, 403) << refused.body;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("not this one"));
  EXPECT_EQ(server.Get(std::string(kPodsPath) + "/bad").code, 404);
}

void Mutate(TestServer& server, std::string operation, std::initializer_list<std::string_view> path,
            kube::Json value) {
  InProcessHook hook;
  hook.name = "test";
  hook.rules.push_back({{std::move(operation)}, {""}, {"v1"}, {"configmaps"}, "*"});
  hook.mutate = [path = std::vector<std::string>(path.begin(), path.end()),
                 value](AdmissionRequest& request) -> Status {
    kube::At(request.object, {path[0], path[1]}) = value;
    return absl::OkStatus();
  };
  server.server->RegisterAdmission(std::move(hook));
}

TEST(AdmissionTest, NoHookMovesAnObjectToAnotherNamespace) {
  constexpr std::string_view kElsewhere =
      "the namespace of the provided object does not match the namespace sent on the request";
  TestServer server;
  Mutate(server, "CREATE", {"metadata", "namespace"}, "kube-system");
  const TestAnswer created = server.Post(kConfigMapsPath, TestConfigMap("a"));
  EXPECT_EQ(created.code, 400);
  EXPECT_EQ(created.message(), kElsewhere);
  EXPECT_EQ(server.Get("/api/v1/namespaces/kube-system/configmaps/a").code, 404);

  TestServer other;
  ASSERT_EQ(other.Post(kConfigMapsPath, TestConfigMap("a")).code, 201);
  Mutate(other, "UPDATE", {"metadata", "namespace"}, "kube-system");
  const TestAnswer updated =
      other.MergePatch(std::string(kConfigMapsPath) + "/a", Parse(R"({"data":{"k":"w"}})"));
  EXPECT_EQ(updated.code, 400);
  EXPECT_EQ(updated.message(), kElsewhere);
}

// As Kubernetes has it: before it is stored an object is known by nothing yet.
TEST(AdmissionTest, AHookMayNameANewObject) {
  TestServer server;
  Mutate(server, "CREATE", {"metadata", "name"}, "b");
  const TestAnswer created = server.Post(kConfigMapsPath, TestConfigMap("a"));
  ASSERT_EQ(created.code, 201) << created.body;
  EXPECT_EQ(created.String({"metadata", "name"}), "b");
  EXPECT_EQ(server.Get(std::string(kConfigMapsPath) + "/a").code, 404);
  EXPECT_EQ(server.Get(std::string(kConfigMapsPath) + "/b").String({"metadata", "name"}), "b");
  EXPECT_EQ(server.Post(kConfigMapsPath, TestConfigMap("c")).code, 409) << "the name is taken";
}

TEST(AdmissionTest, NoHookRenamesAnObjectThatIsStored) {
  TestServer server;
  ASSERT_EQ(server.Post(kConfigMapsPath, TestConfigMap("a")).code, 201);
  Mutate(server, "UPDATE", {"metadata", "name"}, "b");
  const TestAnswer updated =
      server.MergePatch(std::string(kConfigMapsPath) + "/a", Parse(R"({"data":{"k":"w"}})"));
  EXPECT_EQ(updated.code, 422);
  EXPECT_THAT(std::string(updated.message()),
              HasSubstr(R"(metadata.name: Invalid value: "b": field is immutable)"));
}

// A store whose disk takes as long as the test likes.
class SlowDisk final : public Store {
 public:
  explicit SlowDisk(std::unique_ptr<Store> store) : store_(std::move(store)) {}

  void Sync() {
    synced_ = store_->revision();
    for (auto& [revision, task] : std::exchange(waiting_, {})) task();
  }

  Revision revision() const override { return store_->revision(); }
  Revision durable_revision() const override { return synced_; }
  Revision compacted_revision() const override { return store_->compacted_revision(); }
  Revision oldest_revision(std::string_view resource) const override {
    return store_->oldest_revision(resource);
  }
  EntryPtr Get(std::string_view resource, std::string_view key) const override {
    return store_->Get(resource, key);
  }
  Status Range(std::string_view resource, std::string_view prefix, std::string_view start,
               Revision at, const std::function<bool(const EntryPtr&)>& visit) const override {
    return store_->Range(resource, prefix, start, at, visit);
  }
  size_t Count(std::string_view resource, std::string_view prefix) const override {
    return store_->Count(resource, prefix);
  }
  EntryPtr Put(std::string_view resource, Entry entry) override {
    return store_->Put(resource, std::move(entry));
  }
  EntryPtr Delete(std::string_view resource, Entry last) override {
    return store_->Delete(resource, std::move(last));
  }
  void WhenDurable(Revision revision, Task task) override {
    if (revision <= synced_) return task();
    waiting_.emplace_back(revision, std::move(task));
  }
  StatusOr<std::unique_ptr<Subscription>> Watch(std::string_view resource, Revision after,
                                                OnChanges on_changes) override {
    return store_->Watch(resource, after, std::move(on_changes));
  }

 private:
  std::unique_ptr<Store> store_;
  Revision synced_ = 0;
  std::vector<std::pair<Revision, Task>> waiting_;
};

TEST(DurabilityTest, NobodyIsToldWhatAPowerCutWouldUndo) {
  TestServer server;
  auto disk = std::make_unique<SlowDisk>(std::move(server.store));
  SlowDisk& slow = *disk;
  server.store = std::move(disk);
  server.server = std::make_unique<ApiServer>(server.loop, *server.store, ApiServer::Options{});
  slow.Sync();
  const auto start = [&](std::string method, std::string target, std::string body = "") {
    kube::HttpRequest request;
    request.method = std::move(method);
    request.target = std::move(target);
    request.body = std::move(body);
    request.user = TestServer::Admin();
    return server.Start(std::move(request));
  };
  const std::string path = std::string(kConfigMapsPath) + "/a";
  const auto created = start("POST", kConfigMapsPath, kube::Serialize(TestConfigMap("a")));
  const auto got = start("GET", path);
  const auto listed = start("GET", kConfigMapsPath);
  const auto watched = start("GET", std::string(kConfigMapsPath) + "?watch=1");
  for (const auto& answer : {created, got, listed}) EXPECT_EQ(answer->answer.code, 0);
  EXPECT_EQ(watched->text, "");
  slow.Sync();
  EXPECT_EQ(created->answer.code, 201);
  EXPECT_EQ(got->answer.code, 200);
  EXPECT_EQ(listed->answer.code, 200);
  EXPECT_EQ(watched->TakeEventNames(), std::vector<std::string>{"ADDED a"});

  const auto deleted = start("DELETE", path);
  const auto missing = start("GET", path);
  EXPECT_EQ(deleted->answer.code, 0);
  EXPECT_EQ(missing->answer.code, 0);
  slow.Sync();
  EXPECT_EQ(deleted->answer.code, 200);
  EXPECT_EQ(missing->answer.code, 404);
}

}  // namespace
}  // namespace koord::apiserver::misc_test
