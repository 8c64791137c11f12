#include "kube/names.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"

namespace koord::kube {
namespace {

constexpr size_t kMaxLabel = 63;
constexpr size_t kMaxSubdomain = 253;

constexpr std::string_view kSubdomainRule =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr std::string_view kDnsLabelRule =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view kNameRule =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr std::string_view kLabelValueRule =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  "
    "or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

bool IsLowerOrDigit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool IsAlphanumeric(char c) { return IsLowerOrDigit(c) || (c >= 'A' && c <= 'Z'); }

// Made of `ends` and the given further characters, which may not be at an end.
bool IsMadeOf(std::string_view text, bool (*ends)(char), std::string_view further) {
  return !text.empty() && ends(text.front()) && ends(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return ends(c) || further.find(c) != std::string_view::npos; });
}

bool IsDnsLabel(std::string_view text) { return IsMadeOf(text, IsLowerOrDigit, "-"); }
bool IsName(std::string_view text) { return IsMadeOf(text, IsAlphanumeric, "-_."); }

std::string TooLong(size_t limit) { return fmt::format("must be no more than {} bytes", limit); }

}  // namespace

std::string CheckDnsSubdomain(std::string_view name) {
  if (name.size() > kMaxSubdomain) return TooLong(kMaxSubdomain);
  const auto labels = Split(name, '.');
  const bool valid = std::all_of(labels.begin(), labels.end(), IsDnsLabel);
  return valid ? "" : std::string(kSubdomainRule);
}

std::string CheckDnsLabel(std::string_view name) {
  if (name.size() > kMaxLabel) return TooLong(kMaxLabel);
  return IsDnsLabel(name) ? "" : std::string(kDnsLabelRule);
}

std::string CheckQualifiedName(std::string_view name) {
  if (std::count(name.begin(), name.end(), '/') > 1) {
    return fmt::format(
        "a qualified name {} with an optional DNS subdomain prefix and '/' (e.g. "
        "'example.com/MyName')",
        kNameRule);
  }
  if (const size_t slash = name.find('/'); slash != std::string_view::npos) {
    const std::string_view prefix = name.substr(0, slash);
    if (prefix.empty()) return "prefix part must be non-empty";
    if (std::string wrong = CheckDnsSubdomain(prefix); !wrong.empty()) {
      return "prefix part " + wrong;
    }
    name.remove_prefix(slash + 1);
  }
  if (name.empty()) return "name part must be non-empty";
  if (name.size() > kMaxLabel) return "name part " + TooLong(kMaxLabel);
  return IsName(name) ? "" : fmt::format("name part {}", kNameRule);
}

std::string CheckLabelValue(std::string_view value) {
  if (value.size() > kMaxLabel) return TooLong(kMaxLabel);
  return value.empty() || IsName(value) ? "" : std::string(kLabelValueRule);
}

}  // namespace koord::kube
