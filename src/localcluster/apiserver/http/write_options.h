#pragma once
#include <string>

#include "localcluster/apiserver/core/request.h"
#include "localcluster/apiserver/http/body.h"

namespace koord::apiserver {

// The query parameters of a write, checked.
struct WriteOptions {
  bool dry_run = false;
  FieldValidation validation = FieldValidation::kWarn;
  std::string manager;  // who owns the fields that are written
  bool force = false;   // apply: take over fields that others own

  // `kind` is CreateOptions, UpdateOptions or PatchOptions: errors name it.
  static StatusOr<WriteOptions> Of(const Request& request, std::string_view kind);
};

// dryRun of any write, as query parameters or a list from DeleteOptions give it.
StatusOr<bool> ParseDryRun(std::string_view options_kind,
                           const std::vector<std::string_view>& values);

}  // namespace koord::apiserver
