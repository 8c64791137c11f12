#include "kube/serving/host_policy.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>

#include "base/strings.h"

namespace koord::kube {
namespace {

// "localhost" of "localhost:6443", "::1" of "[::1]:6443"; empty if it is neither.
std::string_view NameOf(std::string_view host) {
  std::string_view name = host, rest;
  if (host.starts_with('[')) {
    const size_t end = host.find(']');
    if (end == std::string_view::npos) return {};
    name = host.substr(1, end - 1);
    rest = host.substr(end + 1);
  } else if (const size_t colon = host.find(':'); colon != std::string_view::npos) {
    name = host.substr(0, colon);
    rest = host.substr(colon);
  }
  if (!rest.empty() && (rest[0] != ':' || !ParseUint(rest.substr(1)))) return {};
  return name;
}

}  // namespace

std::vector<std::string> OwnHostNames() {
  std::vector<std::string> names = {"127.0.0.1",
                                    "::1",
                                    "localhost",
                                    "kubernetes",
                                    "kubernetes.default",
                                    "kubernetes.default.svc",
                                    "kubernetes.default.svc.cluster.local"};
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) == 0 && name[0] != '\0') {
    names.push_back(ToLower(name.data()));
  }
  return names;
}

HostPolicy::HostPolicy(const std::vector<std::string>& more_names) {
  for (std::string& name : OwnHostNames()) names_.insert(std::move(name));
  for (const std::string& name : more_names) names_.insert(ToLower(name));
}

HostPolicy HostPolicy::AnyHost() {
  HostPolicy policy;
  policy.any_ = true;
  return policy;
}

bool HostPolicy::Allows(std::string_view host) const {
  const std::string_view name = NameOf(host);
  return names_.contains(name) || names_.contains(ToLower(name));
}

std::string HostPolicy::Refusal(const Headers& headers) const {
  if (any_) return {};
  const std::string_view host = headers.Get("Host");
  if (!Allows(host)) {
    return fmt::format("the Host header {} does not name this server", Quote(host));
  }
  if (!headers.Has("Origin")) return {};
  const std::string_view origin = headers.Get("Origin");
  const size_t scheme_end = origin.find("://");
  if (scheme_end == std::string_view::npos || !Allows(origin.substr(scheme_end + 3))) {
    return fmt::format("requests from the origin {} are not allowed", Quote(origin));
  }
  return {};
}

}  // namespace koord::kube
