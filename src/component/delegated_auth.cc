#include "component/delegated_auth.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/log.h"
#include "base/strings.h"
#include "component/cached_lookup.h"
#include "component/router.h"
#include "kube/api_error.h"
#include "kube/serving/bearer_token.h"
#include "kube/serving/response_text.h"

namespace koord::component {
namespace {

using kube::HttpRequest;
using kube::Json;
using kube::UserInfo;
namespace json = kube::json;
using Writer = std::shared_ptr<kube::ResponseWriter>;

const kube::Resource kTokenReviews{"authentication.k8s.io", "v1", "tokenreviews", "TokenReview",
                                   false};
const kube::Resource kSubjectAccessReviews{"authorization.k8s.io", "v1", "subjectaccessreviews",
                                           "SubjectAccessReview", false};

constexpr char kAuthenticated[] = "system:authenticated";

struct Verdict {
  bool allowed = false;
  std::string reason;
};

UserInfo Anonymous() {
  UserInfo user;
  user.name = "system:anonymous";
  user.groups = {"system:unauthenticated"};
  return user;
}

bool Contains(const std::vector<std::string>& list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

std::vector<std::string> Strings(const Json* value) {
  std::vector<std::string> strings;
  if (value == nullptr || !value->is_array()) return strings;
  for (const Json& item : value->get_array()) {
    if (item.is_string()) strings.emplace_back(std::string_view(item.get_string()));
  }
  return strings;
}

// Nobody if the token is not valid.
std::optional<UserInfo> UserOf(const Json& review) {
  if (!kube::FindBool(review, {"status", "authenticated"})) return {};
  UserInfo user;
  user.name = kube::FindString(review, {"status", "user", "username"});
  user.uid = kube::FindString(review, {"status", "user", "uid"});
  user.groups = Strings(kube::Find(review, {"status", "user", "groups"}));
  if (const auto* extra = kube::FindObject(review, {"status", "user", "extra"})) {
    for (const auto& [key, values] : *extra) user.extra[std::string(key)] = Strings(&values);
  }
  return user;
}

Json Review(const kube::Resource& resource, json::object spec) {
  return json::object{
      {"apiVersion", resource.api_version()}, {"kind", resource.kind}, {"spec", std::move(spec)}};
}

Json AccessReview(const UserInfo& user, std::string_view verb, std::string_view path) {
  json::object spec{{"user", user.name},
                    {"groups", json::array(user.groups.begin(), user.groups.end())},
                    {"nonResourceAttributes", json::object{{"path", path}, {"verb", verb}}}};
  if (!user.uid.empty()) spec["uid"] = user.uid;
  if (!user.extra.empty()) {
    json::object extra;
    for (const auto& [key, values] : user.extra) {
      extra[key] = json::array(values.begin(), values.end());
    }
    spec["extra"] = std::move(extra);
  }
  return Review(kSubjectAccessReviews, std::move(spec));
}

void Refuse(const Writer& response, int code, std::string message) {
  response->Finish(kube::ErrorResponse(kube::ApiError::Of(code, std::move(message))));
}

bool IsOpen(const std::vector<std::string>& open_paths, std::string_view path) {
  return std::any_of(open_paths.begin(), open_paths.end(), [&](std::string_view open) {
    if (open.ends_with('*')) return path.starts_with(open.substr(0, open.size() - 1));
    return path == open;
  });
}

}  // namespace

class DelegatedAuth::Impl {
 public:
  Impl(kube::Client& client, DelegatedAuthOptions options, kube::HttpHandler& next)
      : client_(client),
        options_(std::move(options)),
        next_(next),
        users_(client.loop().clock(), [this](const auto&) { return options_.token_ttl; }),
        verdicts_(client.loop().clock(), [this](const Verdict& verdict) {
          return verdict.allowed ? options_.allowed_ttl : options_.denied_ttl;
        }) {}

