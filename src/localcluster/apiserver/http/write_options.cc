#include "localcluster/apiserver/http/write_options.h"

#include "localcluster/apiserver/apply/managed_fields.h"
#include "localcluster/apiserver/core/errors.h"
#include "localcluster/apiserver/registry/field_error.h"

namespace koord::apiserver {
namespace {

Status InvalidOptions(std::string_view kind, FieldError error) {
  return kube::ToStatus(InvalidError(kind, "meta.k8s.io", "", {std::move(error)}));
}

StatusOr<FieldValidation> ParseValidation(const Request& request, std::string_view kind) {
  const std::string_view text = request.query.Get("fieldValidation");
  if (text.empty() || text == "Warn") return FieldValidation::kWarn;
  if (text == "Ignore") return FieldValidation::kIgnore;
  if (text == "Strict") return FieldValidation::kStrict;
  return InvalidOptions(
      kind, NotSupported("fieldValidation", kube::Json(text), {"", "Ignore", "Strict", "Warn"}));
}

}  // namespace

StatusOr<bool> ParseDryRun(std::string_view options_kind,
                           const std::vector<std::string_view>& values) {
  bool all = false;
  for (const std::string_view value : values) {
    if (value.empty()) continue;
    if (value != "All") {
      kube::json::array given;
      for (const std::string_view item : values) given.emplace_back(item);
      return InvalidOptions(options_kind, NotSupported("dryRun", given, {"All"}));
    }
    all = true;
  }
  return all;
}

StatusOr<WriteOptions> WriteOptions::Of(const Request& request, std::string_view kind) {
  WriteOptions options;
  ASSIGN_OR_RETURN(options.dry_run, ParseDryRun(kind, request.query.All("dryRun")));
  ASSIGN_OR_RETURN(options.validation, ParseValidation(request, kind));
  options.force = request.query.IsTrue("force");
  options.manager = request.query.Get("fieldManager");
  const FieldErrors errors = ValidateFieldManager(options.manager, false);
  if (!errors.empty()) return InvalidOptions(kind, errors.front());
  return options;
}

}  // namespace koord::apiserver
