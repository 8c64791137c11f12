#include "localcluster/apiserver/reviews.h"

#include <algorithm>

#include "base/duration.h"
#include "base/strings.h"
#include "kube/resources.h"
#include "kube/time.h"
#include "localcluster/apiserver/core/errors.h"
#include "localcluster/apiserver/core/versions.h"
#include "localcluster/apiserver/http/body.h"
#include "localcluster/apiserver/http/respond.h"
#include "localcluster/apiserver/registry/field_error.h"

namespace koord::apiserver {
namespace {

using kube::Json;
namespace json = kube::json;

constexpr int64_t kTokenSeconds = 3600;
constexpr int64_t kMinTokenSeconds = 600;

json::array Strings(const std::vector<std::string>& items) {
  return json::array(items.begin(), items.end());
}

Json UserJson(const kube::UserInfo& user) {
  json::object info{{"username", user.name}};
  if (!user.uid.empty()) info["uid"] = user.uid;
  if (!user.groups.empty()) info["groups"] = Strings(user.groups);
  if (!user.extra.empty()) {
    json::object extra;
    for (const auto& [key, values] : user.extra) extra[key] = Strings(values);
    info["extra"] = std::move(extra);
  }
  return info;
}

Json TokenStatus(const Core& core, const Json& review) {
  const std::string_view token = kube::FindString(review, {"spec", "token"});
  const auto user = core.options.review_token ? core.options.review_token(token) : std::nullopt;
  if (!user) {
    return json::object{
        {"authenticated", false}, {"user", json::object()}, {"error", "invalid bearer token"}};
  }
  return json::object{{"authenticated", true}, {"user", UserJson(*user)}};
}

bool IsAnonymous(const Json& review) {
  if (kube::FindString(review, {"spec", "user"}) == "system:anonymous") return true;
  const json::array* groups = kube::FindArray(review, {"spec", "groups"});
  return groups != nullptr &&
         std::find(groups->begin(), groups->end(), "system:unauthenticated") != groups->end();
}

Json AccessStatus(bool allowed) {
  if (allowed) {
    return json::object{{"allowed", true}, {"reason", "authenticated users may do everything"}};
  }
  return json::object{{"allowed", false}};
}

Json AllRules() {
  const json::array any{"*"};
  return json::object{
      {"resourceRules",
       json::array{json::object{{"verbs", any}, {"apiGroups", any}, {"resources", any}}}},
      {"nonResourceRules", json::array{json::object{{"verbs", any}, {"nonResourceURLs", any}}}},
      {"incomplete", false}};
}

std::optional<Json> StatusOf(const Core& core, const Request& request, const Json& review) {
  const std::string& kind = request.info->resource.kind;
  if (kind == "SelfSubjectReview") {
    return json::object{{"userInfo", UserJson(request.user())}};
  }
  if (kind == "TokenReview") return TokenStatus(core, review);
  if (kind == "SelfSubjectAccessReview") return AccessStatus(true);
  if (kind == "SubjectAccessReview" || kind == "LocalSubjectAccessReview") {
    return AccessStatus(!IsAnonymous(review));
  }
  if (kind == "SelfSubjectRulesReview") return AllRules();
  return {};
}

bool IsReview(const ResourceInfo& info) {
  return info.resource.group == "authentication.k8s.io" ||
         info.resource.group == "authorization.k8s.io";
}

StatusOr<Json> ReadReview(const Request& request, const kube::Resource& resource) {
  ASSIGN_OR_RETURN(Body body, DecodeBody(request, true));
  RETURN_IF_ERROR(CheckKind(resource, body.object));
  return std::move(body.object);
}

// What the token is bound to must exist; if the client does not say which object of that name it
// means, it is the one there is now.
Status BindToken(const Core& core, const std::string& ns, Json& spec) {
  Json* bound = kube::Find(spec, {"boundObjectRef"});
  if (bound == nullptr || !bound->is_object()) return absl::OkStatus();
  const std::string_view kind = kube::FindString(*bound, {"kind"});
  const std::string name(kube::FindString(*bound, {"name"}));
  const std::string_view wanted = kube::FindString(*bound, {"uid"});
  for (const kube::Resource& resource : {kube::kPods, kube::kSecrets, kube::kNodes}) {
    if (resource.kind != kind) continue;
    const std::string uid = UidOf(core, resource, {resource.namespaced ? ns : "", name});
    if (uid.empty()) return ObjectNotFound(resource, name);
    if (!wanted.empty() && wanted != uid) {
      return Conflict(kind, name,
                      fmt::format("the UID in the bound object reference ({}) does not match the "
                                  "UID in record. The object might have been deleted and then "
                                  "recreated",
                                  wanted));
    }
    kube::At(*bound, {"uid"}) = uid;
    return absl::OkStatus();
  }
  return BadRequest("cannot bind token to object of type {}", Quote(kind));
}

}  // namespace

bool HandleReview(Core& core, Request& request) {
  if (!IsReview(*request.info)) return false;
  StatusOr<Json> review = ReadReview(request, request.info->resource);
  if (!review.ok()) {
    RespondError(core, request, review.status());
    return true;
  }
  std::optional<Json> status = StatusOf(core, request, *review);
  if (!status) return false;
  kube::At(*review, {"metadata", "creationTimestamp"}) = nullptr;
  kube::At(*review, {"status"}) = std::move(*status);
  Respond(core, request, 201, kube::Serialize(*review));
  return true;
}

void IssueToken(Core& core, Request& request) {
  const kube::Resource kind{"authentication.k8s.io", "v1", "", "TokenRequest"};
  StatusOr<Json> body = ReadReview(request, kind);
  if (!body.ok()) return RespondError(core, request, body.status());
  const EntryPtr account = core.store.Get("serviceaccounts", KeyOf(request.ns, request.name));
  if (account == nullptr) {
    return RespondError(core, request, ObjectNotFound(kube::kServiceAccounts, request.name));
  }
  if (!core.options.issue_token) {
    return RespondError(core, request,
                        Error(501, "NotImplemented", "this server issues no tokens"));
  }
  const int64_t seconds = kube::FindInt(*body, {"spec", "expirationSeconds"}, kTokenSeconds);
  if (seconds < kMinTokenSeconds) {
    return RespondError(
        core, request,
        kube::ToStatus(InvalidError("TokenRequest", kind.group, "",
                                    {Invalid("spec.expirationSeconds", Json(seconds),
                                             "may not specify a duration less than 10 minutes")})));
  }
  kube::At(*body, {"spec", "expirationSeconds"}) = seconds;
  if (const Status bound = BindToken(core, request.ns, *kube::Find(*body, {"spec"})); !bound.ok()) {
    return RespondError(core, request, bound);
  }
  const StatusOr<std::string> token = core.options.issue_token(
      LoadObject(core, *request.info, *account), *kube::Find(*body, {"spec"}));
  if (!token.ok()) return RespondError(core, request, token.status());
  kube::At(*body, {"status"}) =
      json::object{{"token", *token},
                   {"expirationTimestamp", kube::FormatTime(core.now() + BoundedSeconds(seconds))}};
  Respond(core, request, 201, kube::Serialize(*body));
}

}  // namespace koord::apiserver
