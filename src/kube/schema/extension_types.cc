#include "kube/schema/builtin_types.h"

namespace koord::kube::schema {

const GroupSource kStorageTypes = {
    .api_version = "storage.k8s.io/v1",
    .openapi_prefix = "io.k8s.api.storage.v1.",
    .messages = {},
    .json_messages = R"(
kind CSIDriver: metadata ObjectMeta, spec CSIDriverSpec!
CSIDriverSpec: attachRequired b?, podInfoOnMount b?, volumeLifecycleModes [s] set,
  storageCapacity b?, fsGroupPolicy ?, tokenRequests [TokenRequest], requiresRepublish b?,
  seLinuxMount b?, nodeAllocatableUpdatePeriodSeconds i?, serviceAccountTokenInSecrets b?
kind CSINode: metadata ObjectMeta, spec CSINodeSpec!
CSINodeDriver: name !, nodeID !, topologyKeys [s], allocatable VolumeNodeResources?
CSINodeSpec: drivers [CSINodeDriver]! merge=name
kind CSIStorageCapacity: metadata ObjectMeta, nodeTopology LabelSelector?, storageClassName !,
  capacity Quantity?, maximumVolumeSize Quantity?
kind StorageClass: metadata ObjectMeta, provisioner !, parameters map:s, reclaimPolicy ?,
  mountOptions [s], allowVolumeExpansion b?, volumeBindingMode ?,
  allowedTopologies [TopologySelectorTerm]
TokenRequest: audience !, expirationSeconds i?
TopologySelectorLabelRequirement: key !, values [s]!
atomic TopologySelectorTerm: matchLabelExpressions [TopologySelectorLabelRequirement]
kind VolumeAttachment: metadata ObjectMeta, spec VolumeAttachmentSpec!,
  status VolumeAttachmentStatus
VolumeAttachmentSource: persistentVolumeName ?, inlineVolumeSpec PersistentVolumeSpec?
VolumeAttachmentSpec: attacher !, source VolumeAttachmentSource!, nodeName !
VolumeAttachmentStatus: attached b!, attachmentMetadata map:s, attachError VolumeError?,
  detachError VolumeError?
VolumeError: time Time, message, errorCode i?
VolumeNodeResources: count i?
)",
};

const GroupSource kAdmissionTypes = {
    .api_version = "admissionregistration.k8s.io/v1",
    .openapi_prefix = "io.k8s.api.admissionregistration.v1.",
    .messages = {},
    .json_messages = R"(
MatchCondition: name !, expression !
MutatingWebhook: name !, clientConfig WebhookClientConfig!, rules [RuleWithOperations],
  failurePolicy ?, matchPolicy ?, namespaceSelector LabelSelector?,
  objectSelector LabelSelector?, sideEffects ?!, timeoutSeconds i?,
  admissionReviewVersions [s]!, reinvocationPolicy ?,
  matchConditions [MatchCondition] merge=name
kind MutatingWebhookConfiguration: metadata ObjectMeta, webhooks [MutatingWebhook] merge=name
RuleWithOperations: operations [s], apiGroups [s], apiVersions [s], resources [s], scope ?
ServiceReference: namespace !, name !, path ?, port i?
ValidatingWebhook: name !, clientConfig WebhookClientConfig!, rules [RuleWithOperations],
  failurePolicy ?, matchPolicy ?, namespaceSelector LabelSelector?,
  objectSelector LabelSelector?, sideEffects ?!, timeoutSeconds i?,
  admissionReviewVersions [s]!, matchConditions [MatchCondition] merge=name
kind ValidatingWebhookConfiguration: metadata ObjectMeta,
  webhooks [ValidatingWebhook] merge=name
WebhookClientConfig: url ?, service ServiceReference?, caBundle y
)",
};

const GroupSource kExtensionTypes = {
    .api_version = "apiextensions.k8s.io/v1",
    .openapi_prefix = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.",
    .messages = {},
    .json_messages = R"(
CustomResourceColumnDefinition: name !, type !, format, description, priority i, jsonPath !
CustomResourceConversion: strategy !, webhook WebhookConversion?
kind CustomResourceDefinition: metadata ObjectMeta, spec CustomResourceDefinitionSpec!,
  status CustomResourceDefinitionStatus
CustomResourceDefinitionCondition: type !, status !, lastTransitionTime Time, reason, message,
  observedGeneration i
CustomResourceDefinitionNames: plural !, singular, shortNames [s], kind !, listKind,
  categories [s]
CustomResourceDefinitionSpec: group !, names CustomResourceDefinitionNames!, scope !,
  versions [CustomResourceDefinitionVersion]!, conversion CustomResourceConversion?,
  preserveUnknownFields b
CustomResourceDefinitionStatus: conditions [CustomResourceDefinitionCondition] keys=type,
  acceptedNames CustomResourceDefinitionNames, storedVersions [s], observedGeneration i
CustomResourceDefinitionVersion: name !, served b!, storage b!, deprecated b,
  deprecationWarning ?, schema CustomResourceValidation?,
  subresources CustomResourceSubresources?,
  additionalPrinterColumns [CustomResourceColumnDefinition], selectableFields [SelectableField]
CustomResourceSubresourceScale: specReplicasPath !, statusReplicasPath !, labelSelectorPath ?
CustomResourceSubresources: status any?, scale CustomResourceSubresourceScale?
CustomResourceValidation: openAPIV3Schema JSONSchemaProps?
ExternalDocumentation: description, url
JSONSchemaProps: id, $schema, $ref ?, description, type, format, title, default any?,
  maximum f?, exclusiveMaximum b, minimum f?, exclusiveMinimum b, maxLength i?, minLength i?,
  pattern, maxItems i?, minItems i?, uniqueItems b, multipleOf f?, enum [any],
  maxProperties i?, minProperties i?, required [s], items any?, allOf [JSONSchemaProps],
  oneOf [JSONSchemaProps], anyOf [JSONSchemaProps], not JSONSchemaProps?,
  properties map:JSONSchemaProps, additionalProperties any?,
  patternProperties map:JSONSchemaProps, dependencies map:any, additionalItems any?,
  definitions map:JSONSchemaProps, externalDocs ExternalDocumentation?, example any?,
  nullable b, x-kubernetes-preserve-unknown-fields b?, x-kubernetes-embedded-resource b,
  x-kubernetes-int-or-string b, x-kubernetes-list-map-keys [s], x-kubernetes-list-type ?,
  x-kubernetes-map-type ?, x-kubernetes-validations [ValidationRule] keys=rule
SelectableField: jsonPath !
ServiceReference: namespace !, name !, path ?, port i?
ValidationRule: rule !, message, messageExpression, reason ?, fieldPath, optionalOldSelf b?
WebhookClientConfig: url ?, service ServiceReference?, caBundle y
WebhookConversion: clientConfig WebhookClientConfig?, conversionReviewVersions [s]!
)",
};

}  // namespace koord::kube::schema
