// The kubelet over real sockets and TLS: whom koordlet believes, and what it does with answers that
// no kubelet should give.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "base/asio_loop.h"
#include "base/log.h"
#include "koordlet/informers/kubelet_client.h"
#include "koordlet/informers/pod_source.h"
#include "kube/client/client.h"
#include "kube/serving/http_server.h"
#include "kube/serving/x509.h"
#include "kube/transport/http_transport.h"
#include "kube/transport/in_process_transport.h"

namespace koord::koordlet::kubelet_https_test {
namespace {

using testing::HasSubstr;

constexpr char kOnePod[] =
    R"({"items":[{"metadata":{"name":"a","namespace":"ns","uid":"u"},"status":{"phase":"Running"}}]})";

class Kubelet final : public kube::HttpHandler {
 public:
  void Handle(kube::HttpRequest request, std::shared_ptr<kube::ResponseWriter> response) override {
    requests.push_back(request);
    answer(request, std::move(response));
  }
  std::function<void(const kube::HttpRequest&, std::shared_ptr<kube::ResponseWriter>)> answer;
  std::vector<kube::HttpRequest> requests;
};

class KubeletHttpsTest : public testing::Test {
 protected:
  void SetUp() override {
    const WallTime now = loop_.clock().Now();
    authority_ = *kube::IssueCertificate({.use = kube::CertificateUse::kAuthority,
                                          .common_name = "ca",
                                          .from = now - 1h,
                                          .until = now + 1h},
                                         nullptr);
    const kube::KeyPair serving = *kube::IssueCertificate({.use = kube::CertificateUse::kServer,
                                                           .common_name = "kubelet",
                                                           .names = {"127.0.0.1"},
                                                           .from = now - 1h,
                                                           .until = now + 1h},
                                                          &authority_);
    kube::HttpServer::Options options;
    options.tls = kube::TlsIdentity{serving.certificate, serving.key, authority_.certificate};
    server_ = *kube::HttpServer::Start(loop_, options, kubelet_);
    kubelet_.answer = [](const kube::HttpRequest&, auto response) {
      response->Finish({200, {}, kOnePod});
    };
    api_.server = "https://10.0.0.1";
    api_.ca_data = authority_.certificate;
    api_.token = "secret";
  }

  std::unique_ptr<KubeletClient> Connect(const KubeletOptions& options = {},
                                         Duration timeout = 10s) {
    auto client = std::make_unique<KubeletClient>(
        loop_,
        [=, this](const kube::Node& node) -> StatusOr<std::shared_ptr<kube::Transport>> {
          ASSIGN_OR_RETURN(const auto config, KubeletClientConfig(node, api_, options));
          return kube::HttpTransport::Make(loop_, config);
        },
        timeout, nullptr);
    kube::Node node;
    node.status.addresses = {{"InternalIP", "127.0.0.1"}};
    node.status.daemon_endpoints.emplace().kubelet_endpoint.port = server_->port();
    EXPECT_TRUE(client->SetNode(node).ok());
    return client;
  }

  StatusOr<PodList> Ask(KubeletClient& client) {
    std::optional<StatusOr<PodList>> answer;
    client.GetPods([&](StatusOr<PodList> pods) { answer = std::move(pods); });
    const SteadyTime deadline = loop_.clock().Steady() + 20s;
    while (!answer && loop_.clock().Steady() < deadline) loop_.RunOnce(100ms);
    return answer ? *std::move(answer) : Unavailable("nothing was heard");
  }

