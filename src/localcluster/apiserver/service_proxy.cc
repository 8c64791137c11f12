#include "localcluster/apiserver/service_proxy.h"

#include "base/strings.h"

namespace koord::apiserver {
namespace {

// "name", "name:port" or "scheme:name:port".
std::string_view NameIn(std::string_view segment) {
  const auto parts = Split(segment, ':');
  return parts.size() == 3 ? parts[1] : parts[0];
}

// What follows ".../proxy" in a target whose seventh segment that is.
std::string TargetBehindProxy(const std::string& target) {
  size_t at = 0;
  for (int i = 0; i < 7; ++i) at = target.find('/', at + 1);
  if (at == std::string::npos) {
    const size_t query = target.find('?');
    return query == std::string::npos ? "/" : "/" + target.substr(query);
  }
  return target.substr(at);
}

}  // namespace

bool ServiceProxy::Handle(Request& request) const {
  const std::vector<std::string>& path = request.path;
  if (path.size() < 7 || path[0] != "api" || path[1] != "v1" || path[2] != "namespaces" ||
      path[4] != "services" || path[6] != "proxy") {
    return false;
  }
  const auto found = services_.find({path[3], std::string(NameIn(path[5]))});
  if (found == services_.end()) return false;
  kube::HttpRequest http = std::move(request.http);
  http.target = TargetBehindProxy(http.target);
  found->second->Handle(std::move(http), request.writer);
  return true;
}

}  // namespace koord::apiserver
