#pragma once
#include <optional>
#include <string>
#include <vector>

#include "kube/objects/bytes.h"
#include "kube/objects/meta.h"

namespace koord::kube {

struct WebhookServiceReference {
  std::string ns;
  std::string name;
  std::string path;
  std::optional<int32_t> port;  // 443 when absent

  static void Fields(auto& self, auto&& field) {
    field("namespace", Always(self.ns));
    field("name", Always(self.name));
    field("path", self.path);
    field("port", self.port);
  }
  bool operator==(const WebhookServiceReference&) const = default;
};

// Either a URL or a service.
struct WebhookClientConfig {
  std::string url;
  std::optional<WebhookServiceReference> service;
  Bytes ca_bundle;

  static void Fields(auto& self, auto&& field) {
    field("url", self.url);
    field("service", self.service);
    field("caBundle", self.ca_bundle);
  }
  bool operator==(const WebhookClientConfig&) const = default;
};

struct WebhookRule {
  std::vector<std::string> operations;  // CREATE, UPDATE, DELETE, CONNECT, *
  std::vector<std::string> api_groups;
  std::vector<std::string> api_versions;
  std::vector<std::string> resources;  // "pods", "pods/status", "*", "*/*"
  std::string scope;                   // Cluster, Namespaced, * (also when empty)

  static void Fields(auto& self, auto&& field) {
    field("operations", self.operations);
    field("apiGroups", self.api_groups);
    field("apiVersions", self.api_versions);
    field("resources", self.resources);
    field("scope", self.scope);
  }
  bool operator==(const WebhookRule&) const = default;
};

struct WebhookMatchCondition {
  std::string name;
  std::string expression;

  static void Fields(auto& self, auto&& field) {
    field("name", Always(self.name));
    field("expression", Always(self.expression));
  }
  bool operator==(const WebhookMatchCondition&) const = default;
};

// Of both kinds; reinvocation_policy is the mutating ones' alone.
struct Webhook {
  std::string name;
  WebhookClientConfig client_config;
  std::vector<WebhookRule> rules;
  std::string failure_policy;  // Fail (also when empty), Ignore
  std::string match_policy;    // Equivalent (also when empty), Exact
  std::optional<LabelSelector> namespace_selector;
  std::optional<LabelSelector> object_selector;
  std::string side_effects;
  std::optional<int32_t> timeout_seconds;  // 10 when absent
  std::vector<std::string> admission_review_versions;
  std::string reinvocation_policy;  // Never (also when empty), IfNeeded
  std::vector<WebhookMatchCondition> match_conditions;

  static void Fields(auto& self, auto&& field) {
    field("name", Always(self.name));
    field("clientConfig", Always(self.client_config));
    field("rules", self.rules);
    field("failurePolicy", self.failure_policy);
    field("matchPolicy", self.match_policy);
    field("namespaceSelector", self.namespace_selector);
    field("objectSelector", self.object_selector);
    field("sideEffects", self.side_effects);
    field("timeoutSeconds", self.timeout_seconds);
    field("admissionReviewVersions", self.admission_review_versions);
    field("reinvocationPolicy", self.reinvocation_policy);
    field("matchConditions", self.match_conditions);
  }
  bool operator==(const Webhook&) const = default;
};

// A MutatingWebhookConfiguration or a ValidatingWebhookConfiguration.
struct WebhookConfiguration {
  ObjectMeta metadata;
  std::vector<Webhook> webhooks;

  static void Fields(auto& self, auto&& field) {
    field("metadata", self.metadata);
    field("webhooks", self.webhooks);
  }
  bool operator==(const WebhookConfiguration&) const = default;
};

}  // namespace koord::kube

KOORD_DECLARE_CODEC(koord::kube::WebhookConfiguration);