  AsioLoop loop_;
  kube::KeyPair authority_;
  Kubelet kubelet_;
  std::unique_ptr<kube::HttpServer> server_;
  kube::ClientConfig api_;
};

TEST_F(KubeletHttpsTest, ShowsItsToken) {
  const auto client = Connect();
  const auto pods = Ask(*client);
  ASSERT_TRUE(pods.ok()) << Message(pods.status());
  EXPECT_EQ(pods->pods[0]->metadata.name, "a");
  ASSERT_EQ(kubelet_.requests.size(), 1u);
  EXPECT_EQ(kubelet_.requests[0].target, "/pods/");
  EXPECT_EQ(kubelet_.requests[0].headers.Get("Authorization"), "Bearer secret");
}

TEST_F(KubeletHttpsTest, ShowsItsCertificate) {
  const WallTime now = loop_.clock().Now();
  const kube::KeyPair own = *kube::IssueCertificate({.use = kube::CertificateUse::kClient,
                                                     .common_name = "system:node:n",
                                                     .from = now - 1h,
                                                     .until = now + 1h},
                                                    &authority_);
  api_.token.clear();
  api_.client_certificate_data = own.certificate;
  api_.client_key_data = own.key;
  const auto client = Connect();
  ASSERT_TRUE(Ask(*client).ok());
  ASSERT_TRUE(kubelet_.requests[0].user.has_value());
  EXPECT_EQ(kubelet_.requests[0].user->name, "system:node:n");
}

TEST_F(KubeletHttpsTest, TrustsNobodyWhomTheClusterHasNotSigned) {
  const WallTime now = loop_.clock().Now();
  api_.ca_data = kube::IssueCertificate({.use = kube::CertificateUse::kAuthority,
                                         .common_name = "other",
                                         .from = now - 1h,
                                         .until = now + 1h},
                                        nullptr)
                     ->certificate;
  const auto careful = Connect();
  EXPECT_FALSE(Ask(*careful).ok());
  EXPECT_TRUE(kubelet_.requests.empty()) << "the token was not shown to a stranger";
  const auto careless = Connect({.skip_verify = true});
  EXPECT_TRUE(Ask(*careless).ok());
}

TEST_F(KubeletHttpsTest, GivesUpOnASlowKubelet) {
  std::shared_ptr<kube::ResponseWriter> never;
  kubelet_.answer = [&](const kube::HttpRequest&, auto response) { never = std::move(response); };
  const auto client = Connect({}, 200ms);
  EXPECT_TRUE(absl::IsDeadlineExceeded(Ask(*client).status()));
  kubelet_.answer = [](const kube::HttpRequest&, auto response) {
    response->Finish({200, {}, kOnePod});
  };
  EXPECT_TRUE(Ask(*client).ok()) << "and asks again later";
}

TEST_F(KubeletHttpsTest, ReadsALongListAsItComes) {
  kubelet_.answer = [&](const kube::HttpRequest&, auto response) {
    response->StartStream({200, {}, ""});
    const auto write = [&](std::string text) {
      response->Write(std::make_shared<const std::string>(std::move(text)));
    };
    write("{\"items\":[");
    const std::string note(200 << 10, 'x');
    for (int i = 0; i < 64; ++i) {
      write(fmt::format(
          R"({}{{"metadata":{{"name":"p","uid":"u{}","annotations":{{"note":"{}"}}}}}})",
          i == 0 ? "" : ",", i, note));
    }
    write("]}");
    response->End();
  };
  const auto client = Connect();
  const auto list = Ask(*client);
  ASSERT_TRUE(list.ok()) << Message(list.status());
  EXPECT_EQ(list->pods.size(), 64u);
}

// However long a list is, it is read piece by piece: others have their turn in between, and whoever
// ends koordlet need not wait for the rest.
TEST_F(KubeletHttpsTest, AFloodOfPodsNeitherStarvesTheLoopNorKeepsItFromEnding) {
  kubelet_.answer = [&](const kube::HttpRequest&, auto response) {
    response->StartStream({200, {}, ""});
    std::string text = "{\"items\":[";
    for (int i = 0; i < 20'000; ++i) {
      text += fmt::format(
          R"({}{{"metadata":{{"name":"p{}","uid":"u{}","annotations":{{"note":"{:200}"}}}},"status":{{"phase":"Running"}}}})",
          i == 0 ? "" : ",", i, i, "x");
      if (text.size() < (64 << 10)) continue;
      response->Write(std::make_shared<const std::string>(std::exchange(text, {})));
    }
    response->Write(std::make_shared<const std::string>(text + "]}"));
    response->End();
  };
  auto client = Connect();
  std::optional<StatusOr<PodList>> answer;
  const auto ask = [&] {
    client->GetPods([&](StatusOr<PodList> list) { answer = std::move(list); });
  };
  int turns = 0;  // of somebody else's task
  std::function<void()> take_turn = [&] {
    ++turns;
    if (!answer) loop_.Post([&] { take_turn(); });
  };
  const auto run_until = [&](const std::function<bool()>& condition) {
    const SteadyTime deadline = loop_.clock().Steady() + 100s;
    while (!condition() && loop_.clock().Steady() < deadline) loop_.RunOnce(100ms);
  };
  ask();
  take_turn();
  run_until([&] { return answer.has_value(); });
  ASSERT_TRUE(answer.has_value() && answer->ok());
  EXPECT_EQ((*answer)->listed, 20'000u);
  EXPECT_EQ((*answer)->pods.size(), PodListReader::kMaxPods);
  EXPECT_GT(turns, 20);

  answer.reset();
  const size_t asked = kubelet_.requests.size();
  ask();
  run_until([&] { return kubelet_.requests.size() > asked; });
  client.reset();
  for (int i = 0; i < 10; ++i) loop_.RunOnce(1ms);
  EXPECT_FALSE(answer.has_value());
}

TEST_F(KubeletHttpsTest, RefusesATruncatedAnswer) {
  kubelet_.answer = [](const kube::HttpRequest&, auto response) {
    response->StartStream({200, {}, ""});
    response->Write(std::make_shared<const std::string>(R"({"items":[{"metadata":)"));
    response->End();
  };
  const auto client = Connect();
  EXPECT_FALSE(Ask(*client).ok());
}

// An API server with one pod of the node, and the kubelet's configuration behind it.
class ApiServer final : public kube::HttpHandler {
 public:
  void Handle(kube::HttpRequest request, std::shared_ptr<kube::ResponseWriter> response) override {
    targets.push_back(request.target);
    if (request.target == "/api/v1/nodes/n/proxy/configz") {
      if (!allows_proxy) return response->Finish({403, {}, ""});
      return response->Finish({200, {}, R"({"kubeletconfig":{"cpuManagerPolicy":"static"}})"});
    }
    if (request.target.find("sendInitialEvents=true") != std::string::npos) {
      return response->Finish({422, {}, ""});  // an old server
    }
    if (request.target.find("watch=") != std::string::npos) {
      response->StartStream({200, {}, ""});
      watches.push_back(std::move(response));
      return;
    }
    response->Finish({200, {}, R"({"metadata":{"resourceVersion":"9"},"items":[{"metadata":{
        "name":"p","namespace":"x","uid":"u","resourceVersion":"4"},"spec":{"nodeName":"n"},
        "status":{"phase":"Running"}}]})"});
  }

