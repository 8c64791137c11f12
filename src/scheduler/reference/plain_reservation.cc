#include "scheduler/reference/plain_reservation.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "api/cpu_annotations.h"
#include "api/keys.h"
#include "api/reservation_annotations.h"
#include "kube/objects/pod_resources.h"
#include "scheduler/reference/matching.h"

namespace koord::scheduler::reference {
namespace {

template <class Number>
std::optional<Number> NumberIn(const std::string* text) {
  if (text == nullptr) return {};
  Number number = 0;
  const char* end = text->data() + text->size();
  const auto [at, error] = std::from_chars(text->data(), end, number);
  if (error != std::errc() || at != end) return {};
  return number;
}

bool IsAvailable(const api::Reservation& reservation) {
  return !reservation.status.node_name.empty() && reservation.status.phase == "Available";
}

void AskForExactly(kube::Pod& pod, const kube::ResourceList& amounts) {
  pod.spec.overhead = {};
  pod.spec.resources.reset();
  for (kube::Container& each : pod.spec.containers.Mutable()) each.resources = {};
  for (kube::Container& each : pod.spec.init_containers.Mutable()) each.resources = {};
  kube::Container& container = pod.spec.containers.Mutable().emplace_back();
  container.name = "__internal_fake_container__";
  container.resources.requests = amounts;
  container.resources.limits = amounts;
}

}  // namespace

kube::Pod ReservePodOf(const api::Reservation& reservation) {
  const kube::PodTemplateSpec model =
      api::TemplateOf(reservation.spec).value_or(kube::PodTemplateSpec());
  kube::Pod pod;
  pod.metadata = model.metadata;
  pod.spec = model.spec;
  pod.metadata.name = reservation.metadata.uid;
  pod.metadata.uid = reservation.metadata.uid;
  pod.metadata.creation_timestamp = reservation.metadata.creation_timestamp;
  pod.metadata.deletion_timestamp = reservation.metadata.deletion_timestamp;
  if (pod.metadata.ns.empty()) pod.metadata.ns = "default";
  for (const auto& [key, value] : reservation.metadata.labels) {
    pod.metadata.labels.Mutable()[key] = value;
  }
  for (const auto& [key, value] : reservation.metadata.annotations) {
    pod.metadata.annotations[key] = value;
  }
  pod.metadata.annotations[std::string(api::kAnnotationReservePod)] = "true";
  pod.metadata.annotations[std::string(api::kAnnotationReservationName)] =
      reservation.metadata.name;
  if (!pod.spec.node_name.empty()) {
    pod.metadata.annotations[std::string(api::kAnnotationReservationNode)] = pod.spec.node_name;
  }
  pod.spec.node_name = reservation.status.node_name;
  if (!pod.spec.priority) {
    const std::string* label =
        kube::FindValue(reservation.metadata.labels, "koordinator.sh/priority");
    pod.spec.priority = NumberIn<int32_t>(label).value_or(2147483647);
  }
  const kube::ResourceList asked = kube::PodRequests(pod);
  if (IsAvailable(reservation) && reservation.status.allocatable != asked) {
    kube::ResourceList amounts = asked;
    for (const auto& [name, amount] : reservation.status.allocatable) amounts[name] = amount;
    AskForExactly(pod, amounts);
  }
  return pod;
}

int64_t PlainReservation::order() const {
  return NumberIn<int64_t>(kube::FindValue(object->metadata.labels, api::kLabelReservationOrder))
      .value_or(0);
}

std::vector<const PlainPod*> OwnersOf(const View& view, const PlainReservation& reservation) {
  std::vector<const PlainPod*> owners;
  for (const PlainPod* pod : view.pods_on.at(reservation.node())) {
    if (!pod->is_reservation && pod->draws_from == reservation.uid()) owners.push_back(pod);
  }
  return owners;
}

// ---- What can be read of one

namespace {

bool CanBeRead(const kube::LabelSelector& selector) {
  return std::ranges::all_of(selector.match_expressions, [](const auto& each) {
    return each.op == "In" || each.op == "NotIn" || each.op == "Exists" ||
           each.op == "DoesNotExist";
  });
}

bool OwnersCanBeRead(const api::ReservationSpec& spec) {
  return std::ranges::all_of(spec.owners, [](const api::ReservationOwner& owner) {
    return !owner.label_selector || CanBeRead(*owner.label_selector);
  });
}

std::optional<PlainReservation> Read(const View& view,
                                     std::shared_ptr<const api::Reservation> object) {
  const auto pod = view.cluster.pods.find(object->metadata.uid);
  const kube::Annotations& annotations = object->metadata.annotations;
  const auto options = api::RestrictedResourcesOf(annotations);
  if (pod == view.cluster.pods.end() || !view.pods_on.contains(object->status.node_name) ||
      !options.ok() || !OwnersCanBeRead(object->spec)) {
    return {};
  }
  PlainReservation read{.pod = &pod->second, .reserved = object->status.allocatable};
  for (const auto& [name, amount] : read.reserved) {
    if (std::ranges::count(*options, name) > 0) read.names.insert(name);
  }
  if (read.names.empty() || object->spec.allocate_policy != "Restricted") {
    for (const auto& [name, amount] : read.reserved) read.names.insert(name);
  }
  const auto inner = api::NodeReservationOf(annotations);
  if (inner.ok() && *inner) {
    for (const auto& [name, amount] : CountedAmounts((*inner)->resources)) {
      if (read.names.contains(name)) read.kept_back[name] = amount;
    }
  }
  read.object = std::move(object);
  return read;
}

}  // namespace

std::vector<PlainReservation> OpenReservations(const View& view) {
  std::vector<PlainReservation> open;
  for (const auto& [key, object] : view.cluster.objects.reservations.objects()) {
    if (!IsAvailable(*object)) continue;
    std::optional<PlainReservation> read = Read(view, object);
    if (!read) continue;
    const bool once = object->spec.allocate_once.value_or(true);
    const bool used =
        !OwnersOf(view, *read).empty() || view.cluster.spent.contains(object->metadata.uid);
    if (once && used) continue;
    open.push_back(*std::move(read));
  }
  return open;
}

// ---- Whom it is for

namespace {

bool Agrees(const std::string& wanted, const std::string& have) {
  return wanted.empty() || wanted == have;
}

bool IsFor(const api::ReservationOwner& owner, const kube::Pod& pod) {
  if (const auto& object = owner.object) {
    if (!Agrees(object->uid, pod.metadata.uid) || !Agrees(object->name, pod.metadata.name) ||
        !Agrees(object->ns, pod.metadata.ns) || !Agrees(object->api_version, "v1")) {
      return false;
    }
  }
  if (const auto& controller = owner.controller) {
    if (!Agrees(controller->ns, pod.metadata.ns)) return false;
    const bool found = std::ranges::any_of(
        pod.metadata.owner_references, [&](const kube::OwnerReference& reference) {
          return (!controller->controller || controller->controller == reference.controller) &&
                 Agrees(controller->uid, reference.uid) &&
                 Agrees(controller->name, reference.name) &&
                 Agrees(controller->kind, reference.kind) &&
                 Agrees(controller->api_version, reference.api_version);
        });
    if (!found) return false;
  }
  return !owner.label_selector || Matches(*owner.label_selector, pod.metadata.labels);
}

bool IsFor(const api::Reservation& reservation, const kube::Pod& pod,
           const std::string& wanted_name) {
  if (reservation.spec.owners.empty()) return reservation.metadata.name == wanted_name;
  return std::ranges::any_of(reservation.spec.owners,
                             [&](const auto& owner) { return IsFor(owner, pod); });
}

bool IsExact(const std::vector<std::string>& names, const kube::ResourceList& asked,
             const kube::ResourceList& reserved) {
  for (const std::string& name : names) {
    if (!asked.contains(name) && !reserved.contains(name)) return true;
    if (!asked.contains(name) || !reserved.contains(name)) return false;
    if (asked.at(name) != reserved.at(name)) return false;
  }
  return true;
}

// Labels of its node, with its own over them, and its name, as if it were a node.
PlainNode AsNode(const PlainReservation& reservation, const PlainNode& node) {
  kube::Node object;
  object.metadata.name = reservation.name();
  object.metadata.labels = node.labels();
  for (const auto& [key, value] : reservation.object->metadata.labels) {
    object.metadata.labels.Mutable()[key] = value;
  }
  return PlainNodeOf(std::make_shared<const kube::Node>(std::move(object)));
}

bool Selects(const api::ReservationAffinity& affinity, const PlainNode& reservation) {
  for (const auto& [key, value] : affinity.reservation_selector) {
    const auto found = reservation.labels().find(key);
    if (found == reservation.labels().end() || found->second != value) return false;
  }
  return !affinity.required ||
         MatchesSelector({affinity.required->reservation_selector_terms}, reservation);
}

// What a pod says of reservations.
struct Wishes {
  std::optional<api::ReservationAffinity> affinity;
  std::vector<std::string> exact;
  kube::ResourceList requests;
};

// Counts one that is for the pod, and says whether the pod may use it.
bool MayUse(const Wishes& pod, const PlainReservation& reservation, const PlainNode& node,
            ReservationMatches::Counts& counts) {
  const api::Reservation& object = *reservation.object;
  const auto& affinity = pod.affinity;
  const bool exact = IsExact(pod.exact, pod.requests, reservation.reserved);
  ++counts.owner;
  if (affinity && !affinity->name.empty()) {
    if (affinity->name != reservation.name()) {
      ++counts.name_unmatched;
    } else if (!exact) {
      ++counts.not_exact;
    } else {
      ++counts.name_matched;
      return true;
    }
    return false;
  }
  const kube::Taint cordon{.key = "node.kubernetes.io/unschedulable", .effect = "NoSchedule"};
  const bool closed = object.spec.unschedulable || object.metadata.deletion_timestamp;
  if (closed && !(affinity && IsTolerated(affinity->tolerations, cordon))) {
    ++counts.unschedulable;
    return false;
  }
  for (const kube::Taint& taint : object.spec.taints) {
    if (!affinity || taint.effect == "PreferNoSchedule") continue;
    if (IsTolerated(affinity->tolerations, taint)) continue;
    ++counts.taints[fmt::format("{{{}: {}}}", taint.key, taint.value)];
    return false;
  }
  if (affinity && !Selects(*affinity, AsNode(reservation, node))) {
    ++counts.affinity;
    return false;
  }
  if (!exact) ++counts.not_exact;
  return exact;
}

}  // namespace

ReservationMatches MatchReservations(const View& view, const PlainPod& pod) {
  ReservationMatches matches;
  const kube::Annotations& annotations = pod.meta().annotations;
  const auto affinity = api::ReservationAffinityOf(annotations);
  const auto exact = api::ExactMatchResourcesOf(annotations);
  if (!affinity.ok()) matches.error = Message(affinity.status());
  if (!exact.ok()) matches.error = Message(exact.status());
  if (!matches.error.empty()) return matches;
  const std::string* ignored = kube::FindValue(pod.meta().labels, api::kLabelReservationIgnored);
  matches.ignores_all = ignored != nullptr && *ignored == "true";
  matches.must_use = affinity->has_value();
  if (matches.must_use) matches.wanted_name = (*affinity)->name;
  const Wishes wishes{*affinity, *exact, kube::PodRequests(*pod.pod)};

  const auto wanted = view.cluster.objects.reservations.Find(matches.wanted_name);
  for (PlainReservation& each : OpenReservations(view)) {
    const PlainNode& node = view.cluster.nodes.at(each.node());
    if (!MatchesRequiredNodes(pod, node)) continue;
    // The node of the one that is wanted is the only one that is looked at.
    if (!matches.wanted_name.empty() && wanted != nullptr && !wanted->status.node_name.empty() &&
        wanted->status.node_name != node.name()) {
      continue;
    }
    const bool used = !OwnersOf(view, each).empty();
    const bool usable =
        matches.ignores_all || (IsFor(*each.object, *pod.pod, matches.wanted_name) &&
                                MayUse(wishes, each, node, matches.counts[node.name()]));
    if (usable || (used && !matches.must_use)) matches.recorded.insert(node.name());
    if (usable) matches.usable[node.name()].push_back(std::move(each));
  }
  return matches;
}

}  // namespace koord::scheduler::reference
