#include "localcluster/apiserver/admission/webhooks.h"
#include "localcluster/apiserver/apply/managed_fields.h"
#include "localcluster/apiserver/errors.h"
#include "localcluster/apiserver/respond.h"
#include "localcluster/apiserver/write_handlers.h"
namespace koord::apiserver {
struct Webhooks::Impl {};
Webhooks::Webhooks(EventLoop&, WebhookEnvironment, uint64_t) {}
Webhooks::~Webhooks() = default;
void Webhooks::SetMutating(const std::vector<kube::Json>&) {}
void Webhooks::SetValidating(const std::vector<kube::Json>&) {}
void Webhooks::Register(InProcessHook) {}
bool Webhooks::Mutates(Operation, const kube::Resource&, std::string_view) const { return false; }
bool Webhooks::Validates(Operation, const kube::Resource&, std::string_view) const { return false; }
void Webhooks::Mutate(AdmissionRequest, Done) {}
void Webhooks::Validate(AdmissionRequest, Done) {}
void DefaultWebhookConfiguration(kube::Json&) {}
FieldErrors ValidateWebhookConfiguration(const kube::Json&) { return {}; }
void TrackUpdate(const kube::Json*, kube::Json&, const FieldWriter&, const FieldSchema&) {}
std::string_view ManagerFromUserAgent(std::string_view a) { return a.substr(0, a.find('/')); }
bool UnchangedButForTimes(const kube::Json& live, const kube::Json& updated) {
  kube::Json a = live, b = updated;
  for (kube::Json* x : {&a, &b}) {
    auto& m = kube::At(*x, {"metadata"}).as_object();
    m.erase("resourceVersion");
    m.erase("managedFields");
  }
  return a == b;
}
const FieldSchema& FieldSchema::Untyped() {
  static const FieldSchema s;
  return s;
}
const FieldSchema& FieldSchema::Of(const kube::Type*) { return Untyped(); }
void WriteHandlers::Patch(RequestPtr request) {
  RespondError(core_, *request, BadRequest("no patch yet"));
}
}  // namespace koord::apiserver
