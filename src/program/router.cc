#include "program/router.h"

#include <algorithm>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>
#include <optional>

#include "base/strings.h"

namespace koord::program {
namespace {

using Params = std::map<std::string, std::string, std::less<>>;

bool IsRest(std::string_view segment) { return segment.ends_with("...}"); }
bool IsParam(std::string_view segment) { return segment.starts_with('{'); }

std::string ParamName(std::string_view segment) {
  return std::string(segment.substr(1, segment.size() - (IsRest(segment) ? 5 : 2)));
}

std::vector<std::string> Segments(std::string_view path) {
  std::vector<std::string> segments;
  for (const std::string_view part : Split(path, '/')) {
    if (!part.empty()) segments.emplace_back(part);
  }
  return segments;
}

std::optional<Params> Match(const std::vector<std::string>& pattern,
                            const std::vector<std::string>& path) {
  Params params;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (IsRest(pattern[i])) {
      const auto rest = path.begin() + static_cast<std::ptrdiff_t>(std::min(i, path.size()));
      params[ParamName(pattern[i])] = Join(std::vector(rest, path.end()), "/");
      return params;
    }
    if (i >= path.size()) return {};
    if (IsParam(pattern[i])) {
      params[ParamName(pattern[i])] = path[i];
    } else if (pattern[i] != path[i]) {
      return {};
    }
  }
  if (path.size() > pattern.size()) return {};
  return params;
}

// Both fit the same path.
bool SaysMore(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  const auto rank = [](const std::vector<std::string>& pattern, size_t i) {
    if (i >= pattern.size()) return 3;
    return IsRest(pattern[i]) ? 0 : IsParam(pattern[i]) ? 1 : 2;
  };
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    if (rank(a, i) != rank(b, i)) return rank(a, i) > rank(b, i);
  }
  return true;
}

bool TakesMethod(std::string_view route, std::string_view method) {
  return route.empty() || route == method || (route == "GET" && method == "HEAD");
}

std::string Text(const boost::urls::string_view& text) { return {text.data(), text.size()}; }

std::vector<std::string> Segments(const boost::urls::url_view& url) {
  std::vector<std::string> segments;
  for (const auto& segment : url.segments()) {
    if (!segment.empty()) segments.emplace_back(segment.data(), segment.size());
  }
  return segments;
}

// False if the target is no path.
bool ParseTarget(RouteRequest& request, std::vector<std::string>& segments) {
  const auto url = boost::urls::parse_origin_form(request.http.target);
  if (!url) return false;
  segments = Segments(*url);
  request.path = "/" + Join(segments, "/");
  for (const auto& param : url->params()) {
    request.query.emplace_back(Text(param.key), Text(param.value));
  }
  return true;
}

}  // namespace

std::string PathOf(const kube::HttpRequest& request) {
  const auto url = boost::urls::parse_origin_form(request.target);
  return url ? "/" + Join(Segments(*url), "/") : std::string();
}

std::string_view RouteRequest::Param(std::string_view name) const {
  const auto it = params.find(name);
  return it == params.end() ? std::string_view() : it->second;
}

std::string_view RouteRequest::Query(std::string_view name) const {
  for (const auto& [key, value] : query) {
    if (key == name) return value;
  }
  return {};
}

bool RouteRequest::HasQuery(std::string_view name) const {
  return std::any_of(query.begin(), query.end(),
                     [&](const auto& item) { return item.first == name; });
}

kube::HttpResponse TextResponse(int status, std::string body) {
  kube::HttpResponse response{.status = status, .headers = {}, .body = std::move(body)};
  response.headers.Add("Content-Type", "text/plain; charset=utf-8");
  response.headers.Add("X-Content-Type-Options", "nosniff");
  return response;
}

kube::HttpResponse JsonResponse(int status, const kube::Json& body) {
  kube::HttpResponse response{.status = status, .headers = {}, .body = kube::Serialize(body)};
  response.headers.Add("Content-Type", "application/json");
  return response;
}

void Router::AddRoute(std::string_view method, std::string_view pattern, Handler handler) {
  routes_.push_back(
      {std::string(method), std::string(pattern), Segments(pattern), std::move(handler)});
}

void Router::AddRoute(std::string_view method, std::string_view pattern, Answer answer) {
  AddRoute(
      method, pattern,
      Handler([answer = std::move(answer)](const RouteRequest& request,
                                           const std::shared_ptr<kube::ResponseWriter>& response) {
        response->Finish(answer(request));
      }));
}

std::map<std::string, std::vector<std::string>> Router::Patterns() const {
  std::map<std::string, std::vector<std::string>> patterns;
  for (const Route& route : routes_) patterns[route.method].push_back(route.pattern);
  for (auto& [method, list] : patterns) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return patterns;
}

void Router::Handle(kube::HttpRequest http, std::shared_ptr<kube::ResponseWriter> response) {
  RouteRequest request;
  request.http = std::move(http);
  std::vector<std::string> path;
  if (!ParseTarget(request, path)) {
    return response->Finish(TextResponse(400, "the request's target is not a path\n"));
  }
  const Route* best = nullptr;
  bool path_known = false;
  for (const Route& route : routes_) {
    std::optional<Params> params = Match(route.segments, path);
    if (!params) continue;
    path_known = true;
    if (!TakesMethod(route.method, request.http.method)) continue;
    if (best != nullptr && !SaysMore(route.segments, best->segments)) continue;
    best = &route;
    request.params = std::move(*params);
  }
  if (best == nullptr) {
    return response->Finish(path_known ? TextResponse(405, "Method Not Allowed\n")
                                       : TextResponse(404, "404 page not found\n"));
  }
  const Handler handler = best->handler;  // it may add routes
  handler(std::move(request), std::move(response));
}

}  // namespace koord::program