  bool allows_proxy = true;  // get of nodes/proxy
  std::vector<std::string> targets;
  std::vector<std::shared_ptr<kube::ResponseWriter>> watches;
};

// How kubeadm, kind and minikube set kubelets up.
class SelfSignedKubeletTest : public KubeletHttpsTest {
 protected:
  void SetUp() override {
    KubeletHttpsTest::SetUp();
    const WallTime now = loop_.clock().Now();
    const kube::KeyPair own = *kube::IssueCertificate({.use = kube::CertificateUse::kServer,
                                                       .common_name = "kubelet",
                                                       .names = {"127.0.0.1"},
                                                       .from = now - 1h,
                                                       .until = now + 1h},
                                                      nullptr);
    kube::HttpServer::Options options;
    options.tls = kube::TlsIdentity{own.certificate, own.key, authority_.certificate};
    server_ = *kube::HttpServer::Start(loop_, options, kubelet_);
  }

  // Until pods are heard of.
  void Run(KubeletClient& kubelet) {
    source_ = std::make_unique<PodSource>(
        loop_, client_, "n", kubelet, 10s,
        [this](const PodList::Pods& pods) {
          for (const auto& pod : pods) heard_.push_back(pod->metadata.name);
        },
        1);
    source_->Start();
    RunUntil([this] { return !heard_.empty(); });
  }
  void RunUntil(const std::function<bool()>& condition) {
    const SteadyTime deadline = loop_.clock().Steady() + 60s;
    while (!condition() && loop_.clock().Steady() < deadline) loop_.RunOnce(100ms);
    EXPECT_TRUE(condition());
  }

