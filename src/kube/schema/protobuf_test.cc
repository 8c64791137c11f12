#include "kube/schema/protobuf.h"

#include <gtest/gtest.h>

#include "kube/api_error.h"

namespace koord::kube::protobuf_test {
namespace {

std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes += static_cast<char>(value);
}
std::string I(uint32_t number, int64_t value) {
  return Varint(number << 3) + Varint(static_cast<uint64_t>(value));
}
// A string, bytes or a message.
std::string B(uint32_t number, std::string_view bytes) {
  return Varint(number << 3 | 2) + Varint(bytes.size()) + std::string(bytes);
}
std::string Body(std::string_view version, std::string_view kind, std::string_view raw) {
  return std::string("k8s\0", 4) + B(1, B(1, version) + B(2, kind)) + B(2, raw) + B(3, "") +
         B(4, "");
}

std::string Decoded(std::string_view version, std::string_view kind, std::string_view raw) {
  const StatusOr<Json> decoded = DecodeProtobuf(Body(version, kind, raw));
  return decoded.ok() ? Serialize(*decoded) : "error: " + std::string(Message(decoded.status()));
}

// Metadata as client-go writes it: every plain scalar is on the wire.
std::string Metadata(std::string_view name) {
  return B(1, name) + B(2, "") + B(3, "default") + B(4, "") + B(5, "") + B(6, "") + I(7, 0) +
         B(8, "");
}

TEST(Protobuf, ConfigMap) {
  EXPECT_EQ(Decoded("v1", "ConfigMap",
                    B(1, Metadata("a") + B(11, B(1, "app") + B(2, "web")) +
                             B(11, B(1, "empty") + B(2, ""))) +
                        B(2, B(1, "k") + B(2, "v")) + B(2, B(1, "k2") + B(2, "v2")) +
                        B(3, B(1, "bin") + B(2, std::string_view("\0\1\2", 3))) + I(4, 0)),
            R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"default",)"
            R"("labels":{"app":"web","empty":""}},"data":{"k":"v","k2":"v2"},)"
            R"("binaryData":{"bin":"AAEC"},"immutable":false})");
}

TEST(Protobuf, Deployment) {
  const std::string limits = B(1, B(1, "cpu") + B(2, B(1, "0.5")));
  const std::string probe = B(1, B(2, B(1, "/healthz") + B(2, I(1, 1) + I(2, 0) + B(3, "http")))) +
                            I(2, 0) + I(3, 1) + I(4, 0) + I(5, 0) + I(6, 0);
  const std::string container = B(1, "c") + B(2, "nginx") + B(3, "sh") + B(3, "-c") + B(8, limits) +
                                B(10, probe) + I(16, 0) + I(17, 0) + I(18, 1);
  const std::string volume = B(1, "v") + B(2, B(2, B(1, "Memory")));
  const std::string pod_spec = B(1, volume) + B(2, container) + B(3, "") + I(11, 0);
  const std::string spec = I(1, 0) + B(2, B(1, B(1, "app") + B(2, "web"))) +
                           B(3, B(1, Metadata("")) + B(2, pod_spec)) + B(4, B(1, "")) + I(5, 0) +
                           I(7, 0);
  EXPECT_EQ(Decoded("apps/v1", "Deployment", B(1, Metadata("d")) + B(2, spec) + B(3, "")),
            R"({"apiVersion":"apps/v1","kind":"Deployment",)"
            R"("metadata":{"name":"d","namespace":"default"},)"
            R"("spec":{"replicas":0,"selector":{"matchLabels":{"app":"web"}},"template":{)"
            R"("metadata":{"namespace":"default"},"spec":{"volumes":[{"name":"v",)"
            R"("emptyDir":{"medium":"Memory"}}],"containers":[{"name":"c","image":"nginx",)"
            R"("command":["sh","-c"],"resources":{"limits":{"cpu":"500m"}},)"
            R"("livenessProbe":{"httpGet":{"path":"/healthz","port":"http"},"timeoutSeconds":1},)"
            R"("tty":true}]}},"strategy":{}},"status":{}})");
}

TEST(Protobuf, LeaseTimes) {
  EXPECT_EQ(
      Decoded("coordination.k8s.io/v1", "Lease",
              B(1, B(1, "l") + B(8, I(1, 1) + I(2, 0))) +
                  B(2, B(1, "") + I(2, 15) + B(3, I(1, 1782900000) + I(2, 123456789)) + I(5, 0))),
      R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease",)"
      R"("metadata":{"name":"l","creationTimestamp":"1970-01-01T00:00:01Z"},)"
      R"("spec":{"holderIdentity":"","leaseDurationSeconds":15,)"
      R"("acquireTime":"2026-07-01T10:00:00.123456Z","leaseTransitions":0}})");
}

TEST(Protobuf, RequiredScalarsAreWrittenEvenWhenZero) {
  EXPECT_EQ(
      Decoded("scheduling.k8s.io/v1", "PriorityClass",
              B(1, B(1, "p")) + I(2, 0) + I(3, 0) + B(4, "") + B(5, "Never")),
      R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"p"},)"
      R"("value":0,"preemptionPolicy":"Never"})");
}

TEST(Protobuf, NegativeNumbersAndIntOrString) {
  EXPECT_EQ(
      Decoded("policy/v1", "PodDisruptionBudget",
              B(2, B(1, I(1, 0) + I(2, 2) + B(3, "")) + B(3, I(1, 1) + I(2, 0) + B(3, "25%")))),
      R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget",)"
      R"("spec":{"minAvailable":2,"maxUnavailable":"25%"}})");
  EXPECT_EQ(Decoded("scheduling.k8s.io/v1", "PriorityClass", I(2, -5)),
            R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","value":-5})");
}

