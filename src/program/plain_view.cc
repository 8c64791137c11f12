#include "program/plain_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/strings.h"
#include "program/router.h"

namespace koord::program {
namespace {

constexpr std::string_view kHealth[] = {"/healthz", "/livez", "/readyz"};
constexpr std::string_view kMetrics[] = {"/metrics", "/internal-metrics", "/external-metrics",
                                         "/all-metrics"};

// One of the paths, or below it.
template <class Paths>
bool IsAmong(const Paths& paths, std::string_view path) {
  return std::any_of(std::begin(paths), std::end(paths), [&](std::string_view known) {
    return path == known || (path.starts_with(known) && path[known.size()] == '/');
  });
}

bool OnlyReads(const kube::HttpRequest& request) {
  return request.method == "GET" || request.method == "HEAD";
}

}  // namespace

void PlainView::Handle(kube::HttpRequest request, std::shared_ptr<kube::ResponseWriter> response) {
  const std::string path = PathOf(request);
  const bool open = IsAmong(kHealth, path) || (options_.metrics && IsAmong(kMetrics, path));
  if (open && OnlyReads(request)) return all_.Handle(std::move(request), std::move(response));
  response->Finish(TextResponse(403, WhereToAsk(path)));
}

std::string PlainView::WhereToAsk(const std::string& path) const {
  std::string text =
      fmt::format("forbidden: {} needs a login, which plain HTTP cannot protect. ", Quote(path));
  if (options_.secure_port > 0) {
    text += fmt::format("Ask with HTTPS and a bearer token at port {}", options_.secure_port);
  } else {
    text += "--secure-port opens a port for HTTPS with a login";
  }
  if (IsAmong(kMetrics, path)) text += "; --metrics-without-login opens metrics to everybody here";
  return text + ".\n";
}

}  // namespace koord::program
