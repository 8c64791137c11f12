#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kube/api_error.h"
#include "kube/http.h"
#include "kube/json.h"

namespace koord::kube {

// For tests: one lease, kept as an API server keeps it: writes need the current resourceVersion.
class LeaseServer final : public HttpHandler {
 public:
  void Handle(HttpRequest request, std::shared_ptr<ResponseWriter> writer) override {
    if (down) return;
    requests.push_back(request.method);
    if (request.method == "GET") {
      return lease.is_null() ? Fail(404, "NotFound", *writer) : Answer(std::move(writer));
    }
    Json sent = *ParseJson(request.body);
    if (request.method == "POST") {
      if (!lease.is_null()) return Fail(409, "AlreadyExists", *writer);
    } else {
      if (lease.is_null()) return Fail(404, "NotFound", *writer);
      if (FindString(sent, {"metadata", "resourceVersion"}) != std::to_string(version)) {
        return Fail(409, "Conflict", *writer);
      }
    }
    Put(std::move(sent));
    Answer(std::move(writer));
  }

  void ReleaseHeld() {
    for (const auto& [writer, body] : std::exchange(held_, {})) writer->Finish({200, {}, body});
  }

  void Put(Json object) {
    lease = std::move(object);
    At(lease, {"metadata", "resourceVersion"}) = std::to_string(++version);
  }
  std::string holder() const { return std::string(FindString(lease, {"spec", "holderIdentity"})); }
  int64_t transitions() const { return FindInt(lease, {"spec", "leaseTransitions"}, -1); }

  Json lease;
  int version = 0;
  bool down = false;  // breaks every connection
  bool hold = false;  // does as asked, but keeps the answer back
  std::vector<std::string> requests;

 private:
  void Answer(std::shared_ptr<ResponseWriter> writer) {
    held_.emplace_back(std::move(writer), Serialize(lease));
    if (!hold) ReleaseHeld();
  }
  static void Fail(int code, std::string reason, ResponseWriter& writer) {
    ApiError error;
    error.code = code;
    error.reason = std::move(reason);
    writer.Finish({code, {}, Serialize(error.ToJson())});
  }

  std::vector<std::pair<std::shared_ptr<ResponseWriter>, std::string>> held_;
};

}  // namespace koord::kube
