#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "kube/json.h"
#include "kube/selectors.h"
#include "localcluster/apiserver/admission/webhooks.h"

namespace koord::apiserver {

// One webhook of a configuration, made ready.
struct Webhook {
  std::string name;
  std::vector<AdmissionRule> rules;
  kube::LabelMatcher namespace_selector;
  kube::LabelMatcher object_selector;
  bool equivalent = true;       // matchPolicy
  bool ignore_failure = false;  // failurePolicy
  bool reinvoke = false;        // reinvocationPolicy IfNeeded
  bool no_side_effects = true;  // may be called for a dry run
  Duration timeout = std::chrono::seconds(10);
  bool beta = false;  // speaks admission.k8s.io/v1beta1 only

  std::optional<ServiceReference> service;  // or else `host` and `port`
  std::string host;
  int port = 443;
  std::string path;
  std::string ca_bundle;

  static StatusOr<Webhook> Compile(const kube::Json& webhook);
};

// All webhooks in the order in which they are called: configurations by name. What cannot be read
// is logged and left out.
std::vector<Webhook> CompileConfigurations(const std::vector<kube::Json>& configurations);

// The resource, of those that the request is about in its various versions, for which the webhook
// wants to see it; null if it does not. Selectors are not looked at.
const kube::Resource* MatchedResource(const Webhook& webhook, const AdmissionRequest& request);

bool SelectorsMatch(const Webhook& webhook, const AdmissionRequest& request,
                    const WebhookEnvironment& environment);

// An https URL in its parts.
struct WebhookUrl {
  std::string host;
  int port = 443;
  std::string path;  // with query
};
StatusOr<WebhookUrl> ParseWebhookUrl(std::string_view url);

}  // namespace koord::apiserver
