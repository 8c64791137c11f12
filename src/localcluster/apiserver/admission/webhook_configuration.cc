#include <algorithm>
#include <set>
#include <string>

#include "base/strings.h"
#include "kube/selectors.h"
#include "localcluster/apiserver/admission/webhook.h"
#include "localcluster/apiserver/admission/webhooks.h"
#include "localcluster/apiserver/registry/check.h"
#include "localcluster/apiserver/registry/names.h"

namespace koord::apiserver {
namespace {

constexpr int64_t kMaxTimeout = 30;

bool IsMutating(const Json& configuration) {
  return kube::FindString(configuration, {"kind"}) == "MutatingWebhookConfiguration";
}

void DefaultWebhook(json::object& webhook, bool mutating) {
  SetIfUnset(webhook, "failurePolicy", "Fail");
  SetIfUnset(webhook, "matchPolicy", "Equivalent");
  MakeObject(webhook, "namespaceSelector");
  MakeObject(webhook, "objectSelector");
  SetIfUnset(webhook, "timeoutSeconds", 10);
  if (mutating) SetIfUnset(webhook, "reinvocationPolicy", "Never");
  ForEachObject(webhook, "rules", [](json::object& rule) { SetIfUnset(rule, "scope", "*"); });
  EditObject(webhook, "clientConfig", [](json::object& client) {
    EditObject(client, "service", [](json::object& service) { SetIfUnset(service, "port", 443); });
  });
}

class WebhookValidator {
 public:
  WebhookValidator(const json::object& webhook, const FieldPath& path, FieldErrors& errors)
      : webhook_(webhook), path_(path), errors_(errors) {}

  void Validate() {
    CheckName();
    CheckRules();
    CheckChoices();
    CheckTimeout();
    CheckReviewVersions();
    CheckClient();
    for (const std::string_view selector : {"namespaceSelector", "objectSelector"}) {
      CheckSelector(selector);
    }
  }

 private:
  void CheckName() {
    const std::string_view name = StringAt(webhook_, "name");
    if (name.empty()) {
      errors_.push_back(Required(path_ / "name"));
    } else if (const std::string complaint = CheckDnsSubdomain(name); !complaint.empty()) {
      errors_.push_back(Invalid(path_ / "name", Text(name), complaint));
    } else if (std::count(name.begin(), name.end(), '.') < 2) {
      errors_.push_back(Invalid(path_ / "name", Text(name),
                                "should be a domain with at least three segments separated by "
                                "dots"));
    }
  }

  void CheckRules() {
    const json::array* rules = ArrayIn(webhook_, "rules");
    const FieldPath at = path_ / "rules";
    for (size_t i = 0; rules != nullptr && i < rules->size(); ++i) {
      const json::object* rule = (*rules)[i].if_object();
      const FieldPath rule_path = at[i];
      if (rule == nullptr) {
        errors_.push_back(Invalid(rule_path, (*rules)[i], "must be an object"));
        continue;
      }
      for (const std::string_view list : {"operations", "apiGroups", "apiVersions", "resources"}) {
        CheckRuleList(*rule, list, rule_path / list);
      }
      CheckOneOf(*rule, "scope", rule_path, {"*", "Cluster", "Namespaced"}, errors_);
    }
  }

  void CheckRuleList(const json::object& rule, std::string_view list, const FieldPath& path) {
    const json::array* items = ArrayIn(rule, list);
    if (items == nullptr || items->empty()) {
      errors_.push_back(Required(path));
      return;
    }
    const bool has_star = std::any_of(items->begin(), items->end(), [](const Json& item) {
      return kube::FindString(item, {}) == "*";
    });
    if (has_star && items->size() > 1 && list != "resources") {
      errors_.push_back(
          Invalid(path, Json(*items), "if '*' is present, must not specify other items"));
    }
    if (list != "operations") return;
    for (size_t i = 0; i < items->size(); ++i) {
      const std::string_view operation = kube::FindString((*items)[i], {});
      const std::vector<std::string> kOperations = {"*", "CONNECT", "CREATE", "DELETE", "UPDATE"};
      if (std::find(kOperations.begin(), kOperations.end(), operation) == kOperations.end()) {
        errors_.push_back(NotSupported(path[i], (*items)[i], kOperations));
      }
    }
  }

  void CheckChoices() {
    CheckOneOf(webhook_, "failurePolicy", path_, {"Fail", "Ignore"}, errors_);
    CheckOneOf(webhook_, "matchPolicy", path_, {"Equivalent", "Exact"}, errors_);
    CheckOneOf(webhook_, "reinvocationPolicy", path_, {"IfNeeded", "Never"}, errors_);
    CheckRequired(webhook_, "sideEffects", path_, errors_);
    CheckOneOf(webhook_, "sideEffects", path_, {"None", "NoneOnDryRun"}, errors_);
  }

