#include "cli/validation/scratch_server.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "base/suggest.h"
#include "kube/schema/type.h"
#include "kube/transport/in_process_transport.h"
#include "localcluster/crds/local_crds.h"

namespace koord::validation {
namespace {

using kube::Json;
namespace json = kube::json;

// What only servers write; it does not matter here that it is there.
Json WithoutServerFields(const Json& object) {
  Json copy = object;
  if (Json* metadata = kube::Find(copy, {"metadata"});
      metadata != nullptr && metadata->is_object()) {
    for (const char* member :
         {"resourceVersion", "uid", "creationTimestamp", "generation", "managedFields", "selfLink",
          "deletionTimestamp", "deletionGracePeriodSeconds"}) {
      metadata->get_object().erase(member);
    }
  }
  // Which classes there are and what they are worth only the cluster knows.
  Json* spec = kube::Find(copy, {"spec"});
  if (kube::FindString(copy, {"kind"}) == "Pod" && spec != nullptr && spec->is_object()) {
    for (const char* member : {"priorityClassName", "priority"}) spec->get_object().erase(member);
  }
  return copy;
}

// "spec.a[1].b" as spec, a, [1], b.
std::vector<std::string> Steps(std::string_view path) {
  std::vector<std::string> steps;
  for (const std::string_view part : Split(path, '.')) {
    const size_t bracket = part.find('[');
    if (bracket != 0) steps.emplace_back(part.substr(0, bracket));
    for (size_t at = bracket; at != std::string_view::npos; at = part.find('[', at + 1)) {
      steps.emplace_back("[]");
    }
  }
  return steps;
}

std::vector<std::string> BuiltinMembers(const kube::Type* type,
                                        const std::vector<std::string>& steps) {
  for (const std::string& step : steps) {
    if (type == nullptr) return {};
    if (type->kind == kube::Type::Kind::kList || type->kind == kube::Type::Kind::kMap) {
      type = type->element;
      continue;
    }
    const kube::Type::Field* field = type->Find(step);
    type = field == nullptr ? nullptr : field->type;
  }
  std::vector<std::string> names;
  for (size_t i = 0; type != nullptr && i < type->fields.size(); ++i) {
    names.push_back(type->fields[i].name);
  }
  return names;
}

std::vector<std::string> SchemaMembers(const Json* schema, const std::vector<std::string>& steps) {
  for (const std::string& step : steps) {
    if (schema == nullptr) return {};
    if (step == "[]") {
      schema = kube::Find(*schema, {"items"});
      continue;
    }
    const Json* property = kube::Find(*schema, {"properties", step});
    schema = property != nullptr ? property : kube::Find(*schema, {"additionalProperties"});
  }
  std::vector<std::string> names;
  if (const json::object* properties =
          schema == nullptr ? nullptr : kube::FindObject(*schema, {"properties"})) {
    for (const auto& [name, unused] : *properties) names.emplace_back(name);
  }
  return names;
}

// What stands between the first quotes, which may be escaped as headers do it.
std::string Quoted(std::string_view text) {
  const size_t begin = text.find('"');
  const size_t end = text.rfind('"');
  if (begin == std::string_view::npos || end <= begin) return std::string(text);
  std::string inner;
  for (size_t i = begin + 1; i < end; ++i) {
    if (text[i] == '\\' && i + 1 < end) ++i;
    inner += text[i];
  }
  return inner;
}

// "Pod in version "v1" cannot be handled as a Pod: Pod.spec.x: expected ..." as path and message.
std::pair<std::string, std::string> SplitMessage(std::string_view message, std::string_view kind) {
  constexpr std::string_view kHandled = "cannot be handled as a ";
  if (const size_t at = message.find(kHandled); at != std::string_view::npos) {
    const size_t colon = message.find(": ", at);
    if (colon != std::string_view::npos) message.remove_prefix(colon + 2);
  }
  const std::string start = fmt::format("{}.", kind);
  if (message.starts_with(start)) message.remove_prefix(start.size());
  const size_t colon = message.find(": ");
  const std::string_view path = message.substr(0, colon);
  if (colon == std::string_view::npos || path.find(' ') != std::string_view::npos) {
    return {"", std::string(message)};
  }
  return {std::string(path), std::string(message.substr(colon + 2))};
}

}  // namespace

ScratchServer::ScratchServer() {
  auto opened = apiserver::Store::Open(loop_, {});
  store_ = *std::move(opened);
  server_ = std::make_unique<apiserver::ApiServer>(loop_, *store_, apiserver::ApiServer::Options{});
  loop_.RunReady();
  for (const Json& crd : localcluster::LocalCrds()) Install(crd);
}

kube::HttpResponse ScratchServer::Send(std::string method, std::string target, const Json& body) {
  kube::HttpRequest request;
  request.method = std::move(method);
  request.target = std::move(target);
  request.user = kube::UserInfo{"admin", "", {"system:masters", "system:authenticated"}, {}};
  if (!body.is_null()) {
    request.body = kube::Serialize(body);
    request.headers.Set("Content-Type", "application/json");
  }
  kube::InProcessTransport transport(loop_, *server_);
  StatusOr<kube::HttpResponse> answer = Unavailable("no answer");
  bool done = false;
  transport.Send(std::move(request), Duration::zero(), [&](StatusOr<kube::HttpResponse> got) {
    answer = std::move(got);
    done = true;
  });
  loop_.RunUntil([&] { return done; });
  return answer.ok() ? *std::move(answer) : kube::HttpResponse{503, {}, ""};
}

void ScratchServer::Install(const Json& definition) {
  const auto answer = Send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                           WithoutServerFields(definition));
  if (answer.status >= 300) return;  // what is wrong with it is said when it is checked itself
  const std::string_view group = kube::FindString(definition, {"spec", "group"});
  const std::string_view kind = kube::FindString(definition, {"spec", "names", "kind"});
  const json::array* versions = kube::FindArray(definition, {"spec", "versions"});
  for (size_t i = 0; versions != nullptr && i < versions->size(); ++i) {
    const Json& version = (*versions)[i];
    const std::string api_version =
        fmt::format("{}/{}", group, kube::FindString(version, {"name"}));
    kinds_.erase(api_version);
    if (const Json* schema = kube::Find(version, {"schema", "openAPIV3Schema"})) {
      schemas_[fmt::format("{} {}", api_version, kind)] = *schema;
    }
  }
}

