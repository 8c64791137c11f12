#pragma once
#include "kube/resource.h"

// The custom resources of Koordinator.
namespace koord::api {

inline const kube::Resource kReservations{"scheduling.koordinator.sh", "v1alpha1", "reservations",
                                          "Reservation", false};
inline const kube::Resource kPodMigrationJobs{"scheduling.koordinator.sh", "v1alpha1",
                                              "podmigrationjobs", "PodMigrationJob", false};
inline const kube::Resource kDevices{"scheduling.koordinator.sh", "v1alpha1", "devices", "Device",
                                     false};
inline const kube::Resource kScheduleExplanations{"scheduling.koordinator.sh", "v1alpha1",
                                                  "scheduleexplanations", "ScheduleExplanation"};
inline const kube::Resource kClusterNetworkTopologies{"scheduling.koordinator.sh", "v1alpha1",
                                                      "clusternetworktopologies",
                                                      "ClusterNetworkTopology", false};
inline const kube::Resource kNodeMetrics{"slo.koordinator.sh", "v1alpha1", "nodemetrics",
                                         "NodeMetric", false};
inline const kube::Resource kNodeSlos{"slo.koordinator.sh", "v1alpha1", "nodeslos", "NodeSLO",
                                      false};
inline const kube::Resource kClusterColocationProfiles{"config.koordinator.sh", "v1alpha1",
                                                       "clustercolocationprofiles",
                                                       "ClusterColocationProfile", false};
inline const kube::Resource kElasticQuotaProfiles{"quota.koordinator.sh", "v1alpha1",
                                                  "elasticquotaprofiles", "ElasticQuotaProfile"};
inline const kube::Resource kRecommendations{"analysis.koordinator.sh", "v1alpha1",
                                             "recommendations", "Recommendation"};
inline const kube::Resource kPodGroups{"scheduling.sigs.k8s.io", "v1alpha1", "podgroups",
                                       "PodGroup"};
inline const kube::Resource kElasticQuotas{"scheduling.sigs.k8s.io", "v1alpha1", "elasticquotas",
                                           "ElasticQuota"};
inline const kube::Resource kNodeResourceTopologies{
    "topology.node.k8s.io", "v1alpha1", "noderesourcetopologies", "NodeResourceTopology", false};

}  // namespace koord::api
