// What a webhook may answer.
#include <cstdint>
#include <string>

#include "localcluster/apiserver/admission/admission_review.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace koord::apiserver;
  const koord::kube::HttpResponse response{
      200, {}, std::string(reinterpret_cast<const char*>(data), size)};
  for (const bool beta : {false, true}) {
    const auto answer = ReadReview(response, {"u", beta, true});
    if (answer.ok() && !answer->allowed) DenialError("w", answer->status).ToJson();
  }
  return 0;
}