const ScratchServer::Kind* ScratchServer::FindKind(std::string_view api_version,
                                                   std::string_view kind) {
  auto known = kinds_.find(api_version);
  if (known == kinds_.end()) {
    known =
        kinds_.emplace(std::string(api_version), std::map<std::string, Kind, std::less<>>()).first;
    const std::string path = fmt::format(
        "{}/{}", api_version.find('/') == std::string_view::npos ? "/api" : "/apis", api_version);
    const auto answer = Send("GET", path);
    const auto list = kube::ParseJson(answer.body);
    const json::array* resources =
        answer.status == 200 && list.ok() ? kube::FindArray(*list, {"resources"}) : nullptr;
    for (size_t i = 0; resources != nullptr && i < resources->size(); ++i) {
      const Json& each = (*resources)[i];
      const std::string name(kube::FindString(each, {"name"}));
      if (name.find('/') != std::string::npos) continue;
      known->second[std::string(kube::FindString(each, {"kind"}))] = {
          path, name, kube::FindBool(each, {"namespaced"})};
    }
  }
  const auto found = known->second.find(kind);
  return found == known->second.end() ? nullptr : &found->second;
}

void ScratchServer::ReportUnknownKind(const Manifest& manifest, Findings& findings) {
  std::vector<std::string> names;
  for (const auto& [name, unused] : kinds_[std::string(manifest.api_version())]) {
    names.push_back(name);
  }
  if (!names.empty()) {
    const auto meant = Suggest(manifest.kind(), names);
    return findings.Error(manifest, "kind", "{} has no kind {}{}", manifest.api_version(),
                          manifest.kind(),
                          meant ? fmt::format(" (did you mean {}?)", *meant)
                                : fmt::format("; it has {}", Join(names, ", ")));
  }
  const auto groups = kube::ParseJson(Send("GET", "/apis").body);
  std::vector<std::string> versions{"v1"};
  const json::array* all = groups.ok() ? kube::FindArray(*groups, {"groups"}) : nullptr;
  for (size_t i = 0; all != nullptr && i < all->size(); ++i) {
    const json::array* of_group = kube::FindArray((*all)[i], {"versions"});
    for (size_t j = 0; of_group != nullptr && j < of_group->size(); ++j) {
      versions.emplace_back(kube::FindString((*of_group)[j], {"groupVersion"}));
    }
  }
  if (const auto meant = Suggest(manifest.api_version(), versions)) {
    return findings.Error(manifest, "apiVersion", "there is no {} (did you mean {}?)",
                          manifest.api_version(), *meant);
  }
  findings.Warning(manifest, "apiVersion",
                   "{} {} is not known here and was not checked; give its "
                   "CustomResourceDefinition with -f as well",
                   manifest.api_version(), manifest.kind());
}

