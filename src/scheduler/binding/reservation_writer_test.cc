#include "scheduler/binding/reservation_writer.h"

#include <gtest/gtest.h>

#include "api/keys.h"
#include "base/virtual_loop.h"
#include "kube/transport/in_process_transport.h"
#include "kube/transport/scripted_handler.h"
#include "scheduler/binding/object_writers.h"

namespace koord::scheduler::reservation_writer_test {
namespace {

constexpr const char* kPath = "/apis/scheduling.koordinator.sh/v1alpha1/reservations/r";

class ReservationWriterTest : public testing::Test {
 protected:
  ReservationWriterTest() {
    pod_.metadata.name = pod_.metadata.uid = "u1";
    pod_.metadata.annotations = {{std::string(api::kAnnotationReservePod), "true"},
                                 {std::string(api::kAnnotationReservationName), "r"}};
  }

  void Show(std::string message) {
    writer().ShowFailure(pod_, {.message = std::move(message)});
    loop_.RunReady();
  }
  // Answers the question for the reservation; what is written then.
  kube::ScriptedHandler::Exchange Written(kube::json::array conditions, std::string uid = "u1") {
    auto read = server_.Take();
    EXPECT_EQ(read.request.method, "GET");
    EXPECT_EQ(read.request.target, kPath);
    read.Answer({{"metadata", {{"name", "r"}, {"uid", std::move(uid)}, {"resourceVersion", "7"}}},
                 {"status", {{"phase", "Pending"}, {"conditions", std::move(conditions)}}}});
    loop_.RunReady();
    return server_.Take();
  }
  static kube::Json ConditionIn(const kube::ScriptedHandler::Exchange& exchange, size_t i) {
    return kube::FindArray(*kube::ParseJson(exchange.request.body), {"status", "conditions"})
        ->at(i);
  }
  ObjectWriter& writer() { return writers_.For(pod_); }

  VirtualLoop loop_;
  kube::ScriptedHandler server_;
  kube::Client client_{
      loop_, std::make_shared<kube::InProcessTransport>(loop_, server_), {.qps = 0}};
  ObjectWriters writers_{client_};
  kube::Pod pod_;
};

TEST_F(ReservationWriterTest, EventsAreAboutTheReservation) {
  const kube::ObjectReference reference = writer().ReferenceTo(pod_);
  EXPECT_EQ(reference.kind, "Reservation");
  EXPECT_EQ(reference.name, "r");
  EXPECT_EQ(reference.ns, "");
  EXPECT_EQ(reference.uid, "u1");
  EXPECT_EQ(reference.api_version, "scheduling.koordinator.sh/v1alpha1");
}

TEST_F(ReservationWriterTest, APodWithTheAnnotationAloneIsAPod) {
  pod_.metadata.name = "p";
  EXPECT_EQ(writer().ReferenceTo(pod_).kind, "Pod");
}

TEST_F(ReservationWriterTest, MergesMetadataIntoTheVeryReservation) {
  writer().PatchMetadata(pod_, {{"annotations", {{"cpus", "0-3"}}}}, [](const auto&) {});
  loop_.RunReady();
  auto exchange = server_.Take();
  EXPECT_EQ(exchange.request.method, "PATCH");
  EXPECT_EQ(exchange.request.target, kPath);
  EXPECT_EQ(*kube::ParseJson(exchange.request.body),
            (kube::Json{{"metadata", {{"annotations", {{"cpus", "0-3"}}}, {"uid", "u1"}}}}));
}

TEST_F(ReservationWriterTest, AFailureIsAConditionAndThePhaseStays) {
  Show("no room");
  auto exchange = Written({});
  EXPECT_EQ(exchange.request.method, "PATCH");
  EXPECT_EQ(exchange.request.target, std::string(kPath) + "/status");
  const kube::Json patch = *kube::ParseJson(exchange.request.body);
  EXPECT_EQ(kube::FindString(patch, {"metadata", "resourceVersion"}), "7");
  EXPECT_EQ(kube::Find(patch, {"status", "phase"}), nullptr);
  const kube::Json condition = ConditionIn(exchange, 0);
  EXPECT_EQ(kube::FindString(condition, {"type"}), "Scheduled");
  EXPECT_EQ(kube::FindString(condition, {"status"}), "False");
  EXPECT_EQ(kube::FindString(condition, {"reason"}), "Unschedulable");
  EXPECT_EQ(kube::FindString(condition, {"message"}), "no room");
}

TEST_F(ReservationWriterTest, ALaterFailureKeepsSinceWhenAndAllOtherConditions) {
  Show("no room");
  const auto exchange = Written({{{"type", "Ready"}, {"status", "False"}},
                                 {{"type", "Scheduled"},
                                  {"status", "False"},
                                  {"reason", "Unschedulable"},
                                  {"message", "no nodes"},
                                  {"lastTransitionTime", "2020-01-01T00:00:00Z"}}});
  EXPECT_EQ(kube::FindString(ConditionIn(exchange, 0), {"type"}), "Ready");
  const kube::Json condition = ConditionIn(exchange, 1);
  EXPECT_EQ(kube::FindString(condition, {"message"}), "no room");
  EXPECT_EQ(kube::FindString(condition, {"lastTransitionTime"}), "2020-01-01T00:00:00Z");
  EXPECT_NE(kube::FindString(condition, {"lastProbeTime"}), "");
}

TEST_F(ReservationWriterTest, OneThatWasScheduledStaysSo) {
  Show("no room");
  const kube::Json condition = ConditionIn(
      Written({{{"type", "Scheduled"}, {"status", "True"}, {"reason", "Scheduled"}}}), 0);
  EXPECT_EQ(kube::FindString(condition, {"status"}), "True");
  EXPECT_EQ(kube::FindString(condition, {"reason"}), "Scheduled");
}

TEST_F(ReservationWriterTest, WhatOthersWriteMeanwhileIsNotLost) {
  Show("no room");
  Written({}).Fail({.code = 409, .reason = "Conflict", .message = "changed"});
  loop_.RunReady();
  const auto exchange = Written({{{"type", "Ready"}, {"status", "False"}}});
  EXPECT_EQ(kube::FindString(ConditionIn(exchange, 0), {"type"}), "Ready");
  EXPECT_EQ(kube::FindString(ConditionIn(exchange, 1), {"type"}), "Scheduled");
}

TEST_F(ReservationWriterTest, AnotherReservationOfTheSameNameIsLeftAlone) {
  Show("no room");
  auto read = server_.Take();
  read.Answer({{"metadata", {{"name", "r"}, {"uid", "u2"}, {"resourceVersion", "7"}}}});
  loop_.RunReady();
  EXPECT_EQ(server_.waiting(), 0u);
}

TEST_F(ReservationWriterTest, APromiseIsNotWritten) {
  writer().ShowPromise(pod_, "a");
  loop_.RunReady();
  EXPECT_EQ(server_.waiting(), 0u);
}

}  // namespace
}  // namespace koord::scheduler::reservation_writer_test
