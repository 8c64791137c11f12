#include "kube/transport/kubeconfig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

namespace koord::kube::kubeconfig_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

constexpr char kConfig[] = R"(
apiVersion: v1
kind: Config
current-context: main
clusters:
- name: c1
  cluster:
    server: https://10.0.0.1:6443
    certificate-authority-data: Q0E=
    tls-server-name: kubernetes
    proxy-url: http://proxy:3128
- name: c2
  cluster:
    server: https://10.0.0.2:6443
    certificate-authority: pki/ca.crt
    extensions:
    - name: client.authentication.k8s.io/exec
      extension: {audience: x}
- name: c3
  cluster: {server: "https://10.0.0.3", insecure-skip-tls-verify: true}
users:
- name: cert
  user:
    client-certificate-data: Q0VSVA==
    client-certificate: ignored.crt
    client-key: /abs/key.pem
- name: token
  user:
    token: abc
    tokenFile: run/token
    as: eve
    as-uid: "7"
    as-groups: [a, b]
    as-user-extra: {reason: [x, y]}
- name: exec
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: ./bin/plugin
      args: [get-token]
      env: [{name: A, value: B}]
      installHint: Install it.
      interactiveMode: IfAvailable
      provideClusterInfo: true
- name: basic
  user: {username: u, password: p}
contexts:
- name: main
  context: {cluster: c1, user: cert, namespace: team}
- name: token
  context: {cluster: c2, user: token}
- name: exec
  context: {cluster: c2, user: exec}
- name: basic
  context: {cluster: c3, user: basic}
- name: nobody
  context: {cluster: c3}
)";

ClientConfig Parse(std::string_view context) {
  const auto config = ParseKubeconfig(kConfig, "/home/me/.kube/config", context);
  EXPECT_TRUE(config.ok()) << config.status();
  return config.value_or(ClientConfig());
}

TEST(KubeconfigTest, FollowsTheCurrentContext) {
  const ClientConfig config = Parse("");
  EXPECT_EQ(config.server, "https://10.0.0.1:6443");
  EXPECT_EQ(config.ca_data, "CA");
  EXPECT_EQ(config.tls_server_name, "kubernetes");
  EXPECT_EQ(config.proxy_url, "http://proxy:3128");
  EXPECT_EQ(config.client_certificate_data, "CERT");
  EXPECT_EQ(config.client_key_file, "/abs/key.pem");
  EXPECT_EQ(config.ns, "team");
}

TEST(KubeconfigTest, ResolvesPathsAgainstTheFilesFolder) {
  const ClientConfig config = Parse("token");
  EXPECT_EQ(config.ca_file, "/home/me/.kube/pki/ca.crt");
  EXPECT_EQ(config.token, "abc");
  EXPECT_EQ(config.token_file, "/home/me/.kube/run/token");
  EXPECT_EQ(config.ns, "default");
  EXPECT_EQ(config.impersonate_user, "eve");
  EXPECT_EQ(config.impersonate_uid, "7");
  EXPECT_THAT(config.impersonate_groups, ElementsAre("a", "b"));
  EXPECT_THAT(config.impersonate_extra, ElementsAre(Pair("reason", ElementsAre("x", "y"))));
}

TEST(KubeconfigTest, ReadsExecAndPasswordUsers) {
  const ClientConfig config = Parse("exec");
  ASSERT_TRUE(config.exec.has_value());
  EXPECT_EQ(config.exec->command, "/home/me/.kube/bin/plugin");
  EXPECT_THAT(config.exec->args, ElementsAre("get-token"));
  EXPECT_THAT(config.exec->env, ElementsAre(Pair("A", "B")));
  EXPECT_EQ(config.exec->install_hint, "Install it.");
  EXPECT_EQ(config.exec->interactive_mode, "IfAvailable");
  EXPECT_TRUE(config.exec->provide_cluster_info);
  EXPECT_EQ(FindString(config.exec->cluster_extension, {"audience"}), "x");
  EXPECT_EQ(Parse("basic").username, "u");
  EXPECT_EQ(Parse("basic").password, "p");
  EXPECT_TRUE(Parse("basic").insecure_skip_tls_verify);
  EXPECT_EQ(Parse("nobody").server, "https://10.0.0.3");
}

