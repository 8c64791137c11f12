#include "localcluster/assembly/permissions_testing.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/strings.h"
#include "kube/yaml.h"

namespace koord::localcluster {
namespace {

using kube::Json;

std::string PermissionFor(const std::string& request) {
  const size_t blank = request.find(' ');
  const std::string method = request.substr(0, blank);
  const std::string target = request.substr(blank + 1);
  const bool watch = target.find("watch=") != std::string::npos;
  auto path = Split(std::string_view(target).substr(1, target.find('?') - 1), '/');
  std::string group;
  size_t at = 2;
  if (path[0] == "apis") {
    group = path[1];
    at = 3;
  }
  if (path.size() > at + 2 && path[at] == "namespaces") at += 2;
  std::string resource(path[at]);
  const bool named = path.size() > at + 1;
  if (path.size() > at + 2) resource += "/" + std::string(path[at + 2]);
  const std::string verb = method == "GET"      ? (watch   ? "watch"
                                                   : named ? "get"
                                                           : "list")
                           : method == "POST"   ? "create"
                           : method == "PUT"    ? "update"
                           : method == "DELETE" ? "delete"
                                                : "patch";
  return fmt::format("{} {}/{}", verb, group, resource);
}

}  // namespace

void Recording::Handle(kube::HttpRequest request, std::shared_ptr<kube::ResponseWriter> response) {
  requests.push_back(request.method + " " + request.target);
  next_.Handle(std::move(request), std::move(response));
}

std::set<std::string> PermissionsFor(const std::vector<std::string>& requests) {
  std::set<std::string> permissions;
  for (const std::string& request : requests) permissions.insert(PermissionFor(request));
  return permissions;
}

std::set<std::string> PermissionsIn(const std::string& file) {
  std::set<std::string> permissions;
  const auto documents = *kube::ParseYamlDocuments(*ReadFile(file));
  for (const kube::YamlDocument& document : documents) {
    const auto* rules = kube::FindArray(document.value, {"rules"});
    if (rules == nullptr) continue;
    for (const Json& rule : *rules) {
      for (const std::string& group : Texts(rule.at("apiGroups"))) {
        for (const std::string& resource : Texts(rule.at("resources"))) {
          for (const std::string& verb : Texts(rule.at("verbs"))) {
            permissions.insert(fmt::format("{} {}/{}", verb, group, resource));
          }
        }
      }
    }
  }
  return permissions;
}

std::set<std::string> IdlePermissions(std::set<std::string> allowed,
                                      const std::set<std::string>& used) {
  for (const std::string& permission : used) {
    allowed.erase(permission);
    if (permission.starts_with("watch ")) allowed.erase("list " + permission.substr(6));
  }
  return allowed;
}

std::vector<std::string> Texts(const Json& list) {
  std::vector<std::string> texts;
  for (const Json& each : list.as_array()) texts.emplace_back(each.as_string());
  return texts;
}

}  // namespace koord::localcluster
