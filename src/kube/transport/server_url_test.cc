#include "kube/transport/server_url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace koord::kube::server_url_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ServerUrlTest, TakesUrlsApart) {
  struct Case {
    std::string url, scheme, host, port, path, host_header;
  };
  const Case cases[] = {
      {"https://10.0.0.1:6443", "https", "10.0.0.1", "6443", "", "10.0.0.1:6443"},
      {"https://Example.com", "https", "Example.com", "443", "", "Example.com"},
      {"HTTP://localhost:80/", "http", "localhost", "80", "", "localhost"},
      {"https://[fd00::1]:6443/k8s/c-1/", "https", "fd00::1", "6443", "/k8s/c-1", "[fd00::1]:6443"},
      {"localhost:8080", "http", "localhost", "8080", "", "localhost:8080"},
  };
  for (const Case& c : cases) {
    const auto url = ParseServerUrl(c.url, "http");
    ASSERT_TRUE(url.ok()) << c.url;
    EXPECT_EQ(url->scheme, c.scheme) << c.url;
    EXPECT_EQ(url->host, c.host) << c.url;
    EXPECT_EQ(url->port, c.port) << c.url;
    EXPECT_EQ(url->path, c.path) << c.url;
    EXPECT_EQ(url->host_header(), c.host_header) << c.url;
  }
  for (const char* bad : {"", "https://", "https://a b", "https://x:port"}) {
    EXPECT_FALSE(ParseServerUrl(bad, "https").ok()) << bad;
  }
}

TEST(ProxyTest, IsChosenAsTheEnvironmentSays) {
  struct Case {
    std::string name, server;
    std::map<std::string, std::string> environment;
    std::string proxy;  // host:port, empty for none
  };
  const std::map<std::string, std::string> with_proxy{{"HTTPS_PROXY", "http://p:3128"}};
  const auto without = [](std::string no_proxy) {
    return std::map<std::string, std::string>{{"HTTPS_PROXY", "http://p:3128"},
                                              {"NO_PROXY", std::move(no_proxy)}};
  };
  const Case cases[] = {
      {"nothing set", "https://a.b", {}, ""},
      {"set", "https://a.b", with_proxy, "p:3128"},
      {"lower case, no scheme, no port", "https://a.b", {{"https_proxy", "p"}}, "p:80"},
      {"plain http", "http://a.b", with_proxy, ""},
      {"loopback address", "https://127.0.0.1:6443", with_proxy, ""},
      {"loopback name", "https://localhost:6443", with_proxy, ""},
      {"star", "https://a.b", without("*"), ""},
      {"host", "https://a.b", without("x.y, a.b"), ""},
      {"domain", "https://c.a.b", without("a.b"), ""},
      {"dotted domain", "https://c.a.b", without(".a.b"), ""},
      {"dotted domain is not itself", "https://a.b", without(".a.b"), "p:3128"},
      {"only the end of a name", "https://xa.b", without("a.b"), "p:3128"},
      {"case", "https://A.B", without("a.b"), ""},
      {"host and port", "https://a.b:6443", without("a.b:6443"), ""},
      {"another port", "https://a.b:443", without("a.b:6443"), "p:3128"},
      {"address", "https://10.1.2.3", without("10.1.2.3"), ""},
      {"network", "https://10.1.2.3", without("10.0.0.0/8"), ""},
      {"another network", "https://11.1.2.3", without("10.0.0.0/8"), "p:3128"},
      {"IPv6 network", "https://[fd00::1]", without("fd00::/8"), ""},
  };
  for (const Case& c : cases) {
    const auto server = ParseServerUrl(c.server, "https");
    ASSERT_TRUE(server.ok());
    const auto proxy = ChooseProxy(*server, "", [&](const char* name) {
      const auto it = c.environment.find(name);
      return it == c.environment.end() ? "" : it->second;
    });
    ASSERT_TRUE(proxy.ok()) << c.name << proxy.status();
    EXPECT_EQ(*proxy ? (*proxy)->host + ":" + (*proxy)->port : "", c.proxy) << c.name;
  }
}

TEST(ProxyTest, ErrorsDoNotTellPasswords) {
  const auto server = ParseServerUrl("https://10.0.0.1", "https");
  for (const char* url : {"https://me:s3cret@p:3128", "ftp://me:s3cret@p", "me:s3cret@p:3128",
                          "http://me:s3cret@", "http://me:s3cr@s3cret@p:x/y"}) {
    for (const bool configured : {true, false}) {
      const auto proxy = ChooseProxy(*server, configured ? url : "", [&](const char* name) {
        return std::string_view(name) == "HTTPS_PROXY" ? url : "";
      });
      EXPECT_THAT(std::string(Message(proxy.status())), Not(HasSubstr("s3cret"))) << url;
    }
  }
  EXPECT_EQ(HideCredentials("https://me:s3cret@p:3128/a@b"), "https://***@p:3128/a@b");
  EXPECT_EQ(HideCredentials("me:s3cret@p"), "***@p");
  EXPECT_EQ(HideCredentials("https://p:3128/a@b"), "https://p:3128/a@b");
}

TEST(ProxyTest, TheConfiguredOneCountsMore) {
  const auto server = ParseServerUrl("https://127.0.0.1", "https");
  const auto proxy =
      ChooseProxy(*server, "http://mine:1", [](const char*) { return "http://p:3128"; });
  ASSERT_TRUE(proxy.ok());
  EXPECT_EQ((*proxy)->host, "mine");
}

}  // namespace
}  // namespace koord::kube::server_url_test
