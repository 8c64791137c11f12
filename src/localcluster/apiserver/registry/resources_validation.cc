#include "localcluster/apiserver/registry/resources_validation.h"

#include <fmt/format.h>

#include <optional>

#include "kube/quantity.h"
#include "localcluster/apiserver/registry/check.h"
#include "localcluster/apiserver/registry/names.h"

namespace koord::apiserver {
namespace {

std::optional<kube::Quantity> AmountOf(const Json& value) {
  kube::Quantity amount;
  if (!kube::Codec<kube::Quantity>::Read(value, amount).ok()) return {};
  return amount;
}

bool IsHugePages(std::string_view name) { return name.starts_with("hugepages-"); }

// Extended resources and huge pages are handed out as they are: what is requested is what is
// limited.
bool AllowsOvercommit(std::string_view name) {
  return !IsExtendedResource(name) && !IsHugePages(name);
}

void ValidateAmount(std::string_view name, const Json& value, const FieldPath& path,
                    FieldErrors& errors) {
  if (std::string wrong = CheckQualifiedName(name); !wrong.empty()) {
    errors.push_back(Invalid(path, Text(name), std::move(wrong)));
  }
  const auto amount = AmountOf(value);
  if (!amount) {
    errors.push_back(Invalid(path, value, "must be a quantity such as 500m, 2 or 1Gi"));
  } else if (amount->Sign() < 0) {
    errors.push_back(Invalid(path, value, "must be greater than or equal to 0"));
  } else if (IsExtendedResource(name) && amount->MilliValue() % 1000 != 0) {
    errors.push_back(Invalid(path, value, "must be an integer"));
  }
}

void ValidateRequestAgainstLimit(std::string_view name, const Json& request, const Json* limit,
                                 const FieldPath& path, FieldErrors& errors) {
  const auto wanted = AmountOf(request);
  const auto most = limit == nullptr ? std::nullopt : AmountOf(*limit);
  if (!wanted) return;
  if (!most) {
    if (!AllowsOvercommit(name)) {
      errors.push_back(Required(path, "Limit must be set for non overcommitable resources"));
    }
    return;
  }
  if (!AllowsOvercommit(name) && *wanted != *most) {
    errors.push_back(Invalid(
        path, request, fmt::format("must be equal to {} limit of {}", name, most->ToString())));
  } else if (*wanted > *most) {
    errors.push_back(Invalid(
        path, request,
        fmt::format("must be less than or equal to {} limit of {}", name, most->ToString())));
  }
}

}  // namespace

bool IsExtendedResource(std::string_view name) {
  const size_t slash = name.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view domain = name.substr(0, slash);
  return domain != "kubernetes.io" && !domain.ends_with(".kubernetes.io") &&
         !name.starts_with("requests.");
}

void ValidateResourceList(const json::object& list, const FieldPath& path, FieldErrors& errors) {
  for (const auto& pair : list)
    ValidateAmount(pair.key(), pair.value(), path.Key(pair.key()), errors);
}

void ValidateResources(const json::object& resources, const FieldPath& path, FieldErrors& errors) {
  const json::object* limits = ObjectIn(resources, "limits");
  const json::object* requests = ObjectIn(resources, "requests");
  const FieldPath limits_path = path / "limits";
  const FieldPath requests_path = path / "requests";
  if (limits != nullptr) ValidateResourceList(*limits, limits_path, errors);
  if (requests == nullptr) return;
  for (const auto& pair : *requests) {
    const FieldPath at = requests_path.Key(pair.key());
    ValidateAmount(pair.key(), pair.value(), at, errors);
    const Json* limit = limits == nullptr ? nullptr : limits->if_contains(pair.key());
    // The original names the list here, not the entry.
    ValidateRequestAgainstLimit(pair.key(), pair.value(), limit, requests_path, errors);
  }
}

}  // namespace koord::apiserver
