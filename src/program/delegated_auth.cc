#include "program/delegated_auth.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/log.h"
#include "base/strings.h"
#include "kube/api_error.h"
#include "kube/serving/bearer_token.h"
#include "kube/serving/response_text.h"
#include "program/cached_lookup.h"
#include "program/router.h"

namespace koord::program {
namespace {

using kube::HttpRequest;
using kube::HttpResponse;
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

// The API server, or who stands in for it, may quote the question in its answer.
std::string_view WithoutToken(std::string_view message, std::string_view token) {
  return message.find(token) == std::string_view::npos ? message : "the answer quotes the token";
}

HttpResponse Refusal(int code, std::string message) {
  return kube::ErrorResponse(kube::ApiError::Of(code, std::move(message)));
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
    Question question = QuestionOf(request);
    Ask(std::move(question), [this, request = std::move(request), response = std::move(response)](
                                 std::optional<HttpResponse> refusal, UserInfo user) mutable {
      if (refusal) return response->Finish(*std::move(refusal));
      if (!user.name.empty()) request.user = std::move(user);
      next_.Handle(std::move(request), std::move(response));
    });
  }

  void Check(const HttpRequest& head, kube::RequestGate::Done done) {
    Ask(QuestionOf(head),
        [done = std::move(done)](std::optional<HttpResponse> refusal, const UserInfo&) mutable {
          done(std::move(refusal));
        });
  }

 private:
  // Who wants to do what.
  struct Question {
    std::string verb;
    std::string path;
    std::string token;
    std::optional<UserInfo> user;
  };
  // The user is nobody where everybody may ask.
  using Answered = absl::AnyInvocable<void(std::optional<HttpResponse> refusal, UserInfo user)>;

  static Question QuestionOf(const HttpRequest& request) {
    std::string token(kube::BearerToken(request.headers));
    if (token.empty()) token = request.headers.Get(kForwardedTokenHeader);
    return {ToLower(request.method), PathOf(request), std::move(token), request.user};
  }

  void Ask(Question question, Answered answered) {
    if (IsOpen(options_.open_paths, question.path)) return answered(std::nullopt, {});
    if (!question.user) return Authenticate(std::move(question), std::move(answered));
    if (!Contains(question.user->groups, kAuthenticated)) {
      question.user->groups.emplace_back(kAuthenticated);
    }
    Authorize(std::move(question), std::move(answered));
  }

  void Authenticate(Question question, Answered answered) {
    if (question.token.empty()) {
      question.user = Anonymous();
      return Authorize(std::move(question), std::move(answered));
    }
    const auto fetch = [&](auto done) {
      client_.Create(kTokenReviews, "", Review(kTokenReviews, {{"token", question.token}}), {},
                     [done = std::move(done)](StatusOr<Json> review) mutable {
                       if (!review.ok()) return done(review.status());
                       done(UserOf(*review));
                     });
    };
    const std::string digest = kube::SecretDigest(question.token);
    users_.Get(digest, fetch,
               [this, question, answered = std::move(answered)](
                   const StatusOr<std::optional<UserInfo>>& user) mutable {
                 if (!user.ok()) {
                   LOG_WARNING("Cannot check a token",
                               {"err", WithoutToken(Message(user.status()), question.token)});
                 }
                 if (!user.ok() || !*user) return answered(Refusal(401, "Unauthorized"), {});
                 question.user = **user;
                 Authorize(std::move(question), std::move(answered));
               });
  }

  void Authorize(Question question, Answered answered) {
    const auto& groups = question.user->groups;
    if (std::any_of(groups.begin(), groups.end(), [&](const std::string& group) {
          return Contains(options_.trusted_groups, group);
        })) {
      return answered(std::nullopt, *std::move(question.user));
    }
    const Json review = AccessReview(*question.user, question.verb, question.path);
    const auto fetch = [&](auto done) {
      client_.Create(kSubjectAccessReviews, "", review, {},
                     [done = std::move(done)](StatusOr<Json> answer) mutable {
                       if (!answer.ok()) return done(answer.status());
                       done(Verdict{kube::FindBool(*answer, {"status", "allowed"}),
                                    std::string(kube::FindString(*answer, {"status", "reason"}))});
                     });
    };
    verdicts_.Get(kube::Serialize(review), fetch,
                  [question = std::move(question),
                   answered = std::move(answered)](const StatusOr<Verdict>& verdict) mutable {
                    auto refusal = RefusalBy(verdict, question);
                    answered(std::move(refusal), *std::move(question.user));
                  });
  }

  static std::optional<HttpResponse> RefusalBy(const StatusOr<Verdict>& verdict,
                                               const Question& question) {
    if (!verdict.ok()) {
      LOG_WARNING("Cannot ask whether a request is allowed", {"err", verdict.status()});
      return Refusal(500, fmt::format("Internal Server Error: {}: the API server cannot say "
                                      "whether this is allowed",
                                      Quote(question.path)));
    }
    if (verdict->allowed) return std::nullopt;
    std::string text = fmt::format("forbidden: User {} cannot {} path {}",
                                   Quote(question.user->name), question.verb, Quote(question.path));
    if (!verdict->reason.empty()) text += ": " + verdict->reason;
    return Refusal(403, std::move(text));
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
void DelegatedAuth::Check(const HttpRequest& head, Done done) {
  impl_->Check(head, std::move(done));
}

}  // namespace koord::program
