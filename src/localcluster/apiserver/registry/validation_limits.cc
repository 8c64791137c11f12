// ResourceQuotas and LimitRanges.
#include <fmt/format.h>

#include <array>
#include <optional>
#include <set>

#include "base/strings.h"
#include "kube/quantity.h"
#include "localcluster/apiserver/registry/check.h"
#include "localcluster/apiserver/registry/defaults.h"
#include "localcluster/apiserver/registry/validation.h"

namespace koord::apiserver {
namespace {

using kube::Quantity;

constexpr std::array<std::string_view, 10> kComputeQuotas{
    "cpu",          "memory",          "ephemeral-storage",
    "requests.cpu", "requests.memory", "requests.ephemeral-storage",
    "limits.cpu",   "limits.memory",   "limits.ephemeral-storage",
    "pods"};
constexpr std::array<std::string_view, 9> kObjectQuotas{"requests.storage",
                                                        "resourcequotas",
                                                        "services",
                                                        "replicationcontrollers",
                                                        "secrets",
                                                        "configmaps",
                                                        "persistentvolumeclaims",
                                                        "services.nodeports",
                                                        "services.loadbalancers"};
constexpr std::array<std::string_view, 7> kScopes{
    "Terminating",          "NotTerminating", "BestEffort",
    "NotBestEffort",        "PriorityClass",  "CrossNamespacePodAffinity",
    "VolumeAttributesClass"};

template <class Words>
bool IsAmong(const Words& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::optional<Quantity> QuantityAt(const Json& value) {
  Quantity amount;
  if (!kube::Codec<Quantity>::Read(value, amount).ok()) return {};
  return amount;
}

bool IsHugePagesQuota(std::string_view name) {
  return name.starts_with("hugepages-") || name.starts_with("requests.hugepages-");
}

// Whole things, not amounts.
bool IsCount(std::string_view name) {
  return name == "pods" || name.starts_with("count/") ||
         (IsAmong(kObjectQuotas, name) && name != "requests.storage");
}

void ValidateHard(std::string_view name, const Json& value, const FieldPath& at,
                  FieldErrors& errors) {
  if (std::string wrong = CheckQualifiedName(name); !wrong.empty()) {
    errors.push_back(Invalid(at, Text(name), std::move(wrong)));
  } else if (name.find('/') == std::string_view::npos && !IsAmong(kComputeQuotas, name) &&
             !IsAmong(kObjectQuotas, name) && !IsHugePagesQuota(name)) {
    if (name != "storage") {  // which claims ask for, but no quota is for
      errors.push_back(
          Invalid(at, Text(name), "must be a standard resource type or fully qualified"));
    }
    errors.push_back(Invalid(at, Text(name), "must be a standard resource for quota"));
  }
  const auto amount = QuantityAt(value);
  if (!amount) {
    errors.push_back(Invalid(at, value, "must be a quantity such as 500m, 2 or 1Gi"));
  } else if (amount->Sign() < 0) {
    errors.push_back(Invalid(at, value, "must be greater than or equal to 0"));
  } else if (IsCount(name) && amount->MilliValue() % 1000 != 0) {
    errors.push_back(Invalid(at, value, "must be an integer"));
  }
}

// Whether a quota of this scope can bound the resource at all: best-effort pods ask for nothing.
bool ScopeAllows(std::string_view scope, std::string_view resource) {
  if (scope == "BestEffort") return resource == "pods" || resource == "count/pods";
  if (scope == "VolumeAttributesClass") {
    return resource == "persistentvolumeclaims" || resource == "requests.storage" ||
           resource == "count/persistentvolumeclaims" ||
           resource.find(".storageclass.storage.k8s.io/") != std::string_view::npos;
  }
  return IsAmong(kComputeQuotas, resource) || resource == "count/pods" ||
         IsHugePagesQuota(resource) || resource.starts_with("requests.");
}

void ValidateScopeSet(const std::set<std::string_view>& scopes, const json::object& spec,
                      const FieldPath& at, const Json& value, FieldErrors& errors) {
  const json::object* hard = ObjectIn(spec, "hard");
  for (const std::string_view scope : scopes) {
    if (!IsAmong(kScopes, scope)) {
      errors.push_back(Invalid(at, value, "unsupported scope"));
      continue;
    }
    if (hard == nullptr) continue;
    for (const auto& pair : *hard) {
      if (ScopeAllows(scope, pair.key())) continue;
      errors.push_back(Invalid(at, value, "unsupported scope applied to resource"));
    }
  }
  const auto both = [&](std::string_view a, std::string_view b) {
    return scopes.contains(a) && scopes.contains(b);
  };
  if (both("BestEffort", "NotBestEffort") || both("Terminating", "NotTerminating")) {
    errors.push_back(Invalid(at, value, "conflicting scopes"));
  }
}

void ValidateScopeExpression(const json::object& expression, const FieldPath& at,
                             FieldErrors& errors) {
  const std::string_view scope = StringAt(expression, "scopeName");
  const std::string_view operation = StringAt(expression, "operator");
  const json::array* values = ArrayIn(expression, "values");
  const bool has_values = values != nullptr && !values->empty();
  const bool takes_values = scope == "PriorityClass" || scope == "VolumeAttributesClass";
  if (!takes_values && IsAmong(kScopes, scope) && operation != "Exists") {
    errors.push_back(
        Invalid(at / "operator", Text(operation),
                "must be 'Exist' only operator when scope is any of ResourceQuotaScopeTerminating, "
                "ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, "
                "ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"));
    return;
  }
  if (operation == "In" || operation == "NotIn") {
    if (!has_values) {
      errors.push_back(
          Required(at / "values",
                   "must be at least one value when `operator` is 'In' or 'NotIn' for scope "
                   "selector"));
    }
  } else if (operation == "Exists" || operation == "DoesNotExist") {
    if (has_values) {
      errors.push_back(Invalid(at / "values", Json(*values),
                               "must be no value when `operator` is 'Exist' or 'DoesNotExist' for "
                               "scope selector"));
    }
  } else {
    errors.push_back(Invalid(at / "operator", Text(operation), "not a valid selector operator"));
  }
}

void ValidateScopes(const json::object& spec, const FieldPath& path, FieldErrors& errors) {
  if (const json::array* scopes = ArrayIn(spec, "scopes")) {
    std::set<std::string_view> names;
    for (const Json& scope : *scopes) {
      if (scope.is_string()) names.insert(std::string_view(scope.get_string()));
    }
    ValidateScopeSet(names, spec, path / "scopes", Json(*scopes), errors);
  }
  const json::object* selector = ObjectIn(spec, "scopeSelector");
  const json::array* expressions =
      selector == nullptr ? nullptr : ArrayIn(*selector, "matchExpressions");
  if (expressions == nullptr) return;
  const FieldPath selector_path = path / "scopeSelector";
  const FieldPath list = selector_path / "matchExpressions";
  std::set<std::string_view> names;
  for (size_t i = 0; i < expressions->size(); ++i) {
    const json::object* expression = (*expressions)[i].if_object();
    if (expression == nullptr) continue;
    ValidateScopeExpression(*expression, list[i], errors);
    names.insert(StringAt(*expression, "scopeName"));
  }
  ValidateScopeSet(names, spec, list, Json(*expressions), errors);
}

// --- LimitRanges

// The amounts of one item that speak of the same resource.
struct Bounds {
  std::optional<Quantity> min, max, limit, request, ratio;
};

std::optional<Quantity> BoundAt(const json::object& item, std::string_view list,
                                std::string_view resource) {
  const json::object* amounts = ObjectIn(item, list);
  const Json* value = amounts == nullptr ? nullptr : amounts->if_contains(resource);
  return value == nullptr ? std::nullopt : QuantityAt(*value);
}

constexpr std::array<std::string_view, 5> kBoundLists{"min", "max", "default", "defaultRequest",
                                                      "maxLimitRequestRatio"};

void ValidateBounds(const json::object& item, const std::string& resource, const FieldPath& at,
                    FieldErrors& errors) {
  const Bounds of{BoundAt(item, "min", resource), BoundAt(item, "max", resource),
                  BoundAt(item, "default", resource), BoundAt(item, "defaultRequest", resource),
                  BoundAt(item, "maxLimitRequestRatio", resource)};
  const auto in_order = [&](std::string_view list, const std::optional<Quantity>& less,
                            std::string_view less_name, const std::optional<Quantity>& more,
                            std::string_view more_name) {
    if (!less || !more || *less <= *more) return;
    const FieldPath path = at / list;
    errors.push_back(
        Invalid(path.Key(resource),
                Text((list == "min" || list == "defaultRequest" ? *less : *more).ToString()),
                fmt::format("{} value {} is greater than {} value {}", less_name, less->ToString(),
                            more_name, more->ToString())));
  };
  in_order("min", of.min, "min", of.max, "max");
  in_order("defaultRequest", of.min, "min", of.request, "default request");
  in_order("defaultRequest", of.request, "default request", of.max, "max");
  in_order("defaultRequest", of.request, "default request", of.limit, "default limit");
  in_order("default", of.min, "min", of.limit, "default");
  in_order("default", of.limit, "default", of.max, "max");
  if (!of.ratio) return;
  const FieldPath ratios = at / "maxLimitRequestRatio";
  if (*of.ratio < Quantity(1)) {
    errors.push_back(Invalid(ratios.Key(resource), Text(of.ratio->ToString()),
                             fmt::format("ratio {} is less than 1", of.ratio->ToString())));
  }
  if (!of.min || !of.max || of.min->IsZero()) return;
  const double most = of.max->ToDouble() / of.min->ToDouble();
  if (of.ratio->ToDouble() > most) {
    errors.push_back(Invalid(
        ratios.Key(resource), Text(of.ratio->ToString()),
        fmt::format("ratio {} is greater than max/min = {:f}", of.ratio->ToString(), most)));
  }
}

void ValidateLimitItem(const json::object& item, const FieldPath& at, FieldErrors& errors) {
  const std::string_view type = StringAt(item, "type");
  std::set<std::string> resources;
  for (const std::string_view list : kBoundLists) {
    const json::object* amounts = ObjectIn(item, list);
    if (amounts == nullptr) continue;
    const FieldPath path = at / list;
    for (const auto& pair : *amounts) {
      resources.emplace(pair.key());
      if (QuantityAt(pair.value())) continue;
      errors.push_back(
          Invalid(path.Key(pair.key()), pair.value(), "must be a quantity such as 500m, 2 or 1Gi"));
    }
    const bool is_default = list == "default" || list == "defaultRequest";
    if (type == "Pod" && is_default && !amounts->empty()) {
      errors.push_back(Forbidden(path, "may not be specified when `type` is 'Pod'"));
    }
  }
  if (type == "PersistentVolumeClaim" && !BoundAt(item, "min", "storage") &&
      !BoundAt(item, "max", "storage")) {
    errors.push_back(Required(
        at, "either minimum or maximum storage value is required, but neither was provided"));
  }
  for (const std::string& resource : resources) ValidateBounds(item, resource, at, errors);
}

// Adds what `to` lacks.
void CopyMissing(json::object& item, std::string_view from, std::string_view to) {
  const json::object* source = ObjectIn(item, from);
  if (source == nullptr || source->empty()) return;
  const json::object copy = *source;
  MakeObject(
      item, to,
      [](json::object& target, const json::object& more) {
        target.insert(more.begin(), more.end());  // leaves those that are there
      },
      copy);
}

}  // namespace

void ValidateResourceQuota(const Json& object, FieldErrors& errors) {
  const json::object* spec = kube::FindObject(object, {"spec"});
  if (spec == nullptr) return;
  const FieldPath path("spec");
  if (const json::object* hard = ObjectIn(*spec, "hard")) {
    const FieldPath list = path / "hard";
    for (const auto& pair : *hard) {
      ValidateHard(pair.key(), pair.value(), list.Key(pair.key()), errors);
    }
  }
  ValidateScopes(*spec, path, errors);
}

void ValidateResourceQuotaUpdate(const Json& object, const Json& old, FieldErrors& errors) {
  CheckUnchanged(object, old, {"spec", "scopes"}, "spec.scopes", errors);
}

void ValidateLimitRange(const Json& object, FieldErrors& errors) {
  const json::object* spec = kube::FindObject(object, {"spec"});
  const json::array* items = spec == nullptr ? nullptr : ArrayIn(*spec, "limits");
  if (items == nullptr) return;
  const FieldPath list("spec.limits");
  std::set<std::string_view> types;
  for (size_t i = 0; i < items->size(); ++i) {
    const json::object* item = (*items)[i].if_object();
    if (item == nullptr) continue;
    const FieldPath at = list[i];
    const std::string_view type = StringAt(*item, "type");
    const bool known = type == "Container" || type == "Pod" || type == "PersistentVolumeClaim";
    if (std::string wrong = CheckQualifiedName(type); !wrong.empty()) {
      errors.push_back(Invalid(at / "type", Text(type), std::move(wrong)));
    } else if (!known && type.find('/') == std::string_view::npos) {
      errors.push_back(
          Invalid(at / "type", Text(type), "must be a standard limit type or fully qualified"));
    }
    if (!types.insert(type).second) errors.push_back(Duplicate(at / "type", Text(type)));
    ValidateLimitItem(*item, at, errors);
  }
}

void DefaultLimitRange(Json& object) {
  json::object* root = object.if_object();
  if (root == nullptr) return;
  EditObject(*root, "spec", [](json::object& spec) {
    ForEachObject(spec, "limits", [](json::object& item) {
      if (StringAt(item, "type") != "Container") return;
      CopyMissing(item, "max", "default");
      CopyMissing(item, "default", "defaultRequest");
      CopyMissing(item, "min", "defaultRequest");
    });
  });
}

}  // namespace koord::apiserver
