#pragma once
#include <absl/functional/any_invocable.h>

#include <compare>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "kube/transport/transport.h"
#include "localcluster/apiserver/admission/admission_request.h"
#include "localcluster/apiserver/registry/field_error.h"

namespace koord::apiserver {

// The server that answers for a webhook.
struct WebhookTarget {
  std::string host;
  int port = 443;
  std::string server_name;  // the certificate must be for this: the host, or <svc>.<ns>.svc
  std::string ca_bundle;    // PEM; empty: the system's authorities

  auto operator<=>(const WebhookTarget&) const = default;
};

struct ServiceReference {
  std::string ns, name;
  int port = 443;
};

struct Endpoint {
  std::string host;
  int port = 443;
};

// The outside world, given by the server; tests give their own.
struct WebhookEnvironment {
  // Made once a target and kept. Requests carry path and Host header; HTTPS is the factory's
  // business.
  std::function<StatusOr<std::shared_ptr<kube::Transport>>(const WebhookTarget&)> transport;
  // From Service and Endpoints objects, or a static map. The error is shown to the user.
  std::function<StatusOr<Endpoint>(const ServiceReference&)> resolve;
  // Whether the webhook behind this path of a service would surely let the request pass as it is,
  // so that it need not be called: what matchConditions are for. Null: nobody knows.
  std::function<bool(const ServiceReference&, std::string_view path, const AdmissionRequest&)>
      is_needless;
  // metadata.labels of a namespace; null (JSON) if it has none or does not exist.
  std::function<kube::Json(std::string_view ns)> namespace_labels;
};

// A hook in this process, run at the point where its webhook would be called. A failure denies the
// request: an ApiError as it is, anything else as a webhook's denial (403) with that message.
struct InProcessHook {
  std::string name;
  std::vector<AdmissionRule> rules;
  std::function<Status(AdmissionRequest& request)> mutate;  // may change request.object
  std::function<Status(const AdmissionRequest& request)> validate;
};

// Calls the cluster's mutating and validating admission webhooks, as MutatingWebhookConfiguration
// and ValidatingWebhookConfiguration objects ask.
//
// Mutating ones run one after the other, configurations by name, each seeing what the one before
// made of the object; those that want it (IfNeeded) are called once more if somebody changed the
// object after them. Validating ones run in parallel; the first in order that denies is the answer.
// In-process hooks run first in their phase. Webhook configurations themselves are nobody's
// business.
class Webhooks {
 public:
  struct Outcome {
    Status status;      // carries an ApiError if the request was denied or a call failed
    kube::Json object;  // after mutation
    std::vector<std::string> warnings;
  };
  using Done = absl::AnyInvocable<void(Outcome)>;

  Webhooks(WebhookEnvironment environment, uint64_t seed);
  // Requests under way are never answered.
  ~Webhooks();

  // All configurations of the cluster, in any order; defaulted or not. Requests under way keep to
  // those that they started with.
  void SetMutating(const std::vector<kube::Json>& configurations);
  void SetValidating(const std::vector<kube::Json>& configurations);
  void Register(InProcessHook hook);

  // Whether any hook may want such a request: if not, it need not even be made.
  bool Mutates(Operation operation, const kube::Resource& resource,
               std::string_view subresource) const;
  bool Validates(Operation operation, const kube::Resource& resource,
                 std::string_view subresource) const;

  // `done` runs inside the call if nothing has to be asked over the network.
  void Mutate(AdmissionRequest request, Done done);
  void Validate(AdmissionRequest request, Done done);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Fills in what a configuration (either kind) leaves out.
void DefaultWebhookConfiguration(kube::Json& configuration);
FieldErrors ValidateWebhookConfiguration(const kube::Json& configuration);

}  // namespace koord::apiserver
