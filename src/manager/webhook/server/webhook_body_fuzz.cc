#include "base/fuzz.h"
#include "manager/webhook/review/fake_view_testing.h"
#include "manager/webhook/server/webhook_handler.h"
#include "program/ask_testing.h"

namespace koord::manager::webhook {
namespace {

constexpr Features kAllFeatures{.node_mutating = true,
                                .node_validating = true,
                                .config_map_validating = true,
                                .reservation_mutating = true,
                                .multi_quota_tree = true,
                                .elastic_quota_guarantee_usage = true,
                                .replace_resources_transformer = true,
                                .validate_pod_device_resource = true,
                                .enable_pod_enhanced_validator = true,
                                .binding_admission = true};

constexpr std::string_view kResources[] = {"pods", "elasticquotas", "nodes", "configmaps",
                                           "reservations"};
constexpr std::string_view kOperations[] = {"CREATE", "UPDATE", "DELETE"};

// A review as the API server writes it, about what a user has sent.
std::string ReviewOf(std::string_view resource, std::string_view operation,
                     const kube::Json& object) {
  return kube::Serialize({{"apiVersion", "admission.k8s.io/v1"},
                          {"kind", "AdmissionReview"},
                          {"request",
                           {{"uid", "u"},
                            {"operation", operation},
                            {"namespace", "default"},
                            {"name", "x"},
                            {"resource", {{"group", ""}, {"resource", resource}}},
                            {"userInfo", {{"username", "alice"}}},
                            {"object", object},
                            {"oldObject", operation == "CREATE" ? kube::Json() : object}}}});
}

void Post(WebhookHandler& handler, const std::string& path, std::string body) {
  const auto recorder = std::make_shared<program::Recorder>();
  kube::HttpRequest request{.method = "POST", .target = path, .body = std::move(body)};
  request.headers.Set("Content-Type", "application/json");
  handler.Handle(std::move(request), recorder);
  FUZZ_ASSERT(recorder->answer.has_value());
  FUZZ_ASSERT(kube::ParseJson(recorder->answer->body).ok());
}

}  // namespace
}  // namespace koord::manager::webhook

// Every webhook answers every body with a review. The first byte says whether the input is the body
// itself or an object that the API server asks about, and what it is about.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace koord;
  using namespace koord::manager::webhook;
  if (size == 0) return 0;
  FakeView view;
  metrics::Registry registry;
  WebhookHandler handler({.view = view, .clock = view.loop.clock(), .metrics = registry},
                         {.features = kAllFeatures});
  std::string body(FuzzText(data + 1, size - 1));
  if (data[0] % 16 != 0) {
    const auto object = kube::ParseJson(body);
    if (!object.ok()) return 0;
    body = ReviewOf(kResources[data[0] % std::size(kResources)],
                    kOperations[data[0] % std::size(kOperations)], *object);
  }
  for (const std::string& path : handler.paths()) Post(handler, path, body);
  return 0;
}
