#include "base/fuzz.h"
#include "manager/webhook/review/review.h"

// Reviews come from whoever can reach the port.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto review =
      koord::manager::webhook::ReadReview("application/json", koord::FuzzText(data, size));
  if (review.ok()) {
    koord::manager::webhook::WriteReview(review->api_version, review->request.uid,
                                         koord::manager::webhook::Response::Patched(
                                             review->request.old_object, review->request.object));
  }
  return 0;
}
