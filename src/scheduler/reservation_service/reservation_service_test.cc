#include "scheduler/reservation_service/reservation_service.h"

#include <gtest/gtest.h>

#include "kube/yaml.h"
#include "scheduler/testing/plugin_bed.h"

namespace koord::scheduler::reservation_service_test {
namespace {

class ReservationServiceTest : public testing::Test {
 protected:
  ReservationServiceTest() {
    bed_.AddNode("{metadata: {name: n1}, status: {allocatable: {cpu: '10'}}}");
    bed_.objects.reservations.Set(FromYaml<api::Reservation>(
        R"({metadata: {name: r, uid: u, labels: {team.example.com/name: web, other: x},
                       annotations: {node.koordinator.sh/reservation: '{"resources":{"cpu":"1"}}'}},
            spec: {owners: [{labelSelector: {matchLabels: {app: web}}}], allocateOnce: false,
                   allocatePolicy: Restricted},
            status: {phase: Available, nodeName: n1, allocatable: {cpu: 6, memory: 4Gi}}})"));
    bed_.AddPod(
        "{metadata: {name: u, uid: u, annotations: {scheduling.koordinator.sh/reserve-pod: 'true', "
        "scheduling.koordinator.sh/reservation-name: r}}, spec: {nodeName: n1, containers: "
        "[{ports: [{hostPort: 80, containerPort: 80, protocol: TCP}], resources: {requests: {cpu: "
        "6, memory: 4Gi}}}]}}");
    bed_.AddPod(
        "{metadata: {name: p, uid: p, annotations: "
        "{scheduling.koordinator.sh/reservation-allocated: '{\"name\":\"r\",\"uid\":\"u\"}'}}, "
        "spec: {nodeName: n1, containers: [{resources: {requests: {cpu: 2, ephemeral-storage: "
        "1Gi}}}]}}");
  }

  kube::Json Ask(std::string_view path, const ServicePlugin::Params& params,
                 const ReservationArgs& args = {}) {
    for (const auto& endpoint : ReservationEndpoints(bed_.context, args)) {
      if (endpoint.path == path) return endpoint.answer(params).value();
    }
    return nullptr;
  }

  PluginBed bed_;
};

kube::Json Yaml(std::string_view text) { return *kube::ParseYaml(text); }

TEST_F(ReservationServiceTest, TellsWhatANodeReservesAndWhoUsesIt) {
  EXPECT_EQ(
      Ask("nodeReservations/{node}", {{"node", "n1"}}),
      Yaml("{items: [{name: r, uid: u, kind: Reservation, available: true, allocatable: {cpu: "
           "'6', memory: 4Gi}, reserved: {cpu: '1'}, allocated: {cpu: '2'}, "
           "allocatablePorts: {0.0.0.0: [TCP/80]}, availableResource: {MilliCPU: 3000, "
           "Memory: 4294967296}, allocatedResource: {MilliCPU: 2000}, owners: "
           "[{labelSelector: {matchLabels: {app: web}}}], allocatePolicy: Restricted, "
           "assignedPods: [{Namespace: default, Name: p, UID: p, Requests: {cpu: '2', "
           "ephemeral-storage: 1Gi}}]}]}"));
}

TEST_F(ReservationServiceTest, ANodeThatIsNotKnownHasNothing) {
  EXPECT_EQ(Ask("nodeReservations/{node}", {{"node", "n2"}}), Yaml("{}"));
}

TEST_F(ReservationServiceTest, ShowsTheIndex) {
  ReservationArgs args;
  EXPECT_EQ(Ask("reservationSelectorIndex", {}, args),
            Yaml("{enabled: false, prefixes: [], keys: [], indexedReservations: 0, byPrefix: {}, "
                 "byKey: {}}"));
  args.reservation_selector_index = {
      .enabled = true, .key_prefixes = {"team.example.com/"}, .keys = {"other"}};
  const kube::Json one = Yaml("{nodes: 1, reservations: 1, byNode: {n1: 1}}");
  const kube::Json all = Ask("reservationSelectorIndex", {{"detail", "true"}}, args);
  EXPECT_EQ(*kube::Find(all, {"byPrefix", "team.example.com/"}), one);
  EXPECT_EQ(*kube::Find(all, {"byKey", "other"}), one);
  EXPECT_EQ(*kube::Find(all, {"byKeyValue", "team.example.com/name=web"}), one);
  EXPECT_EQ(*kube::Find(all, {"indexedReservations"}), kube::Json(1));
}

}  // namespace
}  // namespace koord::scheduler::reservation_service_test
