#include "localcluster/apiserver/serving/impersonation.h"

#include <algorithm>
#include <utility>

#include "base/strings.h"
#include "kube/api_error.h"

namespace koord::apiserver {
namespace {

constexpr std::string_view kPrefix = "Impersonate-";
constexpr std::string_view kExtraPrefix = "Impersonate-Extra-";
constexpr std::string_view kServiceAccount = "system:serviceaccount:";

bool HasPrefix(std::string_view name, std::string_view prefix) {
  return EqualsIgnoreCase(name.substr(0, prefix.size()), prefix);
}

bool Contains(const std::vector<std::string>& items, std::string_view item) {
  return std::find(items.begin(), items.end(), item) != items.end();
}

Status Refused(int code, std::string_view reason, std::string message) {
  kube::ApiError error;
  error.code = code;
  error.reason = reason;
  error.message = std::move(message);
  return kube::ToStatus(error);
}

// "%2f" and the like: header names cannot carry every character of a key.
std::string PercentDecoded(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto hex = [&](size_t at) -> int {
      const char c = at < text.size() ? text[at] : 'x';
      if (c >= '0' && c <= '9') return c - '0';
      const char lower = static_cast<char>(c | 0x20);
      return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
    };
    if (text[i] == '%' && hex(i + 1) >= 0 && hex(i + 2) >= 0) {
      decoded += static_cast<char>(hex(i + 1) << 4 | hex(i + 2));
      i += 2;
    } else {
      decoded += text[i];
    }
  }
  return decoded;
}

kube::UserInfo NamedIn(const kube::Headers& headers) {
  kube::UserInfo user;
  for (const auto& [name, value] : headers) {
    if (EqualsIgnoreCase(name, "Impersonate-User")) user.name = value;
    if (EqualsIgnoreCase(name, "Impersonate-Uid")) user.uid = value;
    if (EqualsIgnoreCase(name, "Impersonate-Group")) user.groups.push_back(value);
    if (HasPrefix(name, kExtraPrefix)) {
      const std::string key =
          PercentDecoded(ToLower(std::string_view(name).substr(kExtraPrefix.size())));
      user.extra[key].push_back(value);
    }
  }
  return user;
}

void AddUsualGroups(kube::UserInfo& user) {
  if (user.groups.empty() && user.name.starts_with(kServiceAccount)) {
    const std::string_view rest = std::string_view(user.name).substr(kServiceAccount.size());
    user.groups = {"system:serviceaccounts",
                   fmt::format("system:serviceaccounts:{}", rest.substr(0, rest.find(':')))};
  }
  const char* usual =
      user.name == "system:anonymous" ? "system:unauthenticated" : "system:authenticated";
  if (!Contains(user.groups, usual)) user.groups.emplace_back(usual);
}

}  // namespace

Status Impersonate(kube::HttpRequest& request) {
  const bool asked =
      std::any_of(request.headers.begin(), request.headers.end(),
                  [](const auto& header) { return HasPrefix(header.first, kPrefix); });
  if (!asked) return absl::OkStatus();
  kube::UserInfo user = NamedIn(request.headers);
  if (user.name.empty()) {
    return Refused(400, "BadRequest", "Impersonate-* headers need an Impersonate-User");
  }
  if (!request.user || !Contains(request.user->groups, "system:masters")) {
    return Refused(403, "Forbidden",
                   fmt::format("users {} is forbidden: User {} cannot impersonate resource "
                               "\"users\" in API group \"\" at the cluster scope",
                               Quote(user.name), Quote(request.user ? request.user->name : "")));
  }
  AddUsualGroups(user);
  request.user = std::move(user);
  return absl::OkStatus();
}

}  // namespace koord::apiserver
