#pragma once
#include <string_view>

#include "kube/json.h"
#include "kube/resource.h"

// What the server itself decides about a new or changed object, whatever the client sent.
namespace koord::apiserver {

// phase Pending, the QoS class, the condition that tells of scheduling gates, and the selectors of
// affinity terms completed by matchLabelKeys and mismatchLabelKeys.
void PreparePodCreate(kube::Json& pod);
void PreparePodUpdate(kube::Json& pod, const kube::Json& old);
// Guaranteed, Burstable or BestEffort, from the resources of its containers.
std::string_view PodQosClass(const kube::Json& pod);
// podIP and podIPs[0] always agree; what was written alone, or differs, is taken from podIP.
void AlignPodIps(kube::Json& pod);

// Phase Active, the finalizer that content deletion waits for, and the label that names it.
void PrepareNamespaceCreate(kube::Json& object);
void PrepareNamespaceUpdate(kube::Json& object, const kube::Json& old);

// Addresses stay with a service unless it gives them up.
void PrepareServiceUpdate(kube::Json& object, const kube::Json& old);

void PreparePendingPhase(kube::Json& object);

// Every object of a built-in kind that has a status shows one, empty as it may be, and in it what
// clients read as required.
void CompleteStatus(const kube::Resource& resource, kube::Json& object);

// A selector of its own, by uid, unless the user chose one, and its pods' labels unless it has
// some. The uid must be set.
void PrepareJobCreate(kube::Json& object);

}  // namespace koord::apiserver
