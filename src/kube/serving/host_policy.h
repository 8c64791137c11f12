#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/string_map.h"
#include "kube/http.h"

namespace koord::kube {

std::vector<std::string> LocalHostNames();  // loopback and this host's name
// The same and those of the service `kubernetes`.
std::vector<std::string> OwnHostNames();

// Decides whether a request is meant for this server. A web page that a user has open may make the
// browser send requests here (DNS rebinding, cross-site requests); it cannot help naming itself in
// the Host or Origin header, and is refused for it.
class HostPolicy {
 public:
  // Besides OwnHostNames.
  explicit HostPolicy(const std::vector<std::string>& more_names);
  // Refuses nothing: for servers that are called by addresses they do not know.
  static HostPolicy AnyHost();

  // Empty, or why the request is refused.
  std::string Refusal(const Headers& headers) const;

 private:
  bool Allows(std::string_view host) const;  // with or without port

  bool any_ = false;
  StringSet names_;
};

}  // namespace koord::kube
