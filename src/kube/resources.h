#pragma once
#include "kube/resource.h"

// The built-in resources that this project talks about.
namespace koord::kube {

inline const Resource kPods{"", "v1", "pods", "Pod"};
inline const Resource kNodes{"", "v1", "nodes", "Node", false};
inline const Resource kNamespaces{"", "v1", "namespaces", "Namespace", false};
inline const Resource kConfigMaps{"", "v1", "configmaps", "ConfigMap"};
inline const Resource kSecrets{"", "v1", "secrets", "Secret"};
inline const Resource kEvents{"", "v1", "events", "Event"};
inline const Resource kServices{"", "v1", "services", "Service"};
inline const Resource kServiceAccounts{"", "v1", "serviceaccounts", "ServiceAccount"};
inline const Resource kPersistentVolumes{"", "v1", "persistentvolumes", "PersistentVolume", false};
inline const Resource kPersistentVolumeClaims{"", "v1", "persistentvolumeclaims",
                                              "PersistentVolumeClaim"};
inline const Resource kReplicationControllers{"", "v1", "replicationcontrollers",
                                              "ReplicationController"};
inline const Resource kDeployments{"apps", "v1", "deployments", "Deployment"};
inline const Resource kReplicaSets{"apps", "v1", "replicasets", "ReplicaSet"};
inline const Resource kStatefulSets{"apps", "v1", "statefulsets", "StatefulSet"};
inline const Resource kDaemonSets{"apps", "v1", "daemonsets", "DaemonSet"};
inline const Resource kControllerRevisions{"apps", "v1", "controllerrevisions",
                                           "ControllerRevision"};
inline const Resource kJobs{"batch", "v1", "jobs", "Job"};
inline const Resource kCronJobs{"batch", "v1", "cronjobs", "CronJob"};
inline const Resource kPodDisruptionBudgets{"policy", "v1", "poddisruptionbudgets",
                                            "PodDisruptionBudget"};
inline const Resource kPriorityClasses{"scheduling.k8s.io", "v1", "priorityclasses",
                                       "PriorityClass", false};
inline const Resource kLeases{"coordination.k8s.io", "v1", "leases", "Lease"};
inline const Resource kEventsV1{"events.k8s.io", "v1", "events", "Event"};
inline const Resource kStorageClasses{"storage.k8s.io", "v1", "storageclasses", "StorageClass",
                                      false};
inline const Resource kCsiNodes{"storage.k8s.io", "v1", "csinodes", "CSINode", false};
inline const Resource kCsiDrivers{"storage.k8s.io", "v1", "csidrivers", "CSIDriver", false};
inline const Resource kCsiStorageCapacities{"storage.k8s.io", "v1", "csistoragecapacities",
                                            "CSIStorageCapacity"};
inline const Resource kVolumeAttachments{"storage.k8s.io", "v1", "volumeattachments",
                                         "VolumeAttachment", false};
inline const Resource kCustomResourceDefinitions{
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", false};
inline const Resource kMutatingWebhookConfigurations{"admissionregistration.k8s.io", "v1",
                                                     "mutatingwebhookconfigurations",
                                                     "MutatingWebhookConfiguration", false};
inline const Resource kValidatingWebhookConfigurations{"admissionregistration.k8s.io", "v1",
                                                       "validatingwebhookconfigurations",
                                                       "ValidatingWebhookConfiguration", false};

}  // namespace koord::kube
