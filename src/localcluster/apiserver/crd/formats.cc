#include "localcluster/apiserver/crd/formats.h"

#include <arpa/inet.h>
#include <re2/re2.h>

#include <limits>
#include <optional>
#include <string>

#include "base/strings.h"
#include "kube/time.h"
#include "localcluster/apiserver/registry/names.h"

namespace koord::apiserver {
namespace {

using kube::Json;

// Checks the text of a value; other types are none of a text format's business.
template <bool (*valid)(const std::string& text)>
bool OfText(const Json& value) {
  const auto* text = value.if_string();
  return text == nullptr || valid(std::string(text->data(), text->size()));
}

template <class Integer>
bool FitsInto(const Json& value) {
  if (!value.is_number()) return true;
  if (value.is_double()) {
    const double real = value.get_double();
    return real >= static_cast<double>(std::numeric_limits<Integer>::min()) &&
           real <= static_cast<double>(std::numeric_limits<Integer>::max());
  }
  kube::json::error_code error;
  value.to_number<Integer>(error);
  return !error;
}

bool IsDateTime(const std::string& text) { return kube::ParseTime(text).has_value(); }

bool IsDate(const std::string& text) {
  return text.size() == 10 && kube::ParseTime(text + "T00:00:00Z").has_value();
}

bool IsBase64(const std::string& text) { return Base64Decode(text).has_value(); }

bool IsAddress(int family, const std::string& text) {
  unsigned char address[16];
  return inet_pton(family, text.c_str(), address) == 1;
}

bool IsIpv4(const std::string& text) { return IsAddress(AF_INET, text); }
bool IsIpv6(const std::string& text) { return IsAddress(AF_INET6, text); }

bool IsCidr(const std::string& text) {
  const size_t slash = text.find('/');
  if (slash == std::string::npos) return false;
  const std::string address = text.substr(0, slash);
  const auto bits = ParseInt(std::string_view(text).substr(slash + 1));
  if (!bits || *bits < 0) return false;
  return (IsIpv4(address) && *bits <= 32) || (IsIpv6(address) && *bits <= 128);
}

bool IsUuid(const std::string& text) {
  static const RE2& pattern =
      *new RE2("(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}");
  return RE2::FullMatch(text, pattern);
}

bool IsDuration(const std::string& text) {
  static const RE2& pattern = *new RE2(
      R"(0|[-+]?(([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h|d|w| *(seconds?|minutes?|hours?|days?|weeks?)))+)");
  return RE2::FullMatch(text, pattern);
}

bool IsShortName(const std::string& text) { return CheckDnsLabel(text).empty(); }
bool IsLongName(const std::string& text) { return CheckDnsSubdomain(text).empty(); }

constexpr Format kFormats[] = {
    {"date-time", OfText<IsDateTime>},
    {"datetime", OfText<IsDateTime>},
    {"date", OfText<IsDate>},
    {"byte", OfText<IsBase64>},
    {"int32", FitsInto<int32_t>},
    {"int64", FitsInto<int64_t>},
    {"ipv4", OfText<IsIpv4>},
    {"ipv6", OfText<IsIpv6>},
    {"cidr", OfText<IsCidr>},
    {"uuid", OfText<IsUuid>},
    {"duration", OfText<IsDuration>},
    {"k8s-short-name", OfText<IsShortName>},
    {"k8s-long-name", OfText<IsLongName>},
};

}  // namespace

const Format* FindFormat(std::string_view name) {
  for (const Format& format : kFormats) {
    if (format.name == name) return &format;
  }
  return nullptr;
}

}  // namespace koord::apiserver
