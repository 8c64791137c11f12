#include "kube/transport/server_url.h"

#include <fmt/format.h>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/url.hpp>
#include <cstdlib>

#include "base/strings.h"

namespace koord::kube {
namespace {

namespace ip = boost::asio::ip;

std::string DefaultPort(std::string_view scheme) {
  if (scheme == "https") return "443";
  return scheme == "socks5" ? "1080" : "80";
}

std::optional<ip::address> AsAddress(std::string_view text) {
  boost::system::error_code error;
  const ip::address address = ip::make_address(std::string(text), error);
  if (error) return {};
  return address;
}

template <class Network, class Address>
bool Contains(const Network& network, const Address& address) {
  return Network(address, network.prefix_length()).canonical() == network.canonical();
}

bool InNetwork(const ip::address& address, std::string_view text) {
  boost::system::error_code error;
  if (address.is_v4()) {
    const auto network = ip::make_network_v4(std::string(text), error);
    return !error && Contains(network, address.to_v4());
  }
  const auto network = ip::make_network_v6(std::string(text), error);
  return !error && Contains(network, address.to_v6());
}

// One entry of NO_PROXY: "*", a host or domain (with or without a leading dot), an address, a
// network, each but the last with an optional port.
bool MatchesEntry(const ServerUrl& server, std::string_view entry) {
  if (entry == "*") return true;
  const auto address = AsAddress(server.host);
  if (address && InNetwork(*address, entry)) return true;
  if (const size_t colon = entry.rfind(':');
      colon != std::string_view::npos && ParseUint(entry.substr(colon + 1)) && !AsAddress(entry)) {
    if (entry.substr(colon + 1) != server.port) return false;
    entry = entry.substr(0, colon);
    if (entry.starts_with('[') && entry.ends_with(']')) entry = entry.substr(1, entry.size() - 2);
  }
  if (address) return AsAddress(entry) == address;
  const bool only_below = entry.starts_with('.');
  if (only_below) entry.remove_prefix(1);
  const std::string host = ToLower(server.host);
  const std::string domain = ToLower(entry);
  return (host == domain && !only_below) || host.ends_with("." + domain);
}

bool BypassesProxy(const ServerUrl& server, std::string_view no_proxy) {
  if (server.host == "localhost") return true;
  if (const auto address = AsAddress(server.host); address && address->is_loopback()) return true;
  for (const std::string_view part : Split(no_proxy, ',')) {
    const std::string_view entry = Trim(part);
    if (!entry.empty() && MatchesEntry(server, entry)) return true;
  }
  return false;
}

std::string FirstSet(const Environment& environment, const char* upper, const char* lower) {
  const std::string value = environment(upper);
  return value.empty() ? environment(lower) : value;
}

StatusOr<std::optional<ServerUrl>> CheckProxy(const ServerUrl& proxy, std::string_view url) {
  if (proxy.scheme == "http") return std::optional(proxy);
  if (proxy.scheme == "https" || proxy.scheme == "socks5") {
    return InvalidArgument("proxy {}: {} proxies are not supported, use an http:// one",
                           Quote(HideCredentials(url)), proxy.scheme);
  }
  return InvalidArgument("proxy {}: the scheme must be http, https or socks5",
                         Quote(HideCredentials(url)));
}

}  // namespace

std::string HideCredentials(std::string_view url) {
  const size_t scheme = url.find("://");
  const size_t begin = scheme == std::string_view::npos ? 0 : scheme + 3;
  const size_t end = url.substr(0, url.find('/', begin)).rfind('@');
  if (end == std::string_view::npos) return std::string(url);
  return fmt::format("{}***{}", url.substr(0, begin), url.substr(end));
}

std::string ServerUrl::host_header() const {
  std::string text = host.find(':') == std::string::npos ? host : "[" + host + "]";
  if (port != DefaultPort(scheme)) text += ":" + port;
  return text;
}

StatusOr<ServerUrl> ParseServerUrl(std::string_view url, std::string_view default_scheme) {
  std::string text(url);
  if (text.find("://") == std::string::npos) text = std::string(default_scheme) + "://" + text;
  const auto parsed = boost::urls::parse_uri(text);
  // The parser takes a port that is no number for the start of a path.
  if (!parsed || parsed->encoded_host().empty() ||
      (!parsed->encoded_path().empty() && !parsed->encoded_path().starts_with('/'))) {
    return InvalidArgument("{} is not a URL: expected something like https://10.0.0.1:6443",
                           Quote(HideCredentials(url)));
  }
  ServerUrl server;
  server.scheme = ToLower(std::string_view(parsed->scheme().data(), parsed->scheme().size()));
  server.host = parsed->host_address();
  server.port = parsed->has_port() && !parsed->port().empty() ? std::string(parsed->port())
                                                              : DefaultPort(server.scheme);
  server.path = parsed->encoded_path();
  while (server.path.ends_with('/')) server.path.pop_back();
  server.user = parsed->user();
  server.password = parsed->password();
  return server;
}

std::string ProcessEnvironment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

StatusOr<std::optional<ServerUrl>> ChooseProxy(const ServerUrl& server, std::string_view configured,
                                               const Environment& environment) {
  if (!configured.empty()) {
    if (configured.find("://") == std::string_view::npos) {
      return InvalidArgument("proxy-url {}: the scheme must be http, https or socks5",
                             Quote(HideCredentials(configured)));
    }
    ASSIGN_OR_RETURN(const ServerUrl proxy, ParseServerUrl(configured, "http"));
    if (server.scheme != "https") {
      return InvalidArgument("proxy-url {}: only https servers are reached through a proxy",
                             Quote(HideCredentials(configured)));
    }
    return CheckProxy(proxy, configured);
  }
  if (server.scheme != "https") return std::optional<ServerUrl>();
  const std::string url = FirstSet(environment, "HTTPS_PROXY", "https_proxy");
  if (url.empty() || BypassesProxy(server, FirstSet(environment, "NO_PROXY", "no_proxy"))) {
    return std::optional<ServerUrl>();
  }
  ASSIGN_OR_RETURN(const ServerUrl proxy, ParseServerUrl(url, "http"));
  return CheckProxy(proxy, url);
}

}  // namespace koord::kube
