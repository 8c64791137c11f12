#include "localcluster/apiserver/admission/webhook.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/strings.h"

namespace koord::apiserver {

using kube::Json;
namespace json = kube::json;

namespace {

std::vector<std::string> Strings(const Json& value, std::string_view member) {
  std::vector<std::string> strings;
  if (const json::array* items = kube::FindArray(value, {member})) {
    for (const Json& item : *items) strings.emplace_back(kube::FindString(item, {}));
  }
  return strings;
}

AdmissionRule RuleOf(const Json& rule) {
  return {Strings(rule, "operations"), Strings(rule, "apiGroups"), Strings(rule, "apiVersions"),
          Strings(rule, "resources"), std::string(kube::FindString(rule, {"scope"}, "*"))};
}

StatusOr<kube::LabelMatcher> SelectorOf(const Json& webhook, std::string_view member) {
  const Json* selector = kube::Find(webhook, {member});
  if (selector == nullptr || selector->is_null()) return kube::LabelMatcher();
  return kube::LabelMatcher::FromJson(*selector);
}

Status ReadClientConfig(const Json& webhook, Webhook& out) {
  const auto bundle = Base64Decode(kube::FindString(webhook, {"clientConfig", "caBundle"}));
  if (!bundle) return InvalidArgument("clientConfig.caBundle: must be base64");
  out.ca_bundle = *bundle;
  const Json* service = kube::Find(webhook, {"clientConfig", "service"});
  if (service != nullptr && service->is_object()) {
    out.service = ServiceReference{std::string(kube::FindString(*service, {"namespace"})),
                                   std::string(kube::FindString(*service, {"name"})),
                                   static_cast<int>(kube::FindInt(*service, {"port"}, 443))};
    out.path = kube::FindString(*service, {"path"});
    if (!out.path.starts_with('/')) out.path.insert(0, "/");
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(WebhookUrl url,
                   ParseWebhookUrl(kube::FindString(webhook, {"clientConfig", "url"})));
  out.host = std::move(url.host);
  out.port = url.port;
  out.path = std::move(url.path);
  return absl::OkStatus();
}

const json::object* LabelsOf(const Json& object) {
  return kube::FindObject(object, {"metadata", "labels"});
}

bool ObjectMatches(const kube::LabelMatcher& selector, const AdmissionRequest& request) {
  if (selector.empty()) return true;
  return (request.object.is_object() && selector.Matches(LabelsOf(request.object))) ||
         (request.old_object.is_object() && selector.Matches(LabelsOf(request.old_object)));
}

bool IsNamespace(const kube::Resource& resource) {
  return resource.group.empty() && resource.resource == "namespaces";
}

bool NamespaceMatches(const kube::LabelMatcher& selector, const AdmissionRequest& request,
                      const WebhookEnvironment& environment) {
  if (selector.empty()) return true;
  if (IsNamespace(request.resource)) {
    const Json& self = request.object.is_object() ? request.object : request.old_object;
    return selector.Matches(LabelsOf(self));
  }
  if (request.ns.empty()) return true;
  const Json labels =
      environment.namespace_labels == nullptr ? Json() : environment.namespace_labels(request.ns);
  return selector.Matches(labels.if_object());
}

bool AnyRuleMatches(const Webhook& webhook, const AdmissionRequest& request,
                    const kube::Resource& resource) {
  return std::any_of(webhook.rules.begin(), webhook.rules.end(), [&](const AdmissionRule& rule) {
    return Matches(rule, request.operation, resource, request.subresource);
  });
}

}  // namespace

StatusOr<WebhookUrl> ParseWebhookUrl(std::string_view url) {
  constexpr std::string_view kScheme = "https://";
  if (!url.starts_with(kScheme)) {
    return InvalidArgument(
        "'https' is the only allowed URL scheme; desired format: https://host[/path]");
  }
  const std::string_view rest = url.substr(kScheme.size());
  const size_t end = rest.find_first_of("/?#");
  std::string_view authority = rest.substr(0, end);
  if (authority.find('@') != std::string_view::npos) {
    return InvalidArgument("user information is not permitted in the URL");
  }
  if (url.find('#') != std::string_view::npos) {
    return InvalidArgument("fragments are not permitted in the URL");
  }
  WebhookUrl parsed;
  parsed.path = end == std::string_view::npos ? "/" : std::string(rest.substr(end));
  if (!parsed.path.starts_with('/')) parsed.path.insert(0, "/");
  const size_t bracket = authority.rfind(']');
  const size_t colon = authority.rfind(':');
  if (colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket)) {
    const auto port = ParseInt(authority.substr(colon + 1));
    if (!port || *port < 1 || *port > 65535) return InvalidArgument("the port must be 1 to 65535");
    parsed.port = static_cast<int>(*port);
    authority = authority.substr(0, colon);
  }
  if (authority.size() > 2 && authority.starts_with('[') && authority.ends_with(']')) {
    authority = authority.substr(1, authority.size() - 2);
  }
  if (authority.empty()) return InvalidArgument("host must be specified");
  parsed.host = authority;
  return parsed;
}

StatusOr<Webhook> Webhook::Compile(const Json& webhook) {
  Webhook compiled;
  compiled.name = kube::FindString(webhook, {"name"});
  if (const json::array* rules = kube::FindArray(webhook, {"rules"})) {
    for (const Json& rule : *rules) compiled.rules.push_back(RuleOf(rule));
  }
  ASSIGN_OR_RETURN(compiled.namespace_selector, SelectorOf(webhook, "namespaceSelector"));
  ASSIGN_OR_RETURN(compiled.object_selector, SelectorOf(webhook, "objectSelector"));
  compiled.equivalent = kube::FindString(webhook, {"matchPolicy"}) != "Exact";
  compiled.ignore_failure = kube::FindString(webhook, {"failurePolicy"}) == "Ignore";
  compiled.reinvoke = kube::FindString(webhook, {"reinvocationPolicy"}) == "IfNeeded";
  const std::string_view side_effects = kube::FindString(webhook, {"sideEffects"});
  compiled.no_side_effects = side_effects == "None" || side_effects == "NoneOnDryRun";
  compiled.timeout = std::chrono::seconds(kube::FindInt(webhook, {"timeoutSeconds"}, 10));
  const auto versions = Strings(webhook, "admissionReviewVersions");
  const auto lists = [&](std::string_view version) {
    return std::find(versions.begin(), versions.end(), version) != versions.end();
  };
  compiled.beta = !lists("v1") && lists("v1beta1");
  RETURN_IF_ERROR(ReadClientConfig(webhook, compiled));
  return compiled;
}

std::vector<Webhook> CompileConfigurations(const std::vector<Json>& configurations) {
  std::vector<const Json*> sorted;
  for (const Json& configuration : configurations) sorted.push_back(&configuration);
  std::sort(sorted.begin(), sorted.end(), [](const Json* a, const Json* b) {
    return kube::FindString(*a, {"metadata", "name"}) < kube::FindString(*b, {"metadata", "name"});
  });
  std::vector<Webhook> webhooks;
  for (const Json* configuration : sorted) {
    const json::array* list = kube::FindArray(*configuration, {"webhooks"});
    if (list == nullptr) continue;
    for (const Json& each : *list) {
      auto webhook = Webhook::Compile(each);
      if (webhook.ok()) {
        webhooks.push_back(*std::move(webhook));
      } else {
        LOG_ERROR("Left out a webhook that cannot be used",
                  {"configuration", kube::FindString(*configuration, {"metadata", "name"})},
                  {"webhook", kube::FindString(each, {"name"})}, {"err", webhook.status()});
      }
    }
  }
  return webhooks;
}

const kube::Resource* MatchedResource(const Webhook& webhook, const AdmissionRequest& request) {
  if (AnyRuleMatches(webhook, request, request.resource)) return &request.resource;
  if (!webhook.equivalent) return nullptr;
  for (const kube::Resource& resource : request.equivalents) {
    if (AnyRuleMatches(webhook, request, resource)) return &resource;
  }
  return nullptr;
}

bool SelectorsMatch(const Webhook& webhook, const AdmissionRequest& request,
                    const WebhookEnvironment& environment) {
  return ObjectMatches(webhook.object_selector, request) &&
         NamespaceMatches(webhook.namespace_selector, request, environment);
}

}  // namespace koord::apiserver
