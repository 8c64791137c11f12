#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/http.h"
#include "kube/json.h"

namespace koord::program {

struct RouteRequest {
  kube::HttpRequest http;
  std::string path;                                        // decoded, without the query
  std::map<std::string, std::string, std::less<>> params;  // of the pattern, decoded
  std::vector<std::pair<std::string, std::string>> query;  // decoded

  std::string_view Param(std::string_view name) const;  // empty if absent
  std::string_view Query(std::string_view name) const;  // the first; empty if absent
  bool HasQuery(std::string_view name) const;
};

// What a request asks for, decoded as routes see it: who decides by the path must see the same.
// Empty if it is no path.
std::string PathOf(const kube::HttpRequest& request);

kube::HttpResponse TextResponse(int status, std::string body);
kube::HttpResponse JsonResponse(int status, const kube::Json& body);

// Leads a request to whoever answers its path.
//
// Patterns are "/apis/v1/nodes/{node}"; "{rest...}" at the end takes whatever follows, if anything
// does. Where several fit, the one that says more from the left wins, and the one added last among
// equals. A route for GET answers HEAD too; one without a method answers all.
class Router final : public kube::HttpHandler {
 public:
  using Handler = std::function<void(RouteRequest, std::shared_ptr<kube::ResponseWriter>)>;
  using Answer = std::function<kube::HttpResponse(const RouteRequest&)>;

  void AddRoute(std::string_view method, std::string_view pattern, Handler handler);
  void AddRoute(std::string_view method, std::string_view pattern, Answer answer);  // at once

  // Sorted patterns by method.
  std::map<std::string, std::vector<std::string>> Patterns() const;

  void Handle(kube::HttpRequest request, std::shared_ptr<kube::ResponseWriter> response) override;

 private:
  struct Route {
    std::string method, pattern;
    std::vector<std::string> segments;
    Handler handler;
  };

  std::vector<Route> routes_;
};

}  // namespace koord::program
