#include "manager/config/manager_gates.h"

namespace koord::manager {
namespace {

using enum FeatureStage;

// clang-format off: one gate a line
constexpr FeatureGate kGates[] = {
    {"BindingAdmissionWebhook", kAlpha, false},
    {kColocationProfileController, kAlpha, false},
    {"ColocationProfileSkipMutatingResources", kAlpha, false},
    {"ColocationProfileSkipValidatingPriority", kAlpha, false},
    {"ConfigMapValidatingWebhook", kAlpha, false},
    {"DisableDefaultQuota", kAlpha, false},
    {"DisableDeviceResourceSpec", kAlpha, false},
    {"DisableExtendedResourceSpec", kAlpha, false},
    {"ElasticMutatingWebhook", kBeta, true},
    {"ElasticQuotaEnableUpdateResourceKey", kAlpha, false},
    {"ElasticQuotaEvaluationTransformPod", kAlpha, false},
    {"ElasticQuotaGuaranteeUsage", kAlpha, false},
    {"ElasticValidatingWebhook", kBeta, true},
    {"EnablePodEnhancedValidator", kAlpha, false},
    {"EnableQuotaAdmission", kAlpha, false},
    {"EnableQuotaAdmissionOnUpdate", kAlpha, false},
    {kEnableSyncGpuSharedResource, kAlpha, false},
    {"MultiQuotaTree", kAlpha, false},
    {"NodeMutatingWebhook", kAlpha, false},
    {"NodeValidatingWebhook", kAlpha, false},
    {"PodMutatingWebhook", kBeta, true},
    {"PodValidatingWebhook", kBeta, true},
    {"ReplaceResourcesTransformer", kAlpha, false},
    {"ReservationMutatingWebhook", kAlpha, false},
    {"SupportParentQuotaSubmitPod", kAlpha, false},
    {"ValidatePodDeviceResource", kAlpha, false},
    {kWebhookFramework, kBeta, true},
};

// What nothing reads yet: setting one of these is said to have no effect. A feature that arrives
// moves its line up.
constexpr FeatureGate kIdleGates[] = {
    {"DisablePVCReservation", kAlpha, false},
    {"ElasticQuotaIgnorePodOverhead", kAlpha, false},
    {"ElasticQuotaIgnoreTerminatingPod", kAlpha, false},
    {"ElasticQuotaImmediateIgnoreTerminatingPod", kAlpha, false},
    {"PreemptionPolicyTransformer", kAlpha, false},
    {"PriorityTransformer", kAlpha, false},
};
// clang-format on

}  // namespace

FeatureGates ManagerFeatureGates() { return FeatureGates({kGates}, {kIdleGates}); }

}  // namespace koord::manager
