#include "localcluster/apiserver/registry/names.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"

namespace koord::apiserver {
namespace {

constexpr size_t kMaxLabel = 63;
constexpr size_t kMaxSubdomain = 253;

constexpr std::string_view kSubdomainRule =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character (e.g. 'example.com', regex used for "
    "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr std::string_view kLabelRule =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must "
    "start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for "
    "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view kQualifiedNameRule =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation "
    "is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr std::string_view kLabelValueRule =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or "
    "'12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLowerAlnum(char c) { return IsLower(c) || IsDigit(c); }
bool IsAlnum(char c) { return IsLowerAlnum(c) || (c >= 'A' && c <= 'Z'); }

std::string TooLongText(size_t limit) { return fmt::format("must be no more than {} bytes", limit); }

bool IsDnsLabelText(std::string_view text) {
  return !text.empty() && IsLowerAlnum(text.front()) && IsLowerAlnum(text.back()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return IsLowerAlnum(c) || c == '-'; });
}

bool IsSubdomainText(std::string_view text) {
  const auto labels = Split(text, '.');
  return std::all_of(labels.begin(), labels.end(), IsDnsLabelText);
}

// [A-Za-z0-9][-A-Za-z0-9_.]*[A-Za-z0-9]
bool IsLabelText(std::string_view text) {
  return !text.empty() && IsAlnum(text.front()) && IsAlnum(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return IsAlnum(c) || c == '-' || c == '_' || c == '.'; });
}

}  // namespace

std::string CheckDnsSubdomain(std::string_view name) {
  if (name.size() > kMaxSubdomain) return TooLongText(kMaxSubdomain);
  return IsSubdomainText(name) ? "" : std::string(kSubdomainRule);
}

std::string CheckDnsLabel(std::string_view name) {
  if (name.size() > kMaxLabel) return TooLongText(kMaxLabel);
  return IsDnsLabelText(name) ? "" : std::string(kLabelRule);
}

std::string CheckPathSegment(std::string_view name) {
  if (name == "." || name == "..") return fmt::format("may not be '{}'", name);
  for (const char c : {'/', '%'}) {
    if (name.find(c) != std::string_view::npos) return fmt::format("may not contain '{}'", c);
  }
  return "";
}

std::string CheckQualifiedName(std::string_view name) {
  const size_t slash = name.find('/');
  std::string_view local = name;
  if (slash != std::string_view::npos) {
    const std::string_view prefix = name.substr(0, slash);
    local = name.substr(slash + 1);
    if (prefix.empty()) return "prefix part must be non-empty";
    if (const std::string wrong = CheckDnsSubdomain(prefix); !wrong.empty()) {
      return "prefix part " + wrong;
    }
    if (local.find('/') != std::string_view::npos) {
      return fmt::format(
          "a qualified name {} with an optional DNS subdomain prefix and '/' (e.g. "
          "'example.com/MyName')",
          kQualifiedNameRule);
    }
  }
  if (local.empty()) return "name part must be non-empty";
  if (local.size() > kMaxLabel) return "name part " + TooLongText(kMaxLabel);
  return IsLabelText(local) ? "" : fmt::format("name part {}", kQualifiedNameRule);
}

std::string CheckLabelValue(std::string_view value) {
  if (value.size() > kMaxLabel) return TooLongText(kMaxLabel);
  return value.empty() || IsLabelText(value) ? "" : std::string(kLabelValueRule);
}

std::string CheckPortName(std::string_view name) {
  constexpr size_t kMax = 15;
  if (name.size() > kMax) return TooLongText(kMax);
  if (!IsDnsLabelText(name)) {
    return "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)";
  }
  if (name.find("--") != std::string_view::npos) return "must not contain consecutive hyphens";
  if (std::none_of(name.begin(), name.end(), IsLower)) {
    return "must contain at least one letter (a-z)";
  }
  return "";
}

std::string CheckEnvName(std::string_view name) {
  const bool printable = std::all_of(name.begin(), name.end(),
                                     [](char c) { return c >= ' ' && c <= '~' && c != '='; });
  if (name.empty() || !printable) {
    return "a valid environment variable name must consist only of printable ASCII characters "
           "other than '='";
  }
  return "";
}

std::string CheckName(NameRule rule, std::string_view name) {
  switch (rule) {
    case NameRule::kSubdomain: return CheckDnsSubdomain(name);
    case NameRule::kLabel: return CheckDnsLabel(name);
    case NameRule::kPathSegment: return CheckPathSegment(name);
  }
  return "";
}

}  // namespace koord::apiserver
