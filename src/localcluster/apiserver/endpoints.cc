#include "localcluster/apiserver/endpoints.h"

#include "localcluster/apiserver/http/respond.h"

namespace koord::apiserver {
namespace {

namespace json = kube::json;

bool IsHealthPath(std::string_view name) {
  return name == "healthz" || name == "livez" || name == "readyz";
}

void RespondHealth(Core& core, Request& request) {
  if (core.stopping) return Respond(core, request, 500, "shutting down", kPlainText);
  const std::string& name = request.path[0];
  std::string report = "[+]ping ok\n[+]store ok\n";
  bool failed = false;
  if (name == "readyz" && core.options.readiness) {
    for (const ReadinessCheck& check : core.options.readiness()) {
      report += check.missing.empty()
                    ? fmt::format("[+]{} ok\n", check.name)
                    : fmt::format("[-]{} failed: {}\n", check.name, check.missing);
      failed = failed || !check.missing.empty();
    }
  }
  if (failed) return Respond(core, request, 500, report + name + " check failed\n", kPlainText);
  const bool verbose = request.query.Has("verbose");
  Respond(core, request, 200, verbose ? report + name + " check passed\n" : "ok", kPlainText);
}

std::string VersionBody(const std::string& git_version) {
  return kube::Serialize(json::object{{"major", "1"},
                                      {"minor", "35"},
                                      {"emulationMajor", "1"},
                                      {"emulationMinor", "35"},
                                      {"minCompatibilityMajor", "1"},
                                      {"minCompatibilityMinor", "34"},
                                      {"gitVersion", git_version},
                                      {"gitCommit", ""},
                                      {"gitTreeState", "clean"},
                                      {"buildDate", "1970-01-01T00:00:00Z"},
                                      {"goVersion", "none"},
                                      {"compiler", "g++"},
                                      {"platform", "linux/amd64"}});
}

std::string PathsBody(const Registry& registry) {
  json::array paths{"/api", "/api/v1", "/apis"};
  for (const ApiGroup& group : registry.groups()) {
    if (group.name.empty()) continue;
    paths.emplace_back("/apis/" + group.name);
    for (const ApiVersion& version : group.versions) {
      paths.emplace_back("/apis/" + group.name + "/" + version.version);
    }
  }
  for (const char* path :
       {"/healthz", "/livez", "/metrics", "/openapi/v2", "/openapi/v3", "/readyz", "/version"}) {
    paths.emplace_back(path);
  }
  return kube::Serialize(json::object{{"paths", std::move(paths)}});
}

}  // namespace

bool IsPublicPath(const Request& request) {
  if (request.path.empty()) return false;
  return IsHealthPath(request.path[0]) ||
         (request.path[0] == "version" && request.path.size() == 1);
}

bool HandleEndpoint(Core& core, Request& request) {
  if (request.http.method != "GET") return false;
  const auto& path = request.path;
  if (path.empty()) {
    Respond(core, request, 200, PathsBody(core.registry));
  } else if (IsHealthPath(path[0])) {
    RespondHealth(core, request);
  } else if (path.size() == 1 && path[0] == "version") {
    Respond(core, request, 200, VersionBody(core.options.git_version));
  } else if (path.size() == 1 && path[0] == "metrics") {
    Respond(core, request, 200, core.metrics.Text(), "text/plain; version=0.0.4; charset=utf-8");
  } else {
    return false;
  }
  return true;
}

}  // namespace koord::apiserver
