#include <gtest/gtest.h>

#include "base/strings.h"
#include "localcluster/apiserver/admission/webhook.h"
#include "localcluster/apiserver/admission/webhooks.h"
#include "localcluster/apiserver/registry/registry_testing.h"

namespace koord::apiserver::webhook_configuration_test {
namespace {

using kube::Json;

constexpr std::string_view kGood = R"({"kind": "MutatingWebhookConfiguration", "webhooks": [{
    "name": "pods.koordinator.sh", "sideEffects": "None", "admissionReviewVersions": ["v1"],
    "clientConfig": {"service": {"name": "s", "namespace": "n"}},
    "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}]}]})";

std::string Errors(const Json& configuration) {
  return ErrorsText(ValidateWebhookConfiguration(configuration));
}

TEST(WebhookConfiguration, Defaults) {
  Json configuration = Parse(kGood);
  DefaultWebhookConfiguration(configuration);
  EXPECT_EQ(configuration.at("webhooks").at(0), Parse(R"({
      "name": "pods.koordinator.sh", "sideEffects": "None", "admissionReviewVersions": ["v1"],
      "clientConfig": {"service": {"name": "s", "namespace": "n", "port": 443}},
      "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"],
                 "resources": ["pods"], "scope": "*"}],
      "failurePolicy": "Fail", "matchPolicy": "Equivalent", "namespaceSelector": {},
      "objectSelector": {}, "timeoutSeconds": 10, "reinvocationPolicy": "Never"})"));
  EXPECT_EQ(Errors(configuration), "");
  const Json before = configuration;
  DefaultWebhookConfiguration(configuration);
  EXPECT_EQ(configuration, before);

  Json validating = Parse(kGood);
  validating.as_object()["kind"] = "ValidatingWebhookConfiguration";
  DefaultWebhookConfiguration(validating);
  EXPECT_EQ(kube::Find(validating.at("webhooks").at(0), {"reinvocationPolicy"}), nullptr);
}

TEST(WebhookConfiguration, Refuses) {
  const struct {
    const char* member;
    const char* value;
    const char* errors;
  } kCases[] = {
      {"name", R"("pods")",
       R"(webhooks[0].name: Invalid value: "pods": should be a domain with at least three segments separated by dots)"},
      {"name", R"("")", "webhooks[0].name: Required value"},
      {"sideEffects", R"("Some")",
       R"(webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun")"},
      {"sideEffects", "null", "webhooks[0].sideEffects: Required value"},
      {"admissionReviewVersions", "[]",
       "webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1"},
      {"admissionReviewVersions", R"(["v2"])",
       R"(webhooks[0].admissionReviewVersions: Invalid value: ["v2"]: must include at least one of v1, v1beta1)"},
      {"timeoutSeconds", "31",
       "webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 "
       "seconds"},
      {"failurePolicy", R"("Panic")",
       R"(webhooks[0].failurePolicy: Unsupported value: "Panic": supported values: "Fail", "Ignore")"},
      {"matchPolicy", R"("Loose")",
       R"(webhooks[0].matchPolicy: Unsupported value: "Loose": supported values: "Equivalent", "Exact")"},
      {"clientConfig", "{}",
       "webhooks[0].clientConfig: Required value: exactly one of url or service is required"},
      {"clientConfig", R"({"url": "https://h", "service": {"name": "s", "namespace": "n"}})",
       "webhooks[0].clientConfig: Required value: exactly one of url or service is required"},
      {"clientConfig", R"({"url": "http://h/x"})",
       R"(webhooks[0].clientConfig.url: Invalid value: "http://h/x": 'https' is the only allowed URL scheme; desired format: https://host[/path])"},
      {"clientConfig", R"({"url": "https://h", "caBundle": "*"})",
       R"(webhooks[0].clientConfig.caBundle: Invalid value: "*": must be base64)"},
      {"clientConfig", R"({"service": {"name": "s"}})",
       "webhooks[0].clientConfig.service.namespace: Required value"},
      {"clientConfig", R"({"service": {"name": "s", "namespace": "n", "path": "x", "port": 0}})",
       R"(webhooks[0].clientConfig.service.path: Invalid value: "x": must start with a '/'; )"
       "webhooks[0].clientConfig.service.port: Invalid value: 0: port is not valid: must be "
       "between 1 "
       "and 65535, inclusive"},
      {"rules",
       R"([{"operations": ["PATCH"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}])",
       R"(webhooks[0].rules[0].operations[0]: Unsupported value: "PATCH": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE")"},
      {"rules",
       R"([{"operations": ["*", "CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}])",
       R"(webhooks[0].rules[0].operations: Invalid value: ["*","CREATE"]: if '*' is present, must not specify other items)"},
      {"rules",
       R"([{"operations": ["*"], "apiVersions": ["v1"], "resources": ["pods"], "scope": "All"}])",
       R"(webhooks[0].rules[0].apiGroups: Required value; webhooks[0].rules[0].scope: Unsupported value: "All": supported values: "*", "Cluster", "Namespaced")"},
  };
  for (const auto& c : kCases) {
    Json configuration = Parse(kGood);
    configuration.at("webhooks").at(0).as_object()[c.member] = Parse(c.value);
    EXPECT_EQ(Errors(configuration), c.errors) << c.member << " " << c.value;
  }
  Json twice = Parse(kGood);
  const Json webhook = twice.at("webhooks").at(0);
  twice.at("webhooks").as_array().push_back(webhook);
  EXPECT_EQ(Errors(twice), R"(webhooks[1].name: Duplicate value: "pods.koordinator.sh")");

  Json selector = Parse(kGood);
  selector.at("webhooks").at(0).as_object()["objectSelector"] =
      Parse(R"({"matchExpressions": [{"key": "a", "operator": "Is"}]})");
  EXPECT_EQ(Errors(selector).substr(0, 29), "webhooks[0].objectSelector: I");
}

TEST(WebhookConfiguration, SurvivesGarbage) {
  for (const char* garbage :
       {"[]", R"({"webhooks": 1})", R"({"webhooks": [1, null]})",
        R"({"webhooks": [{"rules": [1], "clientConfig": [], "namespaceSelector": 1}]})"}) {
    Json configuration = Parse(garbage);
    DefaultWebhookConfiguration(configuration);
    ValidateWebhookConfiguration(configuration);
    CompileConfigurations({configuration});
  }
}

TEST(WebhookUrl, Parts) {
  const struct {
    const char* url;
    const char* host;
    int port;
    const char* path;
  } kCases[] = {{"https://a.b", "a.b", 443, "/"},
                {"https://a.b:8443/x/y?z=1", "a.b", 8443, "/x/y?z=1"},
                {"https://[::1]:9443/x", "::1", 9443, "/x"},
                {"https://[::1]", "::1", 443, "/"},
                {"https://a?x=1", "a", 443, "/?x=1"}};
  for (const auto& c : kCases) {
    const auto url = ParseWebhookUrl(c.url);
    ASSERT_TRUE(url.ok()) << c.url;
    EXPECT_EQ(url->host, c.host);
    EXPECT_EQ(url->port, c.port);
    EXPECT_EQ(url->path, c.path);
  }
  for (const char* bad : {"", "http://a", "https://", "https:///x", "https://u@a", "https://a#f",
                          "https://a:0", "https://a:x", "https://a:70000"}) {
    EXPECT_FALSE(ParseWebhookUrl(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace koord::apiserver::webhook_configuration_test
