#include "localcluster/assembly/service_proxy.h"

#include <string>
#include <string_view>

#include "base/strings.h"

namespace koord::localcluster {
namespace {

constexpr std::string_view kNamespaces = "/api/v1/namespaces/";

// "name", "name:port" or "scheme:name:port".
std::string_view NameIn(std::string_view segment) {
  const auto parts = Split(segment, ':');
  return parts.size() == 3 ? parts[1] : parts[0];
}

}  // namespace

void ServiceProxy::Handle(kube::HttpRequest request,
                          std::shared_ptr<kube::ResponseWriter> response) {
  std::string target;
  kube::HttpHandler* component = request.user ? Find(request, target) : nullptr;
  if (component == nullptr) return server_.Handle(std::move(request), std::move(response));
  request.target = std::move(target);
  component->Handle(std::move(request), std::move(response));
}

kube::HttpHandler* ServiceProxy::Find(const kube::HttpRequest& request, std::string& target) const {
  if (!request.target.starts_with(kNamespaces)) return nullptr;
  const std::string_view whole = request.target;
  const std::string_view path = whole.substr(0, whole.find('?'));
  const auto segments = Split(path.substr(kNamespaces.size()), '/');
  if (segments.size() < 4 || segments[1] != "services" || segments[3] != "proxy") return nullptr;
  const auto found = services_.find({std::string(segments[0]), std::string(NameIn(segments[2]))});
  if (found == services_.end()) return nullptr;
  const std::string_view behind(segments[3].end(), whole.end());  // "/path?query", or less
  target = behind.starts_with('/') ? std::string(behind) : "/" + std::string(behind);
  return found->second;
}

}  // namespace koord::localcluster
