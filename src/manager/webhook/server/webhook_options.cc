#include "manager/webhook/server/webhook_options.h"

#include "base/file.h"
#include "base/strings.h"

namespace koord::manager::webhook {

using program::Flags;

namespace {

Status ReadSize(std::string_view text, size_t& size) {
  const auto number = ParseInt(text);
  if (!number || *number <= 0) return InvalidArgument("must be a positive number");
  size = static_cast<size_t>(*number);
  return absl::OkStatus();
}

}  // namespace

Features FeaturesOf(const FeatureGates& gates) {
  Features features;
  const auto set = [&](bool& feature, std::string_view gate) { feature = gates.Enabled(gate); };
  set(features.pod_mutating, "PodMutatingWebhook");
  set(features.pod_validating, "PodValidatingWebhook");
  set(features.elastic_mutating, "ElasticMutatingWebhook");
  set(features.elastic_validating, "ElasticValidatingWebhook");
  set(features.node_mutating, "NodeMutatingWebhook");
  set(features.node_validating, "NodeValidatingWebhook");
  set(features.config_map_validating, "ConfigMapValidatingWebhook");
  set(features.reservation_mutating, "ReservationMutatingWebhook");
  set(features.colocation_profile_skip_mutating_resources,
      "ColocationProfileSkipMutatingResources");
  set(features.colocation_profile_skip_validating_priority,
      "ColocationProfileSkipValidatingPriority");
  set(features.multi_quota_tree, "MultiQuotaTree");
  set(features.elastic_quota_guarantee_usage, "ElasticQuotaGuaranteeUsage");
  set(features.elastic_quota_enable_update_resource_key, "ElasticQuotaEnableUpdateResourceKey");
  set(features.elastic_quota_evaluation_transform_pod, "ElasticQuotaEvaluationTransformPod");
  set(features.replace_resources_transformer, "ReplaceResourcesTransformer");
  set(features.disable_default_quota, "DisableDefaultQuota");
  set(features.support_parent_quota_submit_pod, "SupportParentQuotaSubmitPod");
  set(features.enable_quota_admission, "EnableQuotaAdmission");
  set(features.enable_quota_admission_on_update, "EnableQuotaAdmissionOnUpdate");
  set(features.validate_pod_device_resource, "ValidatePodDeviceResource");
  set(features.enable_pod_enhanced_validator, "EnablePodEnhancedValidator");
  set(features.disable_extended_resource_spec, "DisableExtendedResourceSpec");
  set(features.disable_device_resource_spec, "DisableDeviceResourceSpec");
  set(features.binding_admission, "BindingAdmissionWebhook");
  return features;
}

void AddWebhookFlags(Flags& flags, WebhookServer::Options& options) {
  BindingOptions& binding = options.handler.binding;
  TrustOptions& trust = options.handler.trust;
  flags.AddGroup("Webhooks")
      .Bool("--trust-pod-annotations", trust.trust_everyone,
            "Let anyone write the annotations by which the scheduler tells nodes what a pod was "
            "given, and warn of nothing.")
      .List("--scheduler-user-names", trust.schedulers,
            "Users that may write the scheduler's annotations.")
      .Custom("--webhook-client-ca-file", "string", "",
              "Answer only callers that show a certificate of these authorities.",
              [&options](std::string_view path) -> Status {
                ASSIGN_OR_RETURN(options.client_ca, ReadFile(std::string(path)));
                return absl::OkStatus();
              })
      .Custom(
          "--webhook-request-bytes", "bytes", std::to_string(options.session.body_budget),
          "How much the bodies of all reviews under way may take together.",
          [&options](std::string_view text) { return ReadSize(text, options.session.body_budget); })
      .Custom("--webhook-max-connections", "int", std::to_string(options.session.max_connections),
              "How many connections there may be. When they are taken, idle ones make way.",
              [&options](std::string_view text) {
                return ReadSize(text, options.session.max_connections);
              })
      .List("--webhook-client-names", options.handler.client_names,
            "Common names that such a certificate must be for. Empty: any.")
      .Custom("--node-strategy-name-need-check", "string", "false",
              "\"true\": entries for nodes in the SLO ConfigMap need names, and different ones.",
              [&options](std::string_view text) {
                options.handler.check_strategy_names = text == "true";
                return absl::OkStatus();
              })
      .Text("--pod-enhanced-validator-config-namespace", options.enhanced_config.ns,
            "Namespace of the ConfigMap with rules for pods' labels.")
      .Text("--pod-enhanced-validator-config-name", options.enhanced_config.name, "Its name.");
  flags.Accept({"--pod-enhanced-validator-reconcile-interval"},
               {"--quota-update-conflict-fresh-get"});
  flags.AddGroup("Quota admission")
      .Int("--quota-update-max-retries", options.evaluation.max_retries,
           "How often a quota is written again when somebody else was faster.")
      .Time("--quota-update-retry-jitter", options.evaluation.retry_jitter,
            "Longest pause before that.")
      .Time("--quota-update-max-total-jitter", options.evaluation.max_total_jitter,
            "How long these pauses may be together.");
  flags.AddGroup("Binding admission")
      .List("--binding-admission-user-name", binding.user_names,
            "Parts of names of users that may bind pods. Empty: all may.")
      .Bool("--binding-admission-dry-run", binding.dry_run, "Count, but deny nothing.")
      .List("--binding-admission-namespaces", binding.namespaces,
            "Namespaces where it is enforced; * for all.")
      .List("--binding-admission-exclude-namespaces", binding.exclude_namespaces,
            "Namespaces where it is not.")
      .List("--binding-admission-bypass-labels", binding.bypass_labels,
            "Pods with one of these labels are left alone.")
      .List("--binding-admission-bypass-annotations", binding.bypass_annotations,
            "Pods with one of these annotations are left alone.");
}

Status CheckCallers(const WebhookServer::Options& options) {
  const Features& features = options.handler.features;
  if (!options.handler.client_names.empty() && options.client_ca.empty()) {
    return InvalidArgument(
        "--webhook-client-names needs --webhook-client-ca-file, or nobody shows a name");
  }
  const bool charges = features.pod_validating && features.enable_quota_admission;
  if (!charges || !options.client_ca.empty()) return absl::OkStatus();
  return InvalidArgument(
      "the feature gate EnableQuotaAdmission needs --webhook-client-ca-file: without it whoever "
      "reaches the port of the webhooks can charge any quota. Let the API server show a client "
      "certificate (kube-apiserver --admission-control-config-file, kubeConfigFile of the "
      "plugins MutatingAdmissionWebhook and ValidatingAdmissionWebhook) and name the file with "
      "the authority that signed it");
}

void AddColocationProfileFlags(Flags& flags, ColocationProfileController::Options& options) {
  flags.AddGroup("Profiles of pods that wait")
      .Bool("--colocation-profile-reconcile-by-default", options.all_profiles,
            "Apply all profiles to pods that wait, not only those that are labelled for it.")
      .Time("--colocation-profile-reconcile-interval", options.interval,
            "How often a profile is applied.")
      .Time("--colocation-profile-force-update-pod-duration", options.force_update,
            "How long a pod is left alone after a profile was applied to it.")
      .Number("--colocation-profile-update-pod-qps", options.qps, "Pods a second.")
      .Int("--colocation-profile-update-pod-qps-burst", options.burst, "Pods at once.");
  flags.Accept({"--colocation-profile-expire-pod-cache-duration"});
}

Status ReadEnvironment(const std::function<const char*(const char* name)>& variable,
                       WebhookServer::Options& options) {
  const auto text = [&](const char* name, std::string& value) {
    const char* found = variable(name);
    if (found != nullptr && *found != '\0') value = found;
  };
  CertificateOptions& certificates = options.certificates;
  text("POD_NAMESPACE", certificates.ns);
  text("SECRET_NAME", certificates.secret_name);
  text("SERVICE_NAME", certificates.service_name);
  text("MUTATING_WEBHOOK_NAME", certificates.mutating_name);
  text("VALIDATING_WEBHOOK_NAME", certificates.validating_name);
  text("WEBHOOK_HOST", certificates.host);
  std::string port = std::to_string(options.port);
  text("WEBHOOK_PORT", port);
  const auto number = ParseInt(port);
  if (!number || *number < 0 || *number > 65535) {
    return InvalidArgument("WEBHOOK_PORT {} must be a port", Quote(port));
  }
  options.port = static_cast<uint16_t>(*number);
  certificates.port = static_cast<int>(*number);
  std::string writer = certificates.host.empty() ? "secret" : "fs";
  text("WEBHOOK_CERT_WRITER", writer);
  std::string directory = "/tmp/koordinator-webhook-certs";
  text("WEBHOOK_CERT_DIR", directory);
  if (writer == "fs") certificates.directory = directory;
  return absl::OkStatus();
}

}  // namespace koord::manager::webhook
