#include "manager/webhook/certificates/registration.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/keys.h"
#include "base/strings.h"

namespace koord::manager::webhook {
namespace {

using kube::Json;
namespace json = kube::json;

constexpr std::string_view kTemplate = "template";
constexpr std::string_view kNamespaceName = "kubernetes.io/metadata.name";

StatusOr<json::array> TemplateOf(const Json& configuration) {
  const std::string_view text =
      kube::FindString(configuration, {"metadata", "annotations", kTemplate});
  if (!text.empty()) {
    auto parsed = kube::ParseJson(text);
    if (!parsed.ok() || !parsed->is_array()) {
      return InvalidArgument("metadata.annotations.{}: expected a list of webhooks", kTemplate);
    }
    if (!parsed->get_array().empty()) return std::move(parsed->get_array());
  }
  const json::array* current = kube::FindArray(configuration, {"webhooks"});
  return current == nullptr ? json::array() : *current;
}

// "/mutate-pod", of a service or of a URL.
std::string PathOf(const Json& webhook) {
  const std::string_view path = kube::FindString(webhook, {"clientConfig", "service", "path"});
  if (!path.empty()) return std::string(path);
  const std::string_view url = kube::FindString(webhook, {"clientConfig", "url"});
  const size_t scheme = url.find("://");
  const size_t slash = scheme == url.npos ? url.npos : url.find('/', scheme + 3);
  return slash == url.npos ? "" : std::string(url.substr(slash));
}

bool IsAboutPods(const Json& webhook) {
  const json::array* rules = kube::FindArray(webhook, {"rules"});
  if (rules == nullptr) return false;
  return std::ranges::any_of(*rules, [](const Json& rule) {
    const json::array* resources = kube::FindArray(rule, {"resources"});
    return resources != nullptr && std::ranges::any_of(*resources, [](const Json& resource) {
             return resource.is_string() && std::string_view(resource.get_string()) == "pods";
           });
  });
}

void ExemptSystemNamespaces(const std::string& own, Json& webhook) {
  Json& expressions = kube::At(webhook, {"namespaceSelector", "matchExpressions"});
  if (!expressions.is_array()) expressions = json::array();
  json::array kept;
  for (Json& each : expressions.get_array()) {
    const bool exempts_labelled = kube::FindString(each, {"key"}) == api::kLabelControlPlane &&
                                  kube::FindString(each, {"operator"}) == "DoesNotExist";
    if (!exempts_labelled) kept.push_back(std::move(each));
  }
  expressions = std::move(kept);
  const bool is_there = std::ranges::any_of(expressions.get_array(), [](const Json& each) {
    return kube::FindString(each, {"key"}) == kNamespaceName;
  });
  if (is_there) return;
  expressions.get_array().push_back({{"key", kNamespaceName},
                                     {"operator", "NotIn"},
                                     {"values", json::array{"kube-system", own}}});
}

void SetAddress(const Registration& registration, const std::string& path, Json& webhook) {
  Json& config = kube::At(webhook, {"clientConfig"});
  if (!config.is_object()) config = json::object();
  config.get_object()["caBundle"] = Base64Encode(registration.ca_bundle);
  if (!registration.host.empty()) {
    config.get_object().erase("service");
    config.get_object()["url"] =
        fmt::format("https://{}:{}{}", registration.host, registration.port, path);
    return;
  }
  config.get_object().erase("url");
  Json& service = kube::At(config, {"service"});
  if (!service.is_object()) service = json::object();
  service.get_object()["namespace"] = registration.service_ns;
  service.get_object()["name"] = registration.service_name;
  service.get_object()["path"] = path;
}

// Whether `stored` says all that `wanted` does; the server fills in defaults that nobody wrote.
bool Covers(const Json& stored, const Json& wanted) {
  if (wanted.is_object() && stored.is_object()) {
    for (const auto& [name, value] : wanted.get_object()) {
      const Json* found = stored.get_object().if_contains(name);
      if (found == nullptr || !Covers(*found, value)) return false;
    }
    return true;
  }
  if (wanted.is_array() && stored.is_array()) {
    return std::ranges::equal(stored.get_array(), wanted.get_array(), Covers);
  }
  return kube::Equal(stored, wanted);
}

// A webhook that is called by URL has no service and the other way round: Covers does not see that.
bool SameAddressKind(const Json& stored, const Json& wanted) {
  return std::ranges::equal(stored.get_array(), wanted.get_array(),
                            [](const Json& a, const Json& b) {
                              const auto has_url = [](const Json& webhook) {
                                return kube::Find(webhook, {"clientConfig", "url"}) != nullptr;
                              };
                              return has_url(a) == has_url(b);
                            });
}

}  // namespace

StatusOr<std::set<std::string, std::less<>>> ListedPaths(const Json& configuration) {
  ASSIGN_OR_RETURN(const json::array pattern, TemplateOf(configuration));
  std::set<std::string, std::less<>> paths;
  for (const Json& webhook : pattern) paths.insert(PathOf(webhook));
  return paths;
}

StatusOr<std::optional<Json>> Registered(const Json& configuration,
                                         const Registration& registration) {
  ASSIGN_OR_RETURN(const json::array pattern, TemplateOf(configuration));
  Json webhooks = json::array();
  for (Json webhook : pattern) {
    const std::string path = PathOf(webhook);
    if (!registration.paths.contains(path)) continue;
    SetAddress(registration, path, webhook);
    if (IsAboutPods(webhook)) ExemptSystemNamespaces(registration.service_ns, webhook);
    webhooks.get_array().push_back(std::move(webhook));
  }
  const Json* stored = kube::Find(configuration, {"webhooks"});
  const bool has_template =
      !kube::FindString(configuration, {"metadata", "annotations", kTemplate}).empty();
  const bool in_step = stored != nullptr && stored->is_array()
                           ? Covers(*stored, webhooks) && SameAddressKind(*stored, webhooks)
                           : webhooks.get_array().empty();
  if (in_step && (has_template || pattern.empty())) return std::optional<Json>();
  Json changed = configuration;
  if (!has_template) {
    kube::At(changed, {"metadata", "annotations", kTemplate}) = kube::Serialize(Json(pattern));
  }
  kube::At(changed, {"webhooks"}) = std::move(webhooks);
  return std::optional<Json>(std::move(changed));
}

}  // namespace koord::manager::webhook