TEST(KubeconfigTest, SaysWhatIsWrongAndWhere) {
  struct Case {
    std::string name, text, error;
  };
  const std::string clusters = "clusters: [{name: c, cluster: {server: 'https://x'}}]\n";
  const std::string contexts =
      "contexts: [{name: k, context: {cluster: c, user: u}}]\ncurrent-context: k\n";
  const Case cases[] = {
      {"not YAML", "a: [", "f:1:"},
      {"a token in the wrong place", "users: [{name: u, user: s3cret}]",
       "f: users[0].user: expected an object, found a string"},
      {"wrong type", "clusters: [{name: c, cluster: {server: 7}}]",
       "f: clusters[0].cluster.server: expected a string"},
      {"empty", "", "f: current-context is not set; choose one with `kubectl config use-context"},
      {"unknown context", "current-context: x\ncontexts: [{name: a}, {name: b}]",
       "f: there is no context \"x\"; it has a, b"},
      {"unknown cluster", contexts, "f: context \"k\": cluster: names \"c\", which is not among"},
      {"unknown user", clusters + contexts, "f: context \"k\": user: names \"u\", which is not"},
      {"no server", "clusters: [{name: c, cluster: {}}]\nusers: [{name: u}]\n" + contexts,
       "f: cluster \"c\": server: is missing"},
      {"bad base64", "users: [{name: u, user: {client-key-data: '*'}}]\n" + clusters + contexts,
       "f: user \"u\": client-key-data: is not base64"},
      {"auth provider",
       "users: [{name: u, user: {auth-provider: {name: gcp}}}]\n" + clusters + contexts,
       "f: user \"u\": auth-provider: is not supported; use an exec"},
      {"groups without user", "users: [{name: u, user: {as-groups: [x]}}]\n" + clusters + contexts,
       "f: user \"u\": as: is missing"},
      {"insecure with authority",
       "clusters: [{name: c, cluster: {server: 'https://x', insecure-skip-tls-verify: true, "
       "certificate-authority: y}}]\nusers: [{name: u}]\n" +
           contexts,
       "f: cluster \"c\": insecure-skip-tls-verify: cannot be combined"},
  };
  for (const Case& c : cases) {
    const Status status = ParseKubeconfig(c.text, "f").status();
    EXPECT_THAT(std::string(Message(status)), HasSubstr(c.error)) << c.name;
  }
}

class LoadClientConfigTest : public testing::Test {
 protected:
  LoadClientConfigTest() {
    folder_ = std::filesystem::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(folder_ / "sa");
    std::filesystem::create_directories(folder_ / ".kube");
    options_.service_account = folder_ / "sa";
    options_.environment = [this](const char* name) {
      const auto it = environment_.find(name);
      return it == environment_.end() ? "" : it->second;
    };
    environment_["HOME"] = folder_;
  }
  ~LoadClientConfigTest() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  static std::string Simple(const std::string& server) {
    return "clusters: [{name: c, cluster: {server: '" + server +
           "'}}]\ncontexts: [{name: k, context: {cluster: c}}]\ncurrent-context: k\n";
  }
  std::string Server() {
    const auto config = LoadClientConfig(options_);
    return config.ok() ? config->server : std::string(Message(config.status()));
  }
  void EnterCluster(const std::string& host) {
    environment_["KUBERNETES_SERVICE_HOST"] = host;
    environment_["KUBERNETES_SERVICE_PORT"] = "443";
    Write("sa/token", "t");
    Write("sa/ca.crt", "ca");
    Write("sa/namespace", "mine\n");
  }

  std::filesystem::path folder_;
  std::map<std::string, std::string> environment_;
  ConfigOptions options_;
};

TEST_F(LoadClientConfigTest, TakesTheFirstThatIsThere) {
  EXPECT_THAT(Server(), testing::AllOf(HasSubstr("no kubeconfig found"), HasSubstr(".kube/config"),
                                       HasSubstr("--kubeconfig")));
  Write(".kube/config", Simple("https://home"));
  EXPECT_EQ(Server(), "https://home");
  environment_["KUBECONFIG"] = Write("env", Simple("https://env"));
  EXPECT_EQ(Server(), "https://env");
  EnterCluster("10.0.0.1");
  EXPECT_EQ(Server(), "https://10.0.0.1:443");
  options_.kubeconfig = Write("flag", Simple("https://flag"));
  EXPECT_EQ(Server(), "https://flag");
  options_.master = "https://master";
  EXPECT_EQ(Server(), "https://master");
  options_.kubeconfig = "";
  EXPECT_EQ(Server(), "https://master");
}

TEST_F(LoadClientConfigTest, AFileThatIsNamedMustBeThere) {
  options_.kubeconfig = folder_ / "none";
  EXPECT_THAT(Server(), HasSubstr("none: No such file or directory"));
}

TEST_F(LoadClientConfigTest, MergesFilesAndTheFirstToNameAThingWins) {
  std::filesystem::create_directories(folder_ / "sub");
  const std::string first =
      Write("first", "clusters: [{name: c, cluster: {server: 'https://first'}}]\n");
  const std::string second =
      Write("sub/second",
            "clusters:\n"
            "- {name: c, cluster: {server: 'https://second', certificate-authority: second.crt}}\n"
            "- {name: d, cluster: {server: 'https://d', certificate-authority: d.crt}}\n"
            "contexts:\n"
            "- {name: kc, context: {cluster: c}}\n"
            "- {name: kd, context: {cluster: d}}\n"
            "current-context: kc\n");
  environment_["KUBECONFIG"] = (folder_ / "missing").string() + ":" + first + ":" + second;
  auto config = LoadClientConfig(options_);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->server, "https://first");
  EXPECT_EQ(config->ca_file, "") << "taken from an entry that lost";
  options_.context = "kd";
  config = LoadClientConfig(options_);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->ca_file, folder_ / "sub/d.crt");
}

TEST_F(LoadClientConfigTest, KnowsTheClusterItRunsIn) {
  EnterCluster("fd00::1");
  const auto config = LoadClientConfig(options_);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->server, "https://[fd00::1]:443");
  EXPECT_EQ(config->token_file, folder_ / "sa/token");
  EXPECT_EQ(config->ca_file, folder_ / "sa/ca.crt");
  EXPECT_EQ(config->ns, "mine");
  std::filesystem::remove(folder_ / "sa/token");
  EXPECT_THAT(Server(), HasSubstr("automountServiceAccountToken"));
}

}  // namespace
}  // namespace koord::kube::kubeconfig_test
