#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace koord::kube {

// The parts of an http or https URL that a connection needs.
struct ServerUrl {
  std::string scheme;
  std::string host;  // without the brackets of an IPv6 address
  std::string port;  // the scheme's own if none was given
  std::string path;  // without a slash at its end
  std::string user, password;

  std::string host_header() const;  // "host", "host:8443", "[::1]:8443"
};

// The URL for logs and errors: without a user's name and password.
std::string HideCredentials(std::string_view url);

// An address without a scheme gets `default_scheme`.
StatusOr<ServerUrl> ParseServerUrl(std::string_view url, std::string_view default_scheme);

using Environment = std::function<std::string(const char* name)>;  // empty if unset
std::string ProcessEnvironment(const char* name);

// The proxy for a server: the configured one, or what HTTPS_PROXY and NO_PROXY say. Loopback
// addresses are never reached through an environment's proxy.
StatusOr<std::optional<ServerUrl>> ChooseProxy(const ServerUrl& server, std::string_view configured,
                                               const Environment& environment);

}  // namespace koord::kube
