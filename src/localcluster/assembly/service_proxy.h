#pragma once
#include <map>
#include <memory>

#include "kube/http.h"
#include "kube/resource.h"

namespace koord::localcluster {

// Passes requests for /api/v1/namespaces/<ns>/services/<name>:<port>/proxy/<path> on to components
// in this process, as an API server does to the pods of a service, and everything else to the API
// server. Ports and schemes make no difference: a component is one handler. Nobody is let through
// who has not been authenticated.
class ServiceProxy final : public kube::HttpHandler {
 public:
  explicit ServiceProxy(kube::HttpHandler& server) : server_(server) {}

  // The component must outlive the requests.
  void Register(const kube::ObjectKey& service, kube::HttpHandler& component) {
    services_.insert_or_assign(service, &component);
  }

  void Handle(kube::HttpRequest request, std::shared_ptr<kube::ResponseWriter> response) override;

 private:
  kube::HttpHandler* Find(const kube::HttpRequest& request, std::string& target) const;

  kube::HttpHandler& server_;
  std::map<kube::ObjectKey, kube::HttpHandler*> services_;
};

}  // namespace koord::localcluster
