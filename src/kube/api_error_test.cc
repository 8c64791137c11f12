#include "kube/api_error.h"

#include <gtest/gtest.h>

namespace koord::kube::api_error_test {
namespace {

ApiError Sample() {
  ApiError error = ApiError::Of(422, "Pod \"p\" is invalid: spec: Required value");
  error.name = "p";
  error.kind = "Pod";
  error.causes = {{"FieldValueRequired", "Required value", "spec"}};
  return error;
}

TEST(ApiError, Json) {
  EXPECT_EQ(Serialize(Sample().ToJson()),
            R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
            R"("message":"Pod \"p\" is invalid: spec: Required value","reason":"Invalid",)"
            R"("details":{"name":"p","kind":"Pod","causes":[{"reason":"FieldValueRequired",)"
            R"("message":"Required value","field":"spec"}]},"code":422})");
}

TEST(ApiError, DetailsAreSentWhenAskedForOrNeeded) {
  ApiError error = ApiError::Of(404, "gone");
  EXPECT_EQ(FindObject(error.ToJson(), {"details"}), nullptr);
  error.has_details = true;
  EXPECT_NE(FindObject(error.ToJson(), {"details"}), nullptr);
  error.has_details = false;
  error.retry_after_seconds = 3;
  EXPECT_EQ(FindInt(error.ToJson(), {"details", "retryAfterSeconds"}), 3);
}

TEST(ApiError, TravelsInAStatus) {
  const Status status = ToStatus(Sample());
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(Message(status), Sample().message);
  const std::optional<ApiError> back = AsApiError(status);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->code, 422);
  EXPECT_EQ(back->reason, "Invalid");
  EXPECT_EQ(back->name, "p");
  ASSERT_EQ(back->causes.size(), 1u);
  EXPECT_EQ(back->causes[0].field, "spec");
  EXPECT_TRUE(back->has_details);
}

TEST(ApiError, OtherStatusesHaveNone) {
  for (const Status& status : {absl::OkStatus(), absl::UnavailableError("down")}) {
    EXPECT_FALSE(AsApiError(status));
    EXPECT_EQ(HttpCode(status), 0);
    EXPECT_EQ(ErrorReason(status), "");
    EXPECT_FALSE(kube::IsNotFound(status));
  }
}

TEST(ApiError, ReasonOfACode) {
  EXPECT_EQ(ApiError::Of(400, "x").reason, "BadRequest");
  EXPECT_EQ(ApiError::Of(415, "x").reason, "UnsupportedMediaType");
  EXPECT_EQ(ApiError::Of(418, "x").reason, "");
}

TEST(ApiError, FromBody) {
  const ApiError status = ApiError::FromBody(
      409, R"({"kind":"Status","message":"m","reason":"AlreadyExists","code":409})");
  EXPECT_EQ(status.reason, "AlreadyExists");
  EXPECT_EQ(status.message, "m");
  const ApiError text = ApiError::FromBody(404, "404 page not found\n");
  EXPECT_EQ(text.reason, "NotFound");
  EXPECT_EQ(text.message, "404 page not found\n");
  EXPECT_EQ(ApiError::FromBody(503, "").message, "the server answered 503");
  EXPECT_EQ(ApiError::FromBody(500, R"({"kind":"Pod"})").reason, "InternalError");
  EXPECT_EQ(ApiError::FromBody(500, std::string(5000, 'x')).message.size(), 1024u);
}

TEST(ApiError, Questions) {
  const auto with = [](int code, const char* reason) {
    ApiError error;
    error.code = code;
    error.reason = reason;
    return ToStatus(error);
  };
  EXPECT_TRUE(kube::IsNotFound(with(404, "NotFound")));
  EXPECT_TRUE(kube::IsAlreadyExists(with(409, "AlreadyExists")));
  EXPECT_FALSE(IsConflict(with(409, "AlreadyExists")));
  EXPECT_TRUE(IsConflict(with(409, "Conflict")));
  EXPECT_TRUE(IsExpired(with(410, "Expired")));
  EXPECT_TRUE(IsExpired(with(410, "Gone")));
  EXPECT_TRUE(IsTooManyRequests(with(429, "TooManyRequests")));
  EXPECT_FALSE(IsTooManyRequests(with(503, "ServiceUnavailable")));
}

}  // namespace
}  // namespace koord::kube::api_error_test
