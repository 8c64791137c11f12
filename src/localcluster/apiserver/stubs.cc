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
}  // namespace koord::apiserver
