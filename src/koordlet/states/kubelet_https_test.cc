// The kubelet over real sockets and TLS: whom koordlet believes, and what it does with answers that
// no kubelet should give.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/asio_loop.h"
#include "koordlet/states/kubelet_client.h"
#include "kube/client/http_transport.h"
#include "kube/serving/http_server.h"
#include "kube/serving/x509.h"

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

  std::unique_ptr<KubeletClient> Connect(const KubeletOptions& options = {}, Duration timeout = 10s,
                                         uint64_t max_answer = 1 << 20) {
    auto client = std::make_unique<KubeletClient>(
        loop_,
        [=, this](const kube::Node& node) -> StatusOr<std::shared_ptr<kube::Transport>> {
          ASSIGN_OR_RETURN(const auto config, KubeletClientConfig(node, api_, options));
          kube::HttpTransport::Options transport;
          transport.max_answer = max_answer;
          return kube::HttpTransport::Make(loop_, config, transport);
        },
        timeout, nullptr);
    kube::Node node;
    node.status.addresses = {{"InternalIP", "127.0.0.1"}};
    node.status.daemon_endpoints.emplace().kubelet_endpoint.port = server_->port();
    EXPECT_TRUE(client->SetNode(node).ok());
    return client;
  }

  StatusOr<PodListReader::Pods> Ask(KubeletClient& client) {
    std::optional<StatusOr<PodListReader::Pods>> answer;
    client.GetPods([&](StatusOr<PodListReader::Pods> pods) { answer = std::move(pods); });
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
  EXPECT_EQ((*pods)[0]->metadata.name, "a");
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

TEST_F(KubeletHttpsTest, StopsReadingAHugeAnswer) {
  size_t sent = 0;
  kubelet_.answer = [&](const kube::HttpRequest&, auto response) {
    response->StartStream({200, {}, ""});
    const auto chunk = std::make_shared<const std::string>(64 << 10, ' ');
    for (int i = 0; i < 64; ++i) {
      response->Write(chunk);
      sent += chunk->size();
    }
    response->End();
  };
  const auto client = Connect({}, 10s, /*max_answer=*/100 << 10);
  const auto pods = Ask(*client);
  EXPECT_FALSE(pods.ok());
  EXPECT_GT(sent, size_t{1} << 20);
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

}  // namespace
}  // namespace koord::koordlet::kubelet_https_test