  ApiServer api_server_;
  kube::Client client_{loop_, std::make_shared<kube::InProcessTransport>(loop_, api_server_), {}};
  std::vector<std::string> heard_;
  std::unique_ptr<PodSource> source_;
};

TEST_F(SelfSignedKubeletTest, PodsAndConfigurationComeFromTheApiServer) {
  std::vector<std::string> lines;
  log::SetSink([&](std::string_view line) { lines.emplace_back(line); });
  const auto kubelet = Connect();
  Run(*kubelet);
  EXPECT_EQ(heard_, std::vector<std::string>{"p"});
  EXPECT_TRUE(kubelet_.requests.empty()) << "the token was not shown to a stranger";
  EXPECT_THAT(api_server_.targets, testing::Contains(HasSubstr("fieldSelector=spec.nodeName%3Dn")));
  RunUntil([this] { return !api_server_.watches.empty(); });
  std::optional<StatusOr<KubeletConfig>> config;
  kubelet->GetConfig([&](StatusOr<KubeletConfig> answer) { config = std::move(answer); });
  RunUntil([&] { return config.has_value(); });
  ASSERT_TRUE(config->ok()) << Message(config->status());
  EXPECT_EQ((*config)->cpu_manager_policy, "static");
  source_->Start();  // the Node has changed
  source_->SyncSoon();
  loop_.RunOnce(10ms);
  log::SetSink(nullptr);
  const auto said = std::ranges::count_if(lines, [](const std::string& line) {
    return line.find("--kubelet-skip-tls-verify") != std::string::npos;
  });
  EXPECT_EQ(said, 1) << "once, with what to do";
  source_->Stop();
}

TEST_F(SelfSignedKubeletTest, PodsComeEvenWhereItsConfigurationIsRefused) {
  api_server_.allows_proxy = false;
  const auto kubelet = Connect();
  Run(*kubelet);
  EXPECT_EQ(heard_, std::vector<std::string>{"p"});
  std::optional<StatusOr<KubeletConfig>> config;
  kubelet->GetConfig([&](StatusOr<KubeletConfig> answer) { config = std::move(answer); });
  RunUntil([&] { return config.has_value(); });
  ASSERT_FALSE(config->ok());
  for (const char* way : {"API server", "\"get\" of nodes/proxy", "koordlet.kubeletProxyAccess",
                          "--kubelet-skip-tls-verify", "koordlet.kubeletSkipTlsVerify"}) {
    EXPECT_THAT(Message(config->status()), HasSubstr(way));
  }
  source_->Stop();
}

TEST_F(SelfSignedKubeletTest, IsAskedItselfByThoseWhoAcceptAnyCertificate) {
  const auto kubelet = Connect({.skip_verify = true});
  Run(*kubelet);
  EXPECT_EQ(heard_, std::vector<std::string>{"a"});
  EXPECT_TRUE(api_server_.targets.empty());
  source_->Stop();
}

}  // namespace
}  // namespace koord::koordlet::kubelet_https_test
