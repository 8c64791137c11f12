#pragma once
#include <absl/functional/any_invocable.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/random.h"
#include "kube/http.h"
#include "kube/serving/request_gate.h"
#include "manager/quota/quota_evaluator.h"
#include "manager/webhook/pod/pod_binding.h"
#include "manager/webhook/pod/pod_validating.h"
#include "manager/webhook/review/cluster_view.h"
#include "manager/webhook/review/features.h"
#include "manager/webhook/review/webhook_metrics.h"

namespace koord::manager::webhook {

inline constexpr char kMutatePodPath[] = "/mutate-pod";
inline constexpr char kValidatePodPath[] = "/validate-pod";
inline constexpr char kValidatePodKeysPath[] = "/validate-pod-keys";

struct HandlerOptions {
  Features features;
  TrustOptions trust;
  BindingOptions binding;
  bool require_client_certificate = false;
  std::vector<std::string> client_names;  // that certificates must be for; empty: any
  kube::ObjectKey slo_config{"koordinator-system", "slo-controller-config"};
  bool check_strategy_names = false;
  uint64_t seed = 1;
};

// Answers reviews over HTTP: leads each to the handler of its path. Paths whose feature is switched
// off are not there. As its server's gate it refuses what is no review before the body is read.
class WebhookHandler final : public kube::HttpHandler, public kube::RequestGate {
 public:
  struct Inputs {
    ClusterView& view;
    const Clock& clock;
    metrics::Registry& metrics;
    QuotaEvaluator* evaluator = nullptr;  // null: pods are not charged
    // Null: always. While it says no, callers are sent away, and the cluster's failurePolicy
    // decides.
    std::function<bool()> is_ready = {};
    // Runs its task when the namespace is known, if it can be. Null: it is.
    std::function<void(const std::string& ns, std::function<void()> then)> know_namespace = {};
  };

  WebhookHandler(const Inputs& inputs, HandlerOptions options);

  // Those of webhooks, for their registration.
  std::set<std::string, std::less<>> paths() const;

  void Handle(kube::HttpRequest request, std::shared_ptr<kube::ResponseWriter> response) override;
  void Check(const kube::HttpRequest& head, RequestGate::Done done) override;

 private:
  using Done = absl::AnyInvocable<void(Response)>;
  using Answer = std::function<void(std::shared_ptr<const Request>, Done)>;

  // Nothing: it is a review that can be answered.
  std::optional<kube::HttpResponse> Refusal(const kube::HttpRequest& request,
                                            std::string_view path) const;
  void AddPaths();
  void AddConfigPaths();
  void Add(bool enabled, std::string path, Answer answer);
  void MutatePodWhenNamespaceIsKnown(const std::shared_ptr<const Request>& request, Done done);
  void Review(const Answer& answer, const kube::HttpRequest& request,
              std::shared_ptr<kube::ResponseWriter> writer);

  Inputs inputs_;
  const HandlerOptions options_;
  WebhookMetrics metrics_;
  Random random_;
  EnhancedValidator enhanced_;
  std::map<std::string, Answer, std::less<>> answers_;
};

}  // namespace koord::manager::webhook
