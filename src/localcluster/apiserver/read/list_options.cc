#include "localcluster/apiserver/read/list_options.h"

#include "base/strings.h"
#include "localcluster/apiserver/core/errors.h"
#include "localcluster/apiserver/registry/field_error.h"

namespace koord::apiserver {
namespace {

constexpr char kMatch[] = "resourceVersionMatch";
constexpr char kInitial[] = "sendInitialEvents";

Status InvalidOptions(const FieldErrors& errors) {
  return kube::ToStatus(InvalidError("ListOptions", "meta.k8s.io", "", errors));
}

StatusOr<ListOptions> ParseCommon(const Request& request) {
  const Query& query = request.query;
  ListOptions options;
  ASSIGN_OR_RETURN(const auto limit, query.Integer("limit"));
  if (limit.value_or(0) > 0) options.limit = static_cast<size_t>(*limit);
  ASSIGN_OR_RETURN(options.timeout_seconds, query.Integer("timeoutSeconds"));
  options.has_revision = !query.Get("resourceVersion").empty();
  options.bookmarks = query.IsTrue("allowWatchBookmarks");
  if (!query.Get(kInitial).empty()) options.send_initial_events = query.IsTrue(kInitial);
  const std::string_view match = query.Get(kMatch);
  if (match == "Exact") options.match = ListOptions::Match::kExact;
  if (match == "NotOlderThan") options.match = ListOptions::Match::kNotOlderThan;
  return options;
}

FieldErrors CheckList(const Query& query, const ListOptions& options) {
  FieldErrors errors;
  const std::string_view match = query.Get(kMatch);
  if (!match.empty()) {
    if (!options.has_revision) {
      errors.push_back(Forbidden(
          kMatch, "resourceVersionMatch is forbidden unless resourceVersion is provided"));
    }
    if (!query.Get("continue").empty()) {
      errors.push_back(
          Forbidden(kMatch, "resourceVersionMatch is forbidden when continue is provided"));
    }
    if (options.match == ListOptions::Match::kUnset) {
      errors.push_back(NotSupported(kMatch, kube::Json(match), {"Exact", "NotOlderThan", ""}));
    }
    if (options.match == ListOptions::Match::kExact && query.Get("resourceVersion") == "0") {
      errors.push_back(Forbidden(
          kMatch, "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\""));
    }
  }
  if (options.send_initial_events) {
    errors.push_back(Forbidden(kInitial, "sendInitialEvents is forbidden for list"));
  }
  return errors;
}

FieldErrors CheckWatch(const Query& query, const ListOptions& options) {
  FieldErrors errors;
  const std::string_view match = query.Get(kMatch);
  if (options.send_initial_events && options.match != ListOptions::Match::kNotOlderThan) {
    errors.push_back(Forbidden(
        kMatch, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
  }
  if (!match.empty()) {
    if (!options.send_initial_events) {
      errors.push_back(Forbidden(kMatch,
                                 "resourceVersionMatch is forbidden for watch unless "
                                 "sendInitialEvents is provided"));
    }
    if (options.match != ListOptions::Match::kNotOlderThan) {
      errors.push_back(NotSupported(kMatch, kube::Json(match), {"NotOlderThan"}));
    }
    if (!query.Get("continue").empty()) {
      errors.push_back(
          Forbidden(kMatch, "resourceVersionMatch is forbidden when continue is provided"));
    }
  }
  return errors;
}

}  // namespace

StatusOr<Revision> ParseRevision(std::string_view text) {
  if (text.empty()) return Revision{0};
  const auto number = ParseUint(text);
  if (number) return *number;
  return PlainError(
      "resourceVersion: Invalid value: {0}: strconv.ParseUint: parsing {0}: invalid syntax",
      kube::Serialize(kube::Json(text)));
}

StatusOr<ListOptions> ListOptions::ForList(const Request& request) {
  ASSIGN_OR_RETURN(ListOptions options, ParseCommon(request));
  if (const FieldErrors errors = CheckList(request.query, options); !errors.empty()) {
    return InvalidOptions(errors);
  }
  ASSIGN_OR_RETURN(options.revision, ParseRevision(request.query.Get("resourceVersion")));
  const std::string_view token = request.query.Get("continue");
  if (token.empty()) return options;
  if (options.revision != 0) {
    return BadRequest("specifying resource version is not allowed when using continue");
  }
  ASSIGN_OR_RETURN(options.next, ContinueToken::Decode(token));
  return options;
}

StatusOr<ListOptions> ListOptions::ForWatch(const Request& request) {
  ASSIGN_OR_RETURN(ListOptions options, ParseCommon(request));
  if (const FieldErrors errors = CheckWatch(request.query, options); !errors.empty()) {
    return InvalidOptions(errors);
  }
  ASSIGN_OR_RETURN(options.revision, ParseRevision(request.query.Get("resourceVersion")));
  return options;
}

}  // namespace koord::apiserver
