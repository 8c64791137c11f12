#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/virtual_loop.h"
#include "koordlet/host/memory_tree.h"
#include "koordlet/informers/kubelet_client.h"
#include "koordlet/informers/kubelet_pods.h"
#include "kube/transport/in_process_transport.h"
#include "kube/transport/scripted_handler.h"
#include "kube/yaml.h"

namespace koord::koordlet::kubelet_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

kube::Node NodeAt(const std::string& address, int port) {
  kube::Node node;
  node.metadata.name = "n";
  node.status.addresses = {{"Hostname", "n.example"}, {"InternalIP", address}};
  node.status.daemon_endpoints.emplace().kubelet_endpoint.port = port;
  return node;
}

TEST(KubeletClientConfig, ChecksTheCertificateByTheClustersAuthority) {
  kube::ClientConfig api;
  api.server = "https://10.0.0.1:443";
  api.ca_file = "/ca.crt";
  api.token_file = "/token";
  api.client_certificate_file = "/client.crt";
  const auto config = KubeletClientConfig(NodeAt("10.1.2.3", 10250), api, {});
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config->server, "https://10.1.2.3:10250");
  EXPECT_EQ(config->ca_file, "/ca.crt");
  EXPECT_EQ(config->token_file, "/token");
  EXPECT_EQ(config->client_certificate_file, "/client.crt");
  EXPECT_FALSE(config->insecure_skip_tls_verify);
}

TEST(KubeletClientConfig, FollowsOptions) {
  kube::ClientConfig api;
  api.ca_data = "pem";
  api.token = "secret";
  const kube::Node node = NodeAt("fd00::1", 10250);
  KubeletOptions unverified;
  unverified.skip_verify = true;
  EXPECT_TRUE(KubeletClientConfig(node, api, unverified)->insecure_skip_tls_verify);
  EXPECT_EQ(KubeletClientConfig(node, api, unverified)->ca_data, "");
  EXPECT_EQ(KubeletClientConfig(node, api, unverified)->server, "https://[fd00::1]:10250");
  KubeletOptions own_ca;
  own_ca.ca_file = "/kubelet-ca.crt";
  EXPECT_EQ(KubeletClientConfig(node, api, own_ca)->ca_file, "/kubelet-ca.crt");
  EXPECT_EQ(KubeletClientConfig(node, api, own_ca)->ca_data, "");
  KubeletOptions plain;
  plain.plain_http = true;
  EXPECT_EQ(KubeletClientConfig(node, api, plain)->server, "http://[fd00::1]:10255");
  EXPECT_EQ(KubeletClientConfig(node, api, plain)->token, "") << "not for all to read";
  KubeletOptions by_name;
  by_name.address_type = "Hostname";
  EXPECT_EQ(KubeletClientConfig(node, api, by_name)->server, "https://n.example:10250");
  by_name.address_type = "Nonsense";
  EXPECT_EQ(KubeletClientConfig(node, api, by_name)->server, "https://[fd00::1]:10250");
  by_name.address_type = "ExternalIP";
  EXPECT_EQ(Message(KubeletClientConfig(node, api, by_name).status()),
            "no address matched types ExternalIP");
}

TEST(ParseKubeletConfig, ReadsWhatIsNeeded) {
  const auto config = ParseKubeletConfig(R"({"kubeletconfig":{"cpuManagerPolicy":"static",
      "cpuManagerPolicyOptions":{"full-pcpus-only":"true"},"topologyManagerPolicy":"restricted",
      "topologyManagerScope":"pod","kubeReserved":{"cpu":"1"},"logging":{"format":7}}})");
  ASSERT_TRUE(config.ok()) << Message(config.status());
  EXPECT_EQ(config->cpu_manager_policy, "static");
  EXPECT_EQ(config->topology_manager_scope, "pod");
  EXPECT_EQ(config->kube_reserved.find("cpu")->second, "1");
  EXPECT_FALSE(ParseKubeletConfig("[]").ok());
  EXPECT_FALSE(ParseKubeletConfig("{").ok());
}

TEST(ReadKubeletConfigFile, KnowsDefaults) {
  MemoryTree files;
  EXPECT_FALSE(ReadKubeletConfigFile(files).ok());
  files.Set("config.yaml", "kind: KubeletConfiguration\ntopologyManagerPolicy: restricted\n");
  const auto config = ReadKubeletConfigFile(files);
  ASSERT_TRUE(config.ok()) << Message(config.status());
  EXPECT_EQ(config->cpu_manager_policy, "none");
  EXPECT_EQ(config->topology_manager_policy, "restricted");
  EXPECT_EQ(config->topology_manager_scope, "container");
  files.Set("config.yaml", "{");
  EXPECT_FALSE(ReadKubeletConfigFile(files).ok());
}