TEST(Protobuf, ExtraValuesAreLists) {
  EXPECT_EQ(Decoded("authorization.k8s.io/v1", "SubjectAccessReview",
                    B(2, B(3, "u") + B(5, B(1, "scopes") + B(2, B(1, "a") + B(1, "b"))))),
            R"({"apiVersion":"authorization.k8s.io/v1","kind":"SubjectAccessReview",)"
            R"("spec":{"user":"u","extra":{"scopes":["a","b"]}}})");
}

TEST(Protobuf, DeleteOptionsOfAnyVersion) {
  EXPECT_EQ(Decoded("apps/v1", "DeleteOptions", I(1, 0) + B(2, B(1, "uid")) + B(4, "Foreground")),
            R"({"apiVersion":"apps/v1","kind":"DeleteOptions","gracePeriodSeconds":0,)"
            R"("preconditions":{"uid":"uid"},"propagationPolicy":"Foreground"})");
}

TEST(Protobuf, ManagedFieldsAreJson) {
  EXPECT_EQ(Decoded("v1", "Namespace",
                    B(1, B(17, B(1, "m") + B(6, "FieldsV1") + B(7, B(1, R"({"f:a":{}})"))))),
            R"({"apiVersion":"v1","kind":"Namespace","metadata":{"managedFields":[)"
            R"({"manager":"m","fieldsType":"FieldsV1","fieldsV1":{"f:a":{}}}]}})");
}

TEST(Protobuf, SkipsUnknownFieldsOfEveryWireType) {
  EXPECT_EQ(Decoded("v1", "Namespace",
                    I(100, 7) + B(101, "x") + Varint(102 << 3 | 1) + "12345678" +
                        Varint(103 << 3 | 5) + "1234" + B(1, B(1, "n"))),
            R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"n"}})");
}

TEST(Protobuf, AcceptsPackedNumbersAndSplitMessages) {
  EXPECT_EQ(Decoded("v1", "Pod", B(2, B(10, "n")) + B(2, B(14, B(4, Varint(1) + Varint(300))))),
            R"({"apiVersion":"v1","kind":"Pod","spec":{"nodeName":"n",)"
            R"("securityContext":{"supplementalGroups":[1,300]}}})");
}

TEST(Protobuf, UnknownKindsAreUnsupported) {
  for (const auto& [version, kind] :
       {std::pair{"scheduling.koordinator.sh/v1alpha1", "Reservation"},
        {"v1", "PodSpec"},
        {"storage.k8s.io/v1", "StorageClass"},
        {"", ""}}) {
    const StatusOr<Json> decoded = DecodeProtobuf(Body(version, kind, ""));
    EXPECT_EQ(HttpCode(decoded.status()), 415) << kind;
    EXPECT_EQ(ErrorReason(decoded.status()), "UnsupportedMediaType") << kind;
  }
}

TEST(Protobuf, DamagedBodiesAreBadRequests) {
  const std::string pod = Body("v1", "Pod", B(1, B(1, "a")) + B(2, B(10, "n")));
  const std::string cases[] = {
      "",
      "k8s",
      "{}",
      pod.substr(4),
      Body("v1", "Pod", "\xff"),                       // cut inside a tag
      Body("v1", "Pod", "\x0a\x7f"),                   // longer than the rest
      Body("v1", "Pod", Varint(1 << 3 | 3)),           // a group
      Body("v1", "Pod", Varint(0)),                    // field 0
      Body("v1", "Pod", std::string(11, '\xff')),      // endless varint
      Body("v1", "Pod", I(1, 5)),                      // a number for a message
      Body("v1", "Pod", B(1, I(1, 5))),                // a number for a string
      Body("v1", "Pod", B(1, B(7, "x"))),              // a string for a number
      Body("v1", "Pod", B(1, B(1, "\xc0\x80"))),       // not UTF-8
      Body("v1", "Pod", B(1, B(11, B(1, "\xff")))),    // nor this key
      Body("v1", "Pod", B(1, B(8, I(1, INT64_MAX)))),  // a time out of range
      Body("v1", "Pod", B(2, B(2, B(8, B(1, B(1, "cpu") + B(2, B(1, "x"))))))),  // no quantity
      Body("v1", "Pod", B(1, B(17, B(7, B(1, "{"))))),                           // no JSON
  };
  for (const std::string& body : cases) {
    const StatusOr<Json> decoded = DecodeProtobuf(body);
    EXPECT_EQ(HttpCode(decoded.status()), 400) << decoded.status();
  }
  EXPECT_EQ(Decoded("v1", "Pod", B(2, B(2, B(1, "\xff")))),
            "error: unable to decode the protobuf body at spec.containers[0].name: not UTF-8");
}

TEST(Protobuf, EveryPrefixOfABodyIsHarmless) {
  const std::string body =
      Body("v1", "Pod",
           B(1, Metadata("p") + B(11, B(1, "a") + B(2, "b"))) +
               B(2, B(2, B(1, "c") + B(8, B(1, B(1, "cpu") + B(2, B(1, "1"))))) + B(10, "n")));
  for (size_t length = 0; length < body.size(); ++length) {
    (void)DecodeProtobuf(std::string_view(body).substr(0, length));
  }
}

TEST(Protobuf, NestingIsBounded) {
  std::string deep = "1";
  for (size_t i = 0; i < kMaxJsonDepth; ++i) deep = "[" + deep + "]";
  EXPECT_EQ(Decoded("v1", "Namespace", B(1, B(17, B(7, B(1, deep))))),
            "error: unable to decode the protobuf body: nested too deeply");
}

}  // namespace
}  // namespace koord::kube::protobuf_test
