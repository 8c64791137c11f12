#pragma once
#include "api/node_metric.h"
#include "api/node_resource_topology.h"
#include "api/pod_group.h"
#include "api/reservation.h"
#include "kube/objects/namespace.h"
#include "kube/objects/policy.h"
#include "kube/objects/service.h"
#include "kube/objects/storage.h"
#include "kube/objects/workloads.h"
#include "scheduler/cluster/object_cache.h"

namespace koord::scheduler {

// Everything that plugins look up besides nodes and the pods on them.
struct ClusterObjects {
  ObjectCache<kube::Namespace> namespaces;
  ObjectCache<kube::Service> services;
  ObjectCache<kube::ReplicationController> replication_controllers;
  ObjectCache<kube::ReplicaSet> replica_sets;
  ObjectCache<kube::StatefulSet> stateful_sets;
  ObjectCache<kube::PodDisruptionBudget> disruption_budgets;
  ObjectCache<kube::PersistentVolume> persistent_volumes;
  ObjectCache<kube::PersistentVolumeClaim> persistent_volume_claims;
  ObjectCache<kube::StorageClass> storage_classes;
  ObjectCache<kube::CsiNode> csi_nodes;
  ObjectCache<kube::CsiDriver> csi_drivers;
  ObjectCache<kube::CsiStorageCapacity> csi_storage_capacities;
  ObjectCache<kube::VolumeAttachment> volume_attachments;
  // Only if needed; empty while their definition is not installed.
  ObjectCache<api::NodeMetric> node_metrics;
  ObjectCache<api::Reservation> reservations;
  ObjectCache<api::NodeResourceTopology> node_topologies;
  ObjectCache<api::PodGroup> pod_groups;
};

}  // namespace koord::scheduler
