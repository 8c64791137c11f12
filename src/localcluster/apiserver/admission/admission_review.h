#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "kube/api_error.h"
#include "kube/http.h"
#include "kube/json.h"
#include "localcluster/apiserver/admission/admission_request.h"

// The document that server and webhook exchange: admission.k8s.io AdmissionReview.
namespace koord::apiserver {

struct ReviewForm {
  std::string uid;    // of this call
  bool beta = false;  // v1beta1: the answer is read leniently
  bool mutating = false;
};

// `resource` is the version in which the webhook wants to see the request; its objects are renamed
// to it.
kube::Json MakeReview(const AdmissionRequest& request, const kube::Resource& resource,
                      const ReviewForm& form);

struct ReviewAnswer {
  bool allowed = false;
  kube::Json status;  // of a denial; null if none was given
  kube::Json patch;   // JSON patch; null if there is none
  std::vector<std::string> warnings;
};

// Fails on anything but a proper answer to the review of that form.
StatusOr<ReviewAnswer> ReadReview(const kube::HttpResponse& response, const ReviewForm& form);

// What the user is told of a denial.
kube::ApiError DenialError(std::string_view webhook, const kube::Json& status);

}  // namespace koord::apiserver
