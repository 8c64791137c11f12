#include "localcluster/apiserver/read/continue_token.h"

#include <algorithm>

#include "base/shorten.h"
#include "base/strings.h"
#include "kube/json.h"
#include "localcluster/apiserver/core/errors.h"

namespace koord::apiserver {
namespace {

constexpr std::string_view kVersion = "meta.k8s.io/v1";

Status Bad(std::string_view why) { return BadRequest("invalid continue token: {}", why); }

std::string ToUrlAlphabet(std::string text) {
  std::replace(text.begin(), text.end(), '+', '-');
  std::replace(text.begin(), text.end(), '/', '_');
  while (!text.empty() && text.back() == '=') text.pop_back();
  return text;
}

std::string FromUrlAlphabet(std::string_view url) {
  std::string text(url);
  std::replace(text.begin(), text.end(), '-', '+');
  std::replace(text.begin(), text.end(), '_', '/');
  while (text.size() % 4 != 0) text += '=';
  return text;
}

// A start key may not climb out of what is being listed. It is taken as a path from there, with or
// without the slash in front, and must be in its shortest form.
bool IsCleanPath(std::string_view path) {
  if (path.empty()) return true;
  for (const std::string_view part : Split(path, '/')) {
    if (part.empty() || part == "." || part == "..") return false;
  }
  return true;
}

}  // namespace

std::string ContinueToken::Encode() const {
  const kube::Json token = kube::json::object{{"v", kVersion}, {"rv", revision}, {"start", start}};
  return ToUrlAlphabet(Base64Encode(kube::Serialize(token)));
}

StatusOr<ContinueToken> ContinueToken::Decode(std::string_view text) {
  const auto bytes = Base64Decode(FromUrlAlphabet(text));
  if (!bytes) return Bad("continue key is not valid: illegal base64 data");
  const auto parsed = kube::ParseJson(*bytes);
  if (!parsed.ok()) {
    return Bad(fmt::format("continue key is not valid: {}", Message(parsed.status())));
  }
  if (kube::FindString(*parsed, {"v"}) != kVersion) {
    return Bad("server does not recognize this encoded version");
  }
  ContinueToken token;
  token.start = kube::FindString(*parsed, {"start"});
  token.revision = kube::FindInt(*parsed, {"rv"});
  if (token.start.empty()) {
    return Bad(
        fmt::format("continue key is not valid: encoded start key empty (version {})", kVersion));
  }
  if (token.revision == 0) {
    return Bad(
        fmt::format("continue key is not valid: incorrect encoded start resourceVersion "
                    "(version {})",
                    kVersion));
  }
  const size_t slash = token.start.starts_with('/') ? 1 : 0;
  if (!IsCleanPath(std::string_view(token.start).substr(slash))) {
    return Bad(fmt::format("continue key is not valid: {}", Shorten(token.start, 1024)));
  }
  token.start.erase(0, slash);
  return token;
}

}  // namespace koord::apiserver
