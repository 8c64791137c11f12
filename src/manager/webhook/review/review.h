#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "kube/admission_operation.h"
#include "kube/http.h"
#include "kube/json.h"

// What the API server asks a webhook and what it is told: admission.k8s.io AdmissionReview.
//
// Whoever can reach the port may send one, so everything in it is taken as hostile: bounded in size
// and depth, read strictly, and never believed beyond what the API server vouches for.
namespace koord::manager::webhook {

using kube::Operation;

// Its objects are in memory that goes with the last of them, and with what was copied into it.
struct Request {
  std::string uid;
  Operation operation = Operation::kCreate;
  std::string group, resource, subresource;
  std::string name, ns;
  kube::UserInfo user;
  bool dry_run = false;
  kube::Json object;      // null for DELETE
  kube::Json old_object;  // null for CREATE

  // Of the core group, and not about a part of it.
  bool IsAbout(std::string_view plural) const;
};

struct Review {
  std::string api_version;  // admission.k8s.io/v1 or v1beta1
  Request request;
};

// The answer of a handler.
struct Response {
  bool allowed = true;
  int code = 200;
  std::string message;
  std::string reason;
  kube::Json patch;  // JSON patch; null if there is none
  std::vector<std::string> warnings;

  static Response Allowed() { return {}; }
  // What turns `before` into `after`; plainly allowed if they are the same.
  static Response Patched(const kube::Json& before, const kube::Json& after);
  // Something is wrong with the request (400) or with us (500).
  static Response Errored(int code, std::string message);
  static Response Errored(int code, const Status& status) {
    return Errored(code, std::string(Message(status)));
  }
  static Response Denied(std::string message);  // 403
};

inline constexpr std::string_view kNothingToDecode = "there is no content to decode";

// Errors say what is wrong with the body.
StatusOr<Review> ReadReview(std::string_view content_type, std::string_view body);

// As many warnings as the API server passes on.
std::vector<std::string> BoundedWarnings(const std::vector<std::string>& warnings);

std::string WriteReview(std::string_view api_version, std::string_view uid,
                        const Response& response);

}  // namespace koord::manager::webhook