void ScratchServer::MakeNamespace(const std::string& name) {
  if (!namespaces_.insert(name).second) return;
  Send("POST", "/api/v1/namespaces", {{"metadata", {{"name", name}}}});
}

void ScratchServer::Check(const Manifest& manifest, Findings& findings) {
  const Kind* kind = FindKind(manifest.api_version(), manifest.kind());
  if (kind == nullptr) return ReportUnknownKind(manifest, findings);
  std::string path = kind->path;
  if (kind->namespaced) {
    const std::string ns(manifest.ns().empty() ? "default" : manifest.ns());
    MakeNamespace(ns);
    path += fmt::format("/namespaces/{}", ns);
  }
  const auto answer =
      Send("POST", fmt::format("{}/{}?dryRun=All&fieldValidation=Warn", path, kind->resource),
           WithoutServerFields(manifest.value()));
  for (const auto& [name, value] : answer.headers) {
    if (name == "Warning") ReportWarning(manifest, Quoted(value), findings);
  }
  if (answer.status >= 300) ReportStatus(manifest, answer, findings);
}

void ScratchServer::ReportWarning(const Manifest& manifest, std::string_view warning,
                                  Findings& findings) {
  const bool unknown = warning.starts_with("unknown field ");
  if (!unknown && !warning.starts_with("duplicate field ")) {
    return findings.Warning(manifest, "", "{}", warning);
  }
  const std::string path = Quoted(warning);
  if (!unknown) return findings.Error(manifest, path, "occurs twice");
  const size_t dot = path.rfind('.');
  const std::string above = dot == std::string::npos ? "" : path.substr(0, dot);
  const std::vector<std::string> known = MembersAt(manifest, above);
  const auto meant = Suggest(dot == std::string::npos ? path : path.substr(dot + 1), known);
  if (meant) return findings.Error(manifest, path, "unknown field (did you mean {}?)", *meant);
  findings.Error(manifest, path, "unknown field{}",
                 known.empty() ? "" : fmt::format("; known here are {}", Join(known, ", ")));
}

void ScratchServer::ReportStatus(const Manifest& manifest, const kube::HttpResponse& answer,
                                 Findings& findings) {
  const Json status = kube::ParseJson(answer.body).value_or(Json());
  // Definitions and namespaces are there already; that they are valid is seen by then.
  if (kube::FindString(status, {"reason"}) == "AlreadyExists") return;
  const json::array* causes = kube::FindArray(status, {"details", "causes"});
  for (size_t i = 0; causes != nullptr && i < causes->size(); ++i) {
    const Json& cause = (*causes)[i];
    findings.Error(manifest, kube::FindString(cause, {"field"}), "{}",
                   kube::FindString(cause, {"message"}));
  }
  if (causes != nullptr && !causes->empty()) return;
  const auto [path, message] =
      SplitMessage(kube::FindString(status, {"message"}, answer.body), manifest.kind());
  findings.Error(manifest, path, "{}", message);
}

std::vector<std::string> ScratchServer::MembersAt(const Manifest& manifest,
                                                  std::string_view path) const {
  const std::vector<std::string> steps = path.empty() ? std::vector<std::string>() : Steps(path);
  const auto schema = schemas_.find(fmt::format("{} {}", manifest.api_version(), manifest.kind()));
  if (schema == schemas_.end() || (!steps.empty() && steps.front() == "metadata")) {
    const bool custom = schema != schemas_.end();
    return BuiltinMembers(kube::FindBuiltinType(custom ? "v1" : manifest.api_version(),
                                                custom ? "Pod" : manifest.kind()),
                          steps);
  }
  return SchemaMembers(&schema->second, steps);
}

}  // namespace koord::validation
