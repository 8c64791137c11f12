#include "localcluster/apiserver/serving/authentication.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/log.h"
#include "base/string_map.h"
#include "base/strings.h"
#include "kube/serving/bearer_token.h"
#include "kube/serving/response_text.h"
#include "localcluster/apiserver/serving/impersonation.h"

namespace koord::apiserver {
namespace {

constexpr char kAuthenticated[] = "system:authenticated";
constexpr std::string_view kOpenPaths[] = {"/healthz", "/livez", "/readyz", "/version"};

std::string_view PathOf(std::string_view target) { return target.substr(0, target.find('?')); }

// What nobody in particular may ask for: these paths and what is below them.
bool IsOpen(std::string_view target) {
  const std::string_view path = PathOf(target);
  return std::any_of(std::begin(kOpenPaths), std::end(kOpenPaths), [&](std::string_view open) {
    return path == open || (path.starts_with(open) && path[open.size()] == '/');
  });
}

kube::UserInfo Anonymous() {
  kube::UserInfo user;
  user.name = "system:anonymous";
  user.groups = {"system:unauthenticated"};
  return user;
}

bool SameSecret(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

void AddGroup(kube::UserInfo& user, const char* group) {
  if (std::find(user.groups.begin(), user.groups.end(), group) == user.groups.end()) {
    user.groups.emplace_back(group);
  }
}

kube::HttpResponse Unauthorized() {
  kube::ApiError error;
  error.code = 401;
  error.reason = "Unauthorized";
  error.message = "Unauthorized";
  return kube::ErrorResponse(error);
}

// One line of comma-separated values; a quoted one may hold commas, and "" for a quote.
StatusOr<std::vector<std::string>> SplitCsv(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += line[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  if (quoted) return InvalidArgument("a quote is not closed");
  return fields;
}

}  // namespace

StatusOr<std::vector<StaticToken>> ParseTokenFile(std::string_view text) {
  std::vector<StaticToken> tokens;
  int number = 0;
  for (const std::string_view raw : Split(text, '\n')) {
    ++number;
    const std::string_view line = Trim(raw);
    if (line.empty() || line.starts_with('#')) continue;
    const auto fields = SplitCsv(line);
    if (!fields.ok()) {
      return InvalidArgument("token file, line {}: {}", number, Message(fields.status()));
    }
    if (fields->size() < 3 || (*fields)[0].empty() || (*fields)[1].empty()) {
      return InvalidArgument(
          "token file, line {}: expected token,user,uid and, if you like, \"group1,group2\"",
          number);
    }
    StaticToken token;
    token.token = (*fields)[0];
    token.user.name = (*fields)[1];
    token.user.uid = (*fields)[2];
    if (fields->size() > 3) {
      for (const std::string_view group : Split((*fields)[3], ',')) {
        if (!Trim(group).empty()) token.user.groups.emplace_back(Trim(group));
      }
    }
    tokens.push_back(std::move(token));
  }
  return tokens;
}

StaticToken AdminToken(std::string token) {
  StaticToken admin;
  admin.token = std::move(token);
  admin.user.name = "kubernetes-admin";
  admin.user.groups = {"system:masters"};
  return admin;
}

// Checking a signature costs more than most requests, and clients send the same token every time.
class Authenticator::TokenCache {
 public:
  const ServiceAccountTokens::Claims* Find(const std::string& digest, WallTime now) {
    const auto it = claims_.find(digest);
    if (it == claims_.end()) return nullptr;
    if (now < it->second.expires) return &it->second;
    claims_.erase(it);
    return nullptr;
  }
  void Add(const std::string& digest, ServiceAccountTokens::Claims claims) {
    if (claims_.size() >= kMost) claims_.clear();
    claims_.emplace(digest, std::move(claims));
  }

 private:
  static constexpr size_t kMost = 4096;
  StringMap<ServiceAccountTokens::Claims> claims_;
};

Authenticator::Authenticator(const Clock& clock, Options options, kube::HttpHandler& next)
    : clock_(clock),
      options_([&options] {
        for (StaticToken& token : options.tokens) token.token = kube::SecretDigest(token.token);
        return std::move(options);
      }()),
      verified_(std::make_unique<TokenCache>()),
      next_(next) {}

Authenticator::~Authenticator() = default;

void Authenticator::Handle(kube::HttpRequest request,
                           std::shared_ptr<kube::ResponseWriter> response) {
  StatusOr<kube::UserInfo> user = Identify(request);
  if (!user.ok()) return response->Finish(Unauthorized());
  request.user = *std::move(user);
  if (const Status status = Impersonate(request); !status.ok()) {
    return response->Finish(kube::ErrorResponse(*kube::AsApiError(status)));
  }
  next_.Handle(std::move(request), std::move(response));
}

void Authenticator::Check(const kube::HttpRequest& head, Done done) {
  done(Identify(head).ok() ? std::nullopt : std::optional(Unauthorized()));
}

StatusOr<kube::UserInfo> Authenticator::Identify(const kube::HttpRequest& request) const {
  StatusOr<std::optional<kube::UserInfo>> user = UserOf(request);
  if (!user.ok()) {
    // A query may hold what its sender takes for credentials.
    LOG_V(2, "Refused a request", {"path", PathOf(request.target)}, {"err", user.status()});
    return user.status();
  }
  if (!*user && IsOpen(request.target)) return Anonymous();
  if (!*user) return absl::UnauthenticatedError("nobody in particular may ask for this");
  AddGroup(**user, kAuthenticated);
  return **std::move(user);
}

StatusOr<kube::UserInfo> Authenticator::Review(std::string_view token) const {
  ASSIGN_OR_RETURN(kube::UserInfo user, UserOfToken(token));
  AddGroup(user, kAuthenticated);
  return user;
}

StatusOr<std::optional<kube::UserInfo>> Authenticator::UserOf(
    const kube::HttpRequest& request) const {
  if (request.user) return request.user;
  if (!request.headers.Has("Authorization")) return std::optional<kube::UserInfo>();
  const std::string_view token = kube::BearerToken(request.headers);
  if (token.empty()) return absl::UnauthenticatedError("only bearer tokens are understood");
  ASSIGN_OR_RETURN(kube::UserInfo user, UserOfToken(token));
  return std::optional(std::move(user));
}

StatusOr<kube::UserInfo> Authenticator::UserOfToken(std::string_view token) const {
  const std::string digest = kube::SecretDigest(token);
  const kube::UserInfo* found = nullptr;
  for (const StaticToken& known : options_.tokens) {
    if (SameSecret(known.token, digest)) found = &known.user;
  }
  if (found != nullptr) return *found;
  return UserOfServiceAccount(token, digest);
}

StatusOr<kube::UserInfo> Authenticator::UserOfServiceAccount(std::string_view token,
                                                             const std::string& digest) const {
  if (options_.service_accounts == nullptr) return absl::UnauthenticatedError("unknown token");
  const WallTime now = clock_.Now();
  const ServiceAccountTokens::Claims* claims = verified_->Find(digest, now);
  ServiceAccountTokens::Claims fresh;
  if (claims == nullptr) {
    ASSIGN_OR_RETURN(fresh, options_.service_accounts->Verify(token, now));
    verified_->Add(digest, fresh);
    claims = &fresh;
  }
  if (std::find(claims->audiences.begin(), claims->audiences.end(),
                ServiceAccountTokens::kDefaultAudience) == claims->audiences.end()) {
    return absl::UnauthenticatedError("the token is meant for another audience");
  }
  if (options_.is_valid && !options_.is_valid(*claims)) {
    return absl::UnauthenticatedError("the service account of the token is gone");
  }
  return claims->user();
}

}  // namespace koord::apiserver