  void CheckTimeout() {
    const Json* timeout = webhook_.if_contains("timeoutSeconds");
    if (timeout == nullptr || timeout->is_null()) return;
    const int64_t* seconds = timeout->if_int64();
    if (seconds == nullptr || *seconds < 1 || *seconds > kMaxTimeout) {
      errors_.push_back(Invalid(path_ / "timeoutSeconds", *timeout,
                                "the timeout value must be between 1 and 30 seconds"));
    }
  }

  void CheckReviewVersions() {
    const FieldPath at = path_ / "admissionReviewVersions";
    const json::array* versions = ArrayIn(webhook_, "admissionReviewVersions");
    if (versions == nullptr || versions->empty()) {
      errors_.push_back(Required(at, "must specify one of v1, v1beta1"));
      return;
    }
    const bool known = std::any_of(versions->begin(), versions->end(), [](const Json& version) {
      const std::string_view name = kube::FindString(version, {});
      return name == "v1" || name == "v1beta1";
    });
    if (!known) {
      errors_.push_back(Invalid(at, Json(*versions), "must include at least one of v1, v1beta1"));
    }
  }

  void CheckClient() {
    const FieldPath at = path_ / "clientConfig";
    const json::object* client = ObjectIn(webhook_, "clientConfig");
    const std::string_view url = client == nullptr ? "" : StringAt(*client, "url");
    const json::object* service = client == nullptr ? nullptr : ObjectIn(*client, "service");
    if (url.empty() == (service == nullptr)) {
      errors_.push_back(Required(at, "exactly one of url or service is required"));
      return;
    }
    if (!Base64Decode(StringAt(*client, "caBundle"))) {
      errors_.push_back(
          Invalid(at / "caBundle", Text(StringAt(*client, "caBundle")), "must be base64"));
    }
    if (service == nullptr) {
      const auto parsed = ParseWebhookUrl(url);
      if (!parsed.ok()) {
        errors_.push_back(Invalid(at / "url", Text(url), std::string(Message(parsed.status()))));
      }
      return;
    }
    const FieldPath service_path = at / "service";
    CheckRequired(*service, "name", service_path, errors_);
    CheckRequired(*service, "namespace", service_path, errors_);
    CheckServiceDetails(*service, service_path);
  }

  void CheckServiceDetails(const json::object& service, const FieldPath& path) {
    const std::string_view url_path = StringAt(service, "path");
    if (!url_path.empty() && !url_path.starts_with('/')) {
      errors_.push_back(Invalid(path / "path", Text(url_path), "must start with a '/'"));
    }
    const Json* port = service.if_contains("port");
    if (port == nullptr || port->is_null()) return;
    const int64_t* number = port->if_int64();
    if (number == nullptr || *number < 1 || *number > 65535) {
      errors_.push_back(Invalid(path / "port", *port,
                                "port is not valid: must be between 1 and 65535, inclusive"));
    }
  }

  void CheckSelector(std::string_view member) {
    const Json* selector = webhook_.if_contains(member);
    if (selector == nullptr || selector->is_null()) return;
    const auto parsed = kube::LabelMatcher::FromJson(*selector);
    if (!parsed.ok()) {
      errors_.push_back(Invalid(path_ / member, *selector, std::string(Message(parsed.status()))));
    }
  }

  const json::object& webhook_;
  const FieldPath& path_;
  FieldErrors& errors_;
};

}  // namespace

void DefaultWebhookConfiguration(Json& configuration) {
  if (!configuration.is_object()) return;
  const bool mutating = IsMutating(configuration);
  ForEachObject(configuration.get_object(), "webhooks", DefaultWebhook, mutating);
}

FieldErrors ValidateWebhookConfiguration(const Json& configuration) {
  FieldErrors errors;
  const json::array* webhooks = kube::FindArray(configuration, {"webhooks"});
  const FieldPath path("webhooks");
  std::set<std::string, std::less<>> names;
  for (size_t i = 0; webhooks != nullptr && i < webhooks->size(); ++i) {
    const FieldPath at = path[i];
    const json::object* webhook = (*webhooks)[i].if_object();
    if (webhook == nullptr) {
      errors.push_back(Invalid(at, (*webhooks)[i], "must be an object"));
      continue;
    }
    WebhookValidator(*webhook, at, errors).Validate();
    const std::string_view name = StringAt(*webhook, "name");
    if (!names.emplace(name).second) errors.push_back(Duplicate(at / "name", Text(name)));
  }
  return errors;
}

}  // namespace koord::apiserver
