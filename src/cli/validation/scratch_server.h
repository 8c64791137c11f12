#pragma once
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/virtual_loop.h"
#include "cli/validation/manifest.h"
#include "kube/http.h"
#include "kube/json.h"
#include "localcluster/apiserver/api_server.h"

namespace koord::validation {

// An API server in memory that is asked what it would say to an object, and keeps nothing but
// definitions and namespaces.
class ScratchServer {
 public:
  ScratchServer();

  // Makes the kinds of a CustomResourceDefinition known.
  void Install(const kube::Json& definition);
  // What the server would answer if the object was created.
  void Check(const Manifest& manifest, Findings& findings);

 private:
  struct Kind {
    std::string path;  // "/api/v1", "/apis/apps/v1"
    std::string resource;
    bool namespaced = false;
  };

  kube::HttpResponse Send(std::string method, std::string target, const kube::Json& body = nullptr);
  const Kind* FindKind(std::string_view api_version, std::string_view kind);
  void ReportUnknownKind(const Manifest& manifest, Findings& findings);
  void MakeNamespace(const std::string& name);
  void ReportStatus(const Manifest& manifest, const kube::HttpResponse& answer, Findings& findings);
  void ReportWarning(const Manifest& manifest, std::string_view warning, Findings& findings);
  // The names of all members at a place of an object, as far as they are known.
  std::vector<std::string> MembersAt(const Manifest& manifest, std::string_view path) const;

  VirtualLoop loop_;
  std::unique_ptr<apiserver::Store> store_;
  std::unique_ptr<apiserver::ApiServer> server_;
  std::map<std::string, std::map<std::string, Kind, std::less<>>, std::less<>> kinds_;
  std::map<std::string, kube::Json, std::less<>> schemas_;  // by "apiVersion Kind"
  std::set<std::string, std::less<>> namespaces_;
};

}  // namespace koord::validation
