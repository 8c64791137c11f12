#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "kube/http.h"
#include "localcluster/apiserver/registry/resource_info.h"

namespace koord::apiserver {

// Query parameters, decoded. A name may occur more than once.
class Query {
 public:
  void Add(std::string name, std::string value) {
    items_.emplace_back(std::move(name), std::move(value));
  }
  std::string_view Get(std::string_view name) const;  // the first; empty if absent
  bool Has(std::string_view name) const;
  std::vector<std::string_view> All(std::string_view name) const;
  // Anything that Go reads as true: 1, t, T, true, True, TRUE.
  bool IsTrue(std::string_view name) const;
  // Nothing if absent or empty; an error if it is no number.
  StatusOr<std::optional<int64_t>> Integer(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, std::string>> items_;
};

// In which shape the client wants objects.
struct Output {
  enum class Kind { kObject, kTable, kPartial };
  Kind kind = Kind::kObject;
  std::string version = "v1";  // of meta.k8s.io, for tables and partial objects
};

// One media type of an Accept header.
struct MediaType {
  std::string type;  // lower case: "application/json"
  std::vector<std::pair<std::string, std::string>> parameters;

  std::string_view Get(std::string_view name) const;
};
std::vector<MediaType> ParseAccept(std::string_view accept);

// The first alternative that we can answer; NotAcceptable if there is none.
StatusOr<Output> NegotiateOutput(std::string_view accept);

// A request on its way through the server.
struct Request {
  kube::HttpRequest http;
  std::shared_ptr<kube::ResponseWriter> writer;
  SteadyTime start{};
  std::string audit_id;

  std::vector<std::string> path;  // decoded segments
  Query query;

  // Requests for resources only.
  ResourceInfoPtr info;
  std::string verb;  // get, list, watch, create, update, patch, delete, deletecollection
  std::string ns;
  std::string name;
  std::string subresource;
  Output output;

  std::vector<std::string> warnings;  // for the client's eyes, sent as Warning headers

  const kube::UserInfo& user() const { return *http.user; }
  bool pretty() const;
};
using RequestPtr = std::shared_ptr<Request>;

// Fills in path and query. False if the target is no path, or no UTF-8 once it is decoded.
bool ParseTarget(Request& request);

}  // namespace koord::apiserver
