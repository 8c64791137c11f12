#include "localcluster/apiserver/registry/names.h"

#include <fmt/format.h>

#include <algorithm>

namespace koord::apiserver {

std::string CheckPathSegment(std::string_view name) {
  if (name == "." || name == "..") return fmt::format("may not be '{}'", name);
  for (const char c : {'/', '%'}) {
    if (name.find(c) != std::string_view::npos) return fmt::format("may not contain '{}'", c);
  }
  return "";
}

std::string CheckPortName(std::string_view name) {
  constexpr size_t kMax = 15;
  if (name.size() > kMax) return fmt::format("must be no more than {} bytes", kMax);
  if (!CheckDnsLabel(name).empty()) {
    return "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)";
  }
  if (name.find("--") != std::string_view::npos) return "must not contain consecutive hyphens";
  if (std::none_of(name.begin(), name.end(), [](char c) { return c >= 'a' && c <= 'z'; })) {
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
    case NameRule::kSubdomain:
      return CheckDnsSubdomain(name);
    case NameRule::kLabel:
      return CheckDnsLabel(name);
    case NameRule::kPathSegment:
      return CheckPathSegment(name);
  }
  return "";
}

}  // namespace koord::apiserver