  void Handle(HttpRequest request, Writer response) {
    if (IsOpen(options_.open_paths, PathOf(request))) {
      return next_.Handle(std::move(request), std::move(response));
    }
    if (request.user) {
      if (!Contains(request.user->groups, kAuthenticated)) {
        request.user->groups.emplace_back(kAuthenticated);
      }
      return Authorize(std::move(request), std::move(response));
    }
    Authenticate(std::move(request), std::move(response));
  }

 private:
  void Authenticate(HttpRequest request, Writer response) {
    const std::string token(kube::BearerToken(request.headers));
    if (token.empty()) {
      request.user = Anonymous();
      return Authorize(std::move(request), std::move(response));
    }
    const auto fetch = [&](auto done) {
      client_.Create(kTokenReviews, "", Review(kTokenReviews, {{"token", token}}), {},
                     [done = std::move(done)](StatusOr<Json> review) mutable {
                       if (!review.ok()) return done(review.status());
                       done(UserOf(*review));
                     });
    };
    users_.Get(kube::SecretDigest(token), fetch,
               [this, request = std::move(request), response = std::move(response)](
                   const StatusOr<std::optional<UserInfo>>& user) mutable {
                 if (!user.ok()) LOG_WARNING("Cannot check a token", {"err", user.status()});
                 if (!user.ok() || !*user) return Refuse(response, 401, "Unauthorized");
                 request.user = **user;
                 Authorize(std::move(request), std::move(response));
               });
  }

  void Authorize(HttpRequest request, Writer response) {
    const auto& groups = request.user->groups;
    if (std::any_of(groups.begin(), groups.end(), [&](const std::string& group) {
          return Contains(options_.trusted_groups, group);
        })) {
      return next_.Handle(std::move(request), std::move(response));
    }
    const Json review = AccessReview(*request.user, ToLower(request.method), PathOf(request));
    const auto fetch = [&](auto done) {
      client_.Create(kSubjectAccessReviews, "", review, {},
                     [done = std::move(done)](StatusOr<Json> answer) mutable {
                       if (!answer.ok()) return done(answer.status());
                       done(Verdict{kube::FindBool(*answer, {"status", "allowed"}),
                                    std::string(kube::FindString(*answer, {"status", "reason"}))});
                     });
    };
    verdicts_.Get(kube::Serialize(review), fetch,
                  [this, request = std::move(request),
                   response = std::move(response)](const StatusOr<Verdict>& verdict) mutable {
                    OnVerdict(std::move(request), response, verdict);
                  });
  }

  void OnVerdict(HttpRequest request, const Writer& response, const StatusOr<Verdict>& verdict) {
    if (!verdict.ok()) {
      LOG_WARNING("Cannot ask whether a request is allowed", {"err", verdict.status()});
      return Refuse(response, 500,
                    fmt::format("Internal Server Error: {}: the API server cannot say whether this "
                                "is allowed",
                                Quote(PathOf(request))));
    }
    if (verdict->allowed) return next_.Handle(std::move(request), response);
    std::string text =
        fmt::format("forbidden: User {} cannot {} path {}", Quote(request.user->name),
                    ToLower(request.method), Quote(PathOf(request)));
    if (!verdict->reason.empty()) text += ": " + verdict->reason;
    Refuse(response, 403, std::move(text));
  }

  kube::Client& client_;
  const DelegatedAuthOptions options_;
  kube::HttpHandler& next_;
  CachedLookup<std::optional<UserInfo>> users_;
  CachedLookup<Verdict> verdicts_;
};

DelegatedAuth::DelegatedAuth(kube::Client& client, DelegatedAuthOptions options,
                             kube::HttpHandler& next)
    : impl_(std::make_unique<Impl>(client, std::move(options), next)) {}
DelegatedAuth::~DelegatedAuth() = default;

void DelegatedAuth::Handle(HttpRequest request, Writer response) {
  impl_->Handle(std::move(request), std::move(response));
}

}  // namespace koord::component
