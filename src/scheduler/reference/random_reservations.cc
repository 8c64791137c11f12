#include <fmt/format.h>

#include "api/keys.h"
#include "kube/objects/pod_resources.h"
#include "scheduler/reference/choose.h"
#include "scheduler/reference/random_objects.h"

namespace koord::scheduler::reference {
namespace {

api::ReservationOwner RandomReservationOwner(Random& random) {
  api::ReservationOwner owner;
  if (random.Chance(0.6)) owner.label_selector = RandomSelector(random);
  if (random.Chance(0.03)) {
    owner.label_selector.emplace().match_expressions.push_back({"tier", "Within", {"x"}});
  }
  if (random.Chance(0.25)) owner.object.emplace().ns = TextOf(random, {"one", "two"});
  if (random.Chance(0.05)) owner.object.emplace().api_version = TextOf(random, {"v1", "v2"});
  if (random.Chance(0.2)) {
    api::ReservationControllerReference& controller = owner.controller.emplace();
    controller.kind = TextOf(random, {"ReplicaSet", "ReplicaSet", "StatefulSet"});
    if (random.Chance(0.6)) controller.name = TextOf(random, {"web", "db"});
    if (random.Chance(0.5)) controller.controller = true;
    if (random.Chance(0.3)) controller.ns = TextOf(random, {"one", "two"});
    if (random.Chance(0.2)) controller.api_version = "apps/v1";
  }
  return owner;
}

void Decorate(api::Reservation& reservation, Random& random) {
  kube::Labels& labels = reservation.metadata.labels.Mutable();
  if (random.Chance(0.7)) labels["pool"] = TextOf(random, {"p", "q"});
  if (random.Chance(0.1)) labels["disk"] = "ssd";
  if (random.Chance(0.3)) {
    labels[std::string(api::kLabelReservationOrder)] =
        TextOf(random, {"1", "2", "2", "7", "-1", "0", "x"});
  }
  kube::Annotations& annotations = reservation.metadata.annotations;
  if (random.Chance(0.2)) {
    annotations[std::string(api::kAnnotationReservationRestrictedOptions)] =
        TextOf(random, {R"({"resources":["memory"]})", R"({"resources":["cpu"]})",
                        R"({"resources":["example.com/none"]})", R"({"resources":[]})"});
  }
  if (random.Chance(0.02)) {
    annotations[std::string(api::kAnnotationReservationRestrictedOptions)] = "{";
  }
  if (random.Chance(0.15)) {
    annotations[std::string(api::kAnnotationNodeReservation)] =
        TextOf(random,
               {R"({"resources":{"cpu":"100m"}})",
                R"({"resources":{"cpu":"500m","memory":"64Mi"}})", R"({"resources":{"cpu":"5"}})"});
  }
}

kube::Taint RandomReservationTaint(Random& random) {
  return {.key = TextOf(random, {"team", "dedicated"}),
          .value = TextOf(random, {"", "x"}),
          .effect = TextOf(random, {"NoSchedule", "NoExecute", "PreferNoSchedule"})};
}

std::string RandomReservationAffinity(Random& random, const std::string& name) {
  if (random.Chance(0.3)) return fmt::format(R"({{"name":"{}"}})", name);
  static constexpr char kPoolOrRack[] =
      R"({"requiredDuringSchedulingIgnoredDuringExecution":{"reservationSelectorTerms":)"
      R"([{"matchExpressions":[{"key":"pool","operator":"In","values":["p","q"]}]},)"
      R"({"matchExpressions":[{"key":"rack","operator":"Exists"}]}]}})";
  static constexpr char kNotTheFirst[] =
      R"({"requiredDuringSchedulingIgnoredDuringExecution":{"reservationSelectorTerms":)"
      R"([{"matchFields":[{"key":"metadata.name","operator":"NotIn","values":["res-1"]}]}]}})";
  return TextOf(
      random,
      {"", "{}", "{}", R"({"reservationSelector":{"pool":"p"}})",
       R"({"reservationSelector":{"disk":"ssd"}})", R"({"tolerations":[{"operator":"Exists"}]})",
       R"({"tolerations":[{"key":"team","operator":"Exists"}],"reservationSelector":{"pool":"q"}})",
       kPoolOrRack, kNotTheFirst,
       R"({"requiredDuringSchedulingIgnoredDuringExecution":{"reservationSelectorTerms":[]}})",
       R"({"tolerations":[{"key":"node.kubernetes.io/unschedulable","operator":"Exists"}]})"});
}

}  // namespace

void WishForReservations(kube::Pod& pod, Random& random, const std::string& name) {
  if (random.Chance(0.06)) {
    pod.metadata.labels.Mutable()[std::string(api::kLabelReservationIgnored)] =
        TextOf(random, {"true", "true", "false"});
    return;  // to want one as well makes no sense
  }
  if (random.Chance(0.3)) {
    pod.metadata.annotations[std::string(api::kAnnotationReservationAffinity)] =
        random.Chance(0.03) ? "{" : RandomReservationAffinity(random, name);
  }
  if (random.Chance(0.12)) {
    pod.metadata.annotations[std::string(api::kAnnotationExactMatchReservation)] = TextOf(
        random, {R"({"resourceNames":["cpu"]})", R"({"resourceNames":["cpu","memory"]})",
                 R"({"resourceNames":["nvidia.com/gpu","cpu"]})", R"({"resourceNames":[]})"});
  }
}

api::Reservation RandomReservation(Random& random, kube::Pod like, WallTime now) {
  api::Reservation reservation;
  reservation.metadata.creation_timestamp = now - std::chrono::seconds(Between(random, 0, 2));
  Decorate(reservation, random);
  api::ReservationSpec& spec = reservation.spec;
  if (random.Chance(0.05)) {
    spec.resources.emplace().requests = kube::PodRequests(like);
  } else {
    kube::PodTemplateSpec& model = spec.pod_template.emplace();
    model.metadata.ns = random.Chance(0.7) ? like.metadata.ns : "";
    model.metadata.labels = like.metadata.labels;
    model.spec = like.spec;
    model.spec.volumes = {};
    if (random.Chance(0.6)) model.spec.priority.reset();
    if (random.Chance(0.05)) model.spec.node_name = RandomNodeName(random);
    do {
      spec.owners.push_back(RandomReservationOwner(random));
    } while (random.Chance(0.3));
  }
  spec.ttl = 24h;
  if (random.Chance(0.7)) spec.allocate_once = random.Chance(0.25);
  spec.allocate_policy = TextOf(random, {"", "Aligned", "Aligned", "Restricted", "Restricted"});
  spec.unschedulable = random.Chance(0.08);
  while (random.Chance(0.12)) spec.taints.push_back(RandomReservationTaint(random));
  return reservation;
}

void MakeAvailable(api::Reservation& reservation, Random& random, const std::string& node) {
  reservation.status.phase = "Available";
  reservation.status.node_name = node;
  kube::Pod pod;
  pod.spec = api::TemplateOf(reservation.spec).value_or(kube::PodTemplateSpec()).spec;
  kube::ResourceList& held = reservation.status.allocatable;
  held = kube::PodRequests(pod);
  if (random.Chance(0.1)) held["pods"] = kube::Quantity(Between(random, 1, 3));
  if (random.Chance(0.2)) held["cpu"] = kube::Quantity::FromMilli(Between(random, 0, 8) * 250);
  if (random.Chance(0.2)) {
    held["memory"] = kube::Quantity(Between(random, 0, 8) * (128 << 20));
  }
  if (random.Chance(0.05)) held["nvidia.com/gpu"] = kube::Quantity(2);
}

}  // namespace koord::scheduler::reference
