#pragma once
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kube/http.h"
#include "kube/json.h"

// What a component asks of the API server, and what its role allows it.
namespace koord::localcluster {

// Passes requests on and writes down what they are: "GET /api/v1/nodes?watch=1".
class Recording final : public kube::HttpHandler {
 public:
  explicit Recording(kube::HttpHandler& next) : next_(next) {}
  void Handle(kube::HttpRequest request, std::shared_ptr<kube::ResponseWriter> response) override;
  std::vector<std::string> requests;

 private:
  kube::HttpHandler& next_;
};

// "verb group/resource" of what requests ask for.
std::set<std::string> PermissionsFor(const std::vector<std::string>& requests);
// The same of all roles in a file.
std::set<std::string> PermissionsIn(const std::string& file);
// What is allowed and not used. Where watches cannot begin with what there is, it is listed:
// whoever watches may list.
std::set<std::string> IdlePermissions(std::set<std::string> allowed,
                                      const std::set<std::string>& used);

// The strings of an array.
std::vector<std::string> Texts(const kube::Json& list);

}  // namespace koord::localcluster
