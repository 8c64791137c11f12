#include "kube/serving/host_policy.h"

#include <fmt/format.h>

#include "base/host_name.h"
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

std::vector<std::string> LocalHostNames() {
  std::vector<std::string> names{"127.0.0.1", "::1", "localhost"};
  if (const std::string name = HostName(); !name.empty()) names.push_back(ToLower(name));
  return names;
}

std::vector<std::string> OwnHostNames() {
  std::vector<std::string> names = LocalHostNames();
  for (const char* name : {"kubernetes", "kubernetes.default", "kubernetes.default.svc",
                           "kubernetes.default.svc.cluster.local"}) {
    names.emplace_back(name);
  }
  return names;
}

HostPolicy::HostPolicy(const std::vector<std::string>& more_names) {
  for (std::string& name : OwnHostNames()) names_.insert(std::move(name));
  for (const std::string& name : more_names) names_.insert(ToLower(name));
}

HostPolicy HostPolicy::AnyHost() {
  HostPolicy policy(std::vector<std::string>{});
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
