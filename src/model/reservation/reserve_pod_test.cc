#include "model/reservation/reserve_pod.h"

#include <gtest/gtest.h>

#include "model/reservation/reservation_testing.h"

namespace koord::model::reserve_pod_test {
namespace {

struct PodCase {
  const char* name;
  const char* reservation;
  const char* pod;
};
void PrintTo(const PodCase& test, std::ostream* out) { *out << test.name; }

class ReservePodTest : public testing::TestWithParam<PodCase> {};

TEST_P(ReservePodTest, StandsForItsReservation) {
  const kube::Pod made = ReservePodOf(ReservationOf(GetParam().reservation), "first-profile");
  EXPECT_EQ(kube::ToYaml(kube::Encode(made)), kube::ToYaml(kube::Encode(PodOf(GetParam().pod))));
}

const PodCase kPodCases[] = {
    {"TV1",
     R"({metadata: {name: r1, uid: u-1, labels: {a: R, koordinator.sh/priority: '500'}},
         spec: {template: {metadata: {labels: {a: T, b: T}}, spec: {nodeName: n7, overhead: {cpu: 1},
                containers: [{name: c, resources: {requests: {cpu: 2}}}]}}},
         status: {phase: Available, nodeName: n7, allocatable: {cpu: 4}}})",
     R"({metadata: {name: u-1, uid: u-1, namespace: default,
                    labels: {a: R, b: T, koordinator.sh/priority: '500'},
                    annotations: {scheduling.koordinator.sh/reserve-pod: 'true',
                                  scheduling.koordinator.sh/reservation-name: r1,
                                  scheduling.koordinator.sh/reservation-node: n7}},
         spec: {nodeName: n7, priority: 500, schedulerName: first-profile, containers: [
           {name: c},
           {name: __internal_fake_container__,
            resources: {requests: {cpu: 4}, limits: {cpu: 4}}}]}})"},
    {"one that waits, and what its template says",
     R"({metadata: {name: r, uid: u, resourceVersion: '7', creationTimestamp: '2026-01-01T00:00:00Z',
                    annotations: {x: R}},
         spec: {preAllocation: true, template: {
           metadata: {name: t, namespace: ns, annotations: {x: T, y: T}},
           spec: {nodeName: pinned, priority: 5, schedulerName: mine, hostNetwork: true,
                  containers: [{name: c, resources: {requests: {cpu: 2}}}]}}}})",
     R"({metadata: {name: u, uid: u, namespace: ns, resourceVersion: '7',
                    creationTimestamp: '2026-01-01T00:00:00Z',
                    annotations: {x: R, y: T, scheduling.koordinator.sh/reserve-pod: 'true',
                                  scheduling.koordinator.sh/reservation-name: r,
                                  scheduling.koordinator.sh/reservation-node: pinned,
                                  scheduling.koordinator.sh/is-pre-allocation: 'true'}},
         spec: {priority: 5, schedulerName: mine, hostNetwork: true,
                containers: [{name: c, resources: {requests: {cpu: 2}}}]}})"},
    {"a priority that is none: not to be preempted",
     R"({metadata: {name: r, uid: u, labels: {koordinator.sh/priority: '3000000000'}},
         spec: {resources: {requests: {cpu: 4}}}})",
     R"({metadata: {name: u, uid: u, namespace: default,
                    labels: {koordinator.sh/priority: '3000000000'},
                    annotations: {scheduling.koordinator.sh/reserve-pod: 'true',
                                  scheduling.koordinator.sh/reservation-name: r}},
         spec: {priority: 2147483647, schedulerName: first-profile,
                containers: [{name: reserve, resources: {requests: {cpu: 4}}}]}})"},
    {"available, and the template says as much",
     R"({metadata: {name: r, uid: u},
         spec: {template: {spec: {overhead: {cpu: 500m},
                containers: [{name: c, resources: {requests: {cpu: 1500m}}}]}}},
         status: {phase: Available, nodeName: n, allocatable: {cpu: 2}}})",
     R"({metadata: {name: u, uid: u, namespace: default,
                    annotations: {scheduling.koordinator.sh/reserve-pod: 'true',
                                  scheduling.koordinator.sh/reservation-name: r}},
         spec: {nodeName: n, priority: 2147483647, schedulerName: first-profile,
                overhead: {cpu: 500m},
                containers: [{name: c, resources: {requests: {cpu: 1500m}}}]}})"},
    {"what the template asks for beyond allocatable stays reserved",
     R"({metadata: {name: r, uid: u},
         spec: {template: {spec: {
           initContainers: [{name: i, resources: {requests: {memory: 2Gi}}}],
           containers: [{name: c, resources: {requests: {cpu: 1, memory: 1Gi}}}]}}},
         status: {phase: Available, nodeName: n, allocatable: {cpu: 2}}})",
     R"({metadata: {name: u, uid: u, namespace: default,
                    annotations: {scheduling.koordinator.sh/reserve-pod: 'true',
                                  scheduling.koordinator.sh/reservation-name: r}},
         spec: {nodeName: n, priority: 2147483647, schedulerName: first-profile,
                initContainers: [{name: i}],
                containers: [{name: c}, {name: __internal_fake_container__,
                  resources: {requests: {cpu: 2, memory: 2Gi},
                              limits: {cpu: 2, memory: 2Gi}}}]}})"},
    {"one that has succeeded",
     "{metadata: {name: r, uid: u}, spec: {}, status: {phase: Succeeded, nodeName: n}}",
     R"({metadata: {name: u, uid: u, namespace: default,
                    annotations: {scheduling.koordinator.sh/reserve-pod: 'true',
                                  scheduling.koordinator.sh/reservation-name: r}},
         spec: {nodeName: n, priority: 2147483647, schedulerName: first-profile},
         status: {phase: Succeeded}})"},
    {"one that has failed and is being deleted",
     "{metadata: {name: r, uid: u, deletionTimestamp: '2026-01-01T00:00:00Z'}, status: {phase: "
     "Failed}}",
     R"({metadata: {name: u, uid: u, namespace: default,
                    deletionTimestamp: '2026-01-01T00:00:00Z',
                    annotations: {scheduling.koordinator.sh/reserve-pod: 'true',
                                  scheduling.koordinator.sh/reservation-name: r}},
         spec: {priority: 2147483647, schedulerName: first-profile}, status: {phase: Failed}})"},
};
INSTANTIATE_TEST_SUITE_P(Pods, ReservePodTest, testing::ValuesIn(kPodCases));

}  // namespace
}  // namespace koord::model::reserve_pod_test
