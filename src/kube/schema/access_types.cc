#include "kube/schema/builtin_types.h"

namespace koord::kube::schema {

const GroupSource kRbacTypes = {
    .api_version = "rbac.authorization.k8s.io/v1",
    .openapi_prefix = "io.k8s.api.rbac.v1.",
    .messages = R"(
AggregationRule: clusterRoleSelectors [LabelSelector]
kind ClusterRole: metadata ObjectMeta, rules [PolicyRule], aggregationRule AggregationRule?
kind ClusterRoleBinding: metadata ObjectMeta, subjects [Subject], roleRef RoleRef!
PolicyRule: verbs [s]!, apiGroups [s], resources [s], resourceNames [s], nonResourceURLs [s]
kind Role: metadata ObjectMeta, rules [PolicyRule]
kind RoleBinding: metadata ObjectMeta, subjects [Subject], roleRef RoleRef!
atomic RoleRef: apiGroup !, kind !, name !
atomic Subject: kind !, apiGroup, name !, namespace
)",
    .json_messages = {},
};

const GroupSource kAuthenticationTypes = {
    .api_version = "authentication.k8s.io/v1",
    .openapi_prefix = "io.k8s.api.authentication.v1.",
    .messages = R"(
BoundObjectReference: kind, apiVersion, name, uid
kind SelfSubjectReview: metadata ObjectMeta, status SelfSubjectReviewStatus
SelfSubjectReviewStatus: userInfo UserInfo
kind TokenRequest: metadata ObjectMeta, spec TokenRequestSpec!, status TokenRequestStatus
TokenRequestSpec: audiences [s]!, 3.boundObjectRef BoundObjectReference?, expirationSeconds i?
TokenRequestStatus: token !, expirationTimestamp Time!
kind TokenReview: metadata ObjectMeta, spec TokenReviewSpec!, status TokenReviewStatus
TokenReviewSpec: token, audiences [s]
TokenReviewStatus: authenticated b, user UserInfo, error, audiences [s]
UserInfo: username, uid, groups [s], extra map:ExtraValue
)",
    .json_messages = {},
};

const GroupSource kAuthorizationTypes = {
    .api_version = "authorization.k8s.io/v1",
    .openapi_prefix = "io.k8s.api.authorization.v1.",
    .messages = R"(
FieldSelectorAttributes: rawSelector, requirements [FieldSelectorRequirement]
LabelSelectorAttributes: rawSelector, requirements [LabelSelectorRequirement]
kind LocalSubjectAccessReview: metadata ObjectMeta, spec SubjectAccessReviewSpec!,
  status SubjectAccessReviewStatus
NonResourceAttributes: path, verb
NonResourceRule: verbs [s]!, nonResourceURLs [s]
ResourceAttributes: namespace, verb, group, version, resource, subresource, name,
  fieldSelector FieldSelectorAttributes?, labelSelector LabelSelectorAttributes?
ResourceRule: verbs [s]!, apiGroups [s], resources [s], resourceNames [s]
kind SelfSubjectAccessReview: metadata ObjectMeta, spec SelfSubjectAccessReviewSpec!,
  status SubjectAccessReviewStatus
SelfSubjectAccessReviewSpec: resourceAttributes ResourceAttributes?,
  nonResourceAttributes NonResourceAttributes?
kind SelfSubjectRulesReview: metadata ObjectMeta, spec SelfSubjectRulesReviewSpec!,
  status SubjectRulesReviewStatus
SelfSubjectRulesReviewSpec: namespace
kind SubjectAccessReview: metadata ObjectMeta, spec SubjectAccessReviewSpec!,
  status SubjectAccessReviewStatus
SubjectAccessReviewSpec: resourceAttributes ResourceAttributes?,
  nonResourceAttributes NonResourceAttributes?, user, groups [s], extra map:ExtraValue, uid
SubjectAccessReviewStatus: allowed b!, reason, evaluationError, denied b
SubjectRulesReviewStatus: resourceRules [ResourceRule]!, nonResourceRules [NonResourceRule]!,
  incomplete b!, evaluationError
)",
    .json_messages = {},
};

}  // namespace koord::kube::schema
