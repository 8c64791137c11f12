#pragma once
#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>

#include "scheduler/cluster/reserve_pod.h"
#include "scheduler/plugins/reservation/reservation.h"
#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler {

// A small cluster with reservations, and the plugin. Reservations are shown to the plugin and to
// the ledger as ReservationFeed does.
class ReservationBed : public PluginBed {
 public:
  explicit ReservationBed(const ReservationArgs& args = {}) : plugin(context, args) {}

  ReservationPlugin plugin;

  NodeRow Node(std::string_view name, int cpu, std::string_view more = "") {
    return AddNode(
        fmt::format("{{metadata: {{name: {0}, labels: {{kubernetes.io/hostname: {0}}}}}, status: "
                    "{{allocatable: "
                    "{{cpu: {1}, memory: 64Gi{2}}}}}}}",
                    name, cpu, more));
  }

  // `spec` and `metadata` are further members; available on `node`, or without one.
  std::shared_ptr<const api::Reservation> Reserve(std::string_view name, std::string_view node,
                                                  std::string_view allocatable,
                                                  std::string_view spec = "",
                                                  std::string_view metadata = "") {
    const std::string status =
        node.empty() ? "{}"
                     : fmt::format("{{phase: Available, nodeName: {}, allocatable: {{{}}}}}", node,
                                   allocatable);
    return Set(
        fmt::format("{{metadata: {{name: {0}, uid: uid-of-{0}{1}}}, spec: {{ttl: 0s, "
                    "template: {{spec: {{containers: [{{resources: {{requests: "
                    "{{{2}}}}}}}]}}}}{3}}}, status: {4}}}",
                    name, metadata, allocatable, spec, status));
  }
  std::shared_ptr<const api::Reservation> Set(std::string_view yaml) {
    auto reservation = FromYaml<api::Reservation>(yaml);
    objects.reservations.Set(reservation);
    const auto pod = MakeReservePod(*reservation, "koord-scheduler");
    if (pod->spec.node_name.empty() || IsTerminal(*pod)) {
      ledger.RemovePod(pod->metadata.uid);
    } else {
      ledger.SetPod(pod);
    }
    return reservation;
  }
  void Delete(std::string_view name) {
    objects.reservations.Remove({"", std::string(name)});
    ledger.RemovePod(fmt::format("uid-of-{}", name));
  }
  // A pod on a node that draws from a reservation.
  void Owner(std::string_view name, std::string_view node, std::string_view requests,
             std::string_view reservation) {
    AddPod(fmt::format(
        "{{metadata: {{name: {0}, annotations: {{scheduling.koordinator.sh/reservation-allocated: "
        "'{{\"name\":\"{3}\",\"uid\":\"uid-of-{3}\"}}'}}}}, spec: {{nodeName: {1}, containers: "
        "[{{resources: {{requests: {{{2}}}}}}}]}}}}",
        name, node, requests, reservation));
  }
  static std::shared_ptr<const kube::Pod> Pod(std::string_view requests,
                                              std::string_view labels = "",
                                              std::string_view annotations = "",
                                              std::string_view spec = "") {
    return PodOf(fmt::format(
        "{{metadata: {{name: p, labels: {{{1}}}, annotations: {{{2}}}}}, spec: {{containers: "
        "[{{resources: {{requests: {{{0}}}}}}}]{3}}}}}",
        requests, labels, annotations, spec));
  }
  static std::string Affinity(std::string_view json) {
    return fmt::format("scheduling.koordinator.sh/reservation-affinity: '{}'", json);
  }

  std::unique_ptr<PodQuery> Query(const std::shared_ptr<const kube::Pod>& pod) {
    return PluginBed::Query(plugin, pod);
  }
  std::string Check(const PodQuery& query, std::string_view node) {
    return PluginBed::Check(plugin, query, node);
  }
  // The name of the reservation that a pod would get at Reserve; "none", or why it fails.
  std::string Nominated(const std::shared_ptr<const kube::Pod>& pod, const PodQuery& query,
                        std::string_view node) {
    Attempt attempt{.pod = pod, .shape = query.shared_shape()};
    attempt.row = *ledger.nodes().Find(node);
    attempt.node = node;
    const Verdict verdict = plugin.Reserve(attempt);
    if (!verdict.ok()) return verdict.Message();
    if (attempt.held == nullptr || !attempt.held->draws_from) return "none";
    return attempt.held->draws_from->name;
  }
};

}  // namespace koord::scheduler
