#pragma once
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kube/http.h"
#include "kube/json.h"

// For tests of components in a cluster: what they ask of the API server, and whether they may.
namespace koord::localcluster {

// Passes requests on and writes down what they are.
class Recording final : public kube::HttpHandler {
 public:
  explicit Recording(kube::HttpHandler& next) : next_(next) {}
  void Handle(kube::HttpRequest request, std::shared_ptr<kube::ResponseWriter> response) override {
    requests.push_back(request.method + " " + request.target);
    next_.Handle(std::move(request), std::move(response));
  }

  // "verb group/resource" of everything that was asked for.
  std::set<std::string> Permissions() const;

  std::vector<std::string> requests;

 private:
  kube::HttpHandler& next_;
};

// What the roles in a file allow, as "verb group/resource".
std::set<std::string> PermissionsIn(const std::string& file);
// Those of them that nobody used.
std::set<std::string> IdlePermissions(const std::set<std::string>& allowed,
                                      const std::set<std::string>& used);

std::vector<std::string> Texts(const kube::Json& list);

}  // namespace koord::localcluster
