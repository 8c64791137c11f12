#include "manager/webhook/review/review.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"

namespace koord::manager::webhook::review_test {
namespace {

using testing::HasSubstr;

TEST(ReviewTest, ReadsWhatTheServerAsks) {
  const auto review = ReadReview("application/json; charset=utf-8", R"({
    "apiVersion": "admission.k8s.io/v1beta1", "kind": "AdmissionReview",
    "request": {"uid": "u1", "operation": "UPDATE", "namespace": "n", "name": "p", "dryRun": true,
      "resource": {"group": "", "version": "v1", "resource": "pods"}, "subResource": "status",
      "userInfo": {"username": "alice", "groups": ["a", "b"]},
      "object": {"x": 1}, "oldObject": {"x": 2}}})");
  ASSERT_TRUE(review.ok()) << Message(review.status());
  const Request& request = review->request;
  EXPECT_EQ(review->api_version, "admission.k8s.io/v1beta1");
  EXPECT_EQ(request.uid, "u1");
  EXPECT_EQ(request.operation, Operation::kUpdate);
  EXPECT_EQ(request.ns, "n");
  EXPECT_EQ(request.subresource, "status");
  EXPECT_FALSE(request.IsAbout("pods"));
  EXPECT_EQ(request.user.name, "alice");
  EXPECT_EQ(request.user.groups.size(), 2u);
  EXPECT_TRUE(request.dry_run);
  EXPECT_EQ(kube::FindInt(request.object, {"x"}), 1);
  EXPECT_EQ(kube::FindInt(request.old_object, {"x"}), 2);
}

// All of a review is in one piece of memory, and so is the patch that answers it.
TEST(ReviewTest, CopiesNoObject) {
  const auto review = ReadReview("application/json", R"({
    "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
    "request": {"uid": "u1", "operation": "UPDATE", "object": {"x": 1}, "oldObject": {"x": 2}}})");
  ASSERT_TRUE(review.ok()) << Message(review.status());
  const kube::json::storage_ptr& memory = review->request.object.storage();
  EXPECT_NE(memory.get(), kube::json::storage_ptr().get());
  EXPECT_EQ(review->request.old_object.storage().get(), memory.get());
  const Response response = Response::Patched(review->request.old_object, review->request.object);
  EXPECT_EQ(response.patch.storage().get(), memory.get());
  EXPECT_EQ(kube::Serialize(response.patch), R"([{"op":"replace","path":"/x","value":1}])");
}

struct BadCase {
  const char* name;
  const char* content_type;
  std::string body;
  const char* error;
};

class BadReviewTest : public testing::TestWithParam<BadCase> {};

TEST_P(BadReviewTest, IsNamed) {
  const auto review = ReadReview(GetParam().content_type, GetParam().body);
  ASSERT_FALSE(review.ok());
  EXPECT_THAT(std::string(Message(review.status())), HasSubstr(GetParam().error));
}

constexpr char kJsonType[] = "application/json";
std::string WithRequest(std::string_view request) {
  return fmt::format(
      R"({{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{}}})", request);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, BadReviewTest,
    testing::Values(
        BadCase{"empty", kJsonType, "", "request body is empty"},
        BadCase{"not_json_type", "text/plain", "{}", "contentType=\"text/plain\""},
        BadCase{"not_json", kJsonType, "{", ""},
        BadCase{"deep", kJsonType, std::string(100, '['), ""},
        BadCase{"a_list", kJsonType, "[]", "expected an AdmissionReview"},
        BadCase{"other_kind", kJsonType, R"({"apiVersion":"v1","kind":"Pod"})", "found \"Pod\""},
        BadCase{"no_request", kJsonType, WithRequest("null"), "without a request"},
        BadCase{"operation", kJsonType, WithRequest(R"({"operation":"PATCH"})"),
                "request.operation: \"PATCH\""},
        BadCase{"uid", kJsonType, WithRequest(R"({"uid":1,"operation":"CREATE"})"),
                "request.uid: expected a string"},
        BadCase{"groups", kJsonType,
                WithRequest(R"({"operation":"CREATE","userInfo":{"groups":"all"}})"),
                "request.userInfo.groups"},
        BadCase{"object", kJsonType, WithRequest(R"({"operation":"CREATE","object":[1]})"),
                "request.object: expected an object"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(ReviewTest, NoMoreWarningsThanTheServerPassesOn) {
  EXPECT_EQ(BoundedWarnings({"a", "b"}), (std::vector<std::string>{"a", "b"}));
  const auto longs = BoundedWarnings({std::string(256, 'x'), std::string(257, 'x')});
  EXPECT_EQ(longs[0], std::string(256, 'x'));
  EXPECT_EQ(longs[1], std::string(253, 'x') + "...");
  std::string letters = "x";  // so that the limit falls into the middle of one
  for (int i = 0; i < 200; ++i) letters += "\u00e4";
  EXPECT_TRUE(IsValidUtf8(BoundedWarnings({letters})[0]));

  const auto many = BoundedWarnings(std::vector<std::string>(1000, std::string(100, 'x')));
  size_t total = 0;
  for (const std::string& each : many) total += each.size();
  EXPECT_LE(total, 4096u);
  EXPECT_EQ(many.back(), std::to_string(1000 - (many.size() - 1)) + " more warnings");
}

TEST(ReviewTest, WritesAnswers) {
  EXPECT_EQ(WriteReview("admission.k8s.io/v1", "u", Response::Allowed()),
            R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1",)"
            R"("response":{"uid":"u","allowed":true,"status":{"code":200}}})");
  EXPECT_EQ(WriteReview("admission.k8s.io/v1beta1", "u", Response::Denied("no")),
            R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1beta1",)"
            R"("response":{"uid":"u","allowed":false,)"
            R"("status":{"code":403,"message":"no","reason":"Forbidden"}}})");
  const Response patched = Response::Patched({{"a", 1}}, {{"a", 2}});
  EXPECT_EQ(WriteReview("admission.k8s.io/v1", "u", patched),
            R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1",)"
            R"("response":{"uid":"u","allowed":true,"status":{"code":200},)"
            R"("patchType":"JSONPatch","patch":")" +
                Base64Encode(R"([{"op":"replace","path":"/a","value":2}])") + R"("}})");
  EXPECT_TRUE(Response::Patched({{"a", 1}}, {{"a", 1}}).patch.is_null());
}

}  // namespace
}  // namespace koord::manager::webhook::review_test