std::string ListOf(std::initializer_list<std::pair<const char*, const char*>> pods) {
  kube::json::array items;
  for (const auto& [uid, phase] : pods) {
    items.push_back({{"metadata", {{"name", uid}, {"namespace", "ns"}, {"uid", uid}}},
                     {"status", {{"phase", phase}}}});
  }
  return kube::Serialize({{"kind", "PodList"}, {"items", items}});
}

class KubeletPodsTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(client_.SetNode(NodeAt("10.0.0.1", 10250)).ok());
    pods_.Start();
    loop_.RunReady();
  }
  void AnswerNext(int status, std::string body) {
    ASSERT_TRUE(loop_.RunUntil([&] { return kubelet_.waiting() > 0; }, 1min));
    kubelet_.Take().Answer(status, std::move(body));
    loop_.RunReady();
  }

  VirtualLoop loop_;
  kube::ScriptedHandler kubelet_;
  metrics::Registry registry_;
  KubeletClient client_{loop_,
                        [this](const kube::Node&) {
                          return std::make_shared<kube::InProcessTransport>(loop_, kubelet_);
                        },
                        3s, &registry_};
  std::vector<size_t> heard_;
  KubeletPods pods_{loop_, client_, 10s,
                    [this](const PodList::Pods& pods) { heard_.push_back(pods.size()); },
                    [](const Status&) {}};
};

TEST_F(KubeletPodsTest, AsksEveryTenSeconds) {
  AnswerNext(200, ListOf({{"a", "Running"}}));
  EXPECT_THAT(heard_, ElementsAre(1));
  loop_.Advance(9s);
  EXPECT_EQ(kubelet_.waiting(), 0u);
  loop_.Advance(1s);
  EXPECT_EQ(kubelet_.waiting(), 1u);
  AnswerNext(200, ListOf({{"a", "Running"}, {"b", "Running"}}));
  EXPECT_THAT(heard_, ElementsAre(1, 2));
  EXPECT_THAT(registry_.Text(),
              HasSubstr("koordlet_kubelet_request_duration_seconds_count{code=\"200\","
                        "path=\"/pods/\",verb=\"get\"} 2"));
}

TEST_F(KubeletPodsTest, KeepsThePodsOfBeforeOverBadAnswers) {
  AnswerNext(200, ListOf({{"a", "Running"}}));
  AnswerNext(500, "no");
  AnswerNext(200, ListOf({}));
  AnswerNext(200, "{\"items\":[");
  AnswerNext(401, "");
  // No answer at all: given up after three seconds, and asked again.
  ASSERT_TRUE(loop_.RunUntil([&] { return kubelet_.waiting() > 0; }, 1min));
  auto silent = kubelet_.Take();
  loop_.Advance(4s);
  EXPECT_THAT(heard_, ElementsAre(1)) << "nobody heard of an empty node";
  AnswerNext(200, ListOf({{"a", "Running"}, {"b", "Running"}}));
  EXPECT_THAT(heard_, ElementsAre(1, 2));
}

TEST_F(KubeletPodsTest, ARefusalNamesThePermissions) {
  std::string pods, config;
  client_.GetPods([&](const auto& answer) { pods = Message(answer.status()); });
  client_.GetConfig([&](const auto& answer) { config = Message(answer.status()); });
  for (int i = 0; i < 3; ++i) AnswerNext(403, "Forbidden");
  EXPECT_THAT(pods, HasSubstr("nodes/pods"));
  EXPECT_THAT(pods, HasSubstr("nodes/proxy before Kubernetes 1.33"));
  EXPECT_THAT(config, HasSubstr("nodes/configz"));
}

TEST_F(KubeletPodsTest, ANodeWhosePodsHaveAllEndedIsEmpty) {
  AnswerNext(200, ListOf({{"a", "Running"}}));
  AnswerNext(200, ListOf({{"a", "Succeeded"}}));
  EXPECT_THAT(heard_, ElementsAre(1, 0));
}

TEST_F(KubeletPodsTest, AsksAtOnceWhenAPodAppears) {
  AnswerNext(200, ListOf({{"a", "Running"}}));
  loop_.Advance(2s);
  for (int i = 0; i < 100; ++i) pods_.SyncSoon();
  loop_.RunReady();
  EXPECT_EQ(kubelet_.waiting(), 1u) << "a hundred at once are one question, and one more after it";
  AnswerNext(200, ListOf({{"a", "Running"}, {"b", "Running"}}));
  AnswerNext(200, ListOf({{"a", "Running"}, {"b", "Running"}}));
  loop_.Advance(9s);
  EXPECT_EQ(kubelet_.waiting(), 0u) << "the timer has started anew";
}

TEST_F(KubeletPodsTest, StopsAsking) {
  AnswerNext(200, ListOf({{"a", "Running"}}));
  pods_.Stop();
  loop_.Advance(1min);
  EXPECT_EQ(kubelet_.waiting(), 0u);
}

}  // namespace
}  // namespace koord::koordlet::kubelet_test
