#pragma once
#include <map>

#include "kube/http.h"
#include "kube/resource.h"
#include "localcluster/apiserver/request.h"

namespace koord::apiserver {

// Passes requests for /api/v1/namespaces/<ns>/services/<name>:<port>/proxy/<path> on to components
// in this process, as an API server does to the pods of a service. Ports and schemes make no
// difference: a component is one handler.
class ServiceProxy {
 public:
  void Register(const kube::ObjectKey& service, kube::HttpHandler& handler) {
    services_.insert_or_assign(service, &handler);
  }
  // True if the request is for one of them, and passed on.
  bool Handle(Request& request) const;

 private:
  std::map<kube::ObjectKey, kube::HttpHandler*> services_;
};

}  // namespace koord::apiserver
