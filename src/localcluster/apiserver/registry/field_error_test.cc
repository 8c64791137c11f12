#include "localcluster/apiserver/registry/field_error.h"

#include <gtest/gtest.h>

#include "localcluster/apiserver/registry/field_path.h"

namespace koord::apiserver::field_error_test {
namespace {

TEST(FieldErrorTest, EveryFormAsKubernetesPrintsIt) {
  struct Case {
    FieldError error;
    const char* text;
    const char* reason;
  };
  const Case cases[] = {
      {Required("f"), "f: Required value", "FieldValueRequired"},
      {Required("f", "why"), "f: Required value: why", "FieldValueRequired"},
      {Invalid("f", kube::Json(11), "too large"), "f: Invalid value: 11: too large",
       "FieldValueInvalid"},
      {Invalid("f", kube::Json("a\"b"), "bad"), "f: Invalid value: \"a\\\"b\": bad",
       "FieldValueInvalid"},
      {NotSupported("f", kube::Json("x"), {"a", "b"}),
       "f: Unsupported value: \"x\": supported values: \"a\", \"b\"", "FieldValueNotSupported"},
      {Forbidden("f", "no"), "f: Forbidden: no", "FieldValueForbidden"},
      {Duplicate("f", kube::Json("x")), "f: Duplicate value: \"x\"", "FieldValueDuplicate"},
      {NotFoundValue("f", kube::Json("x")), "f: Not found: \"x\"", "FieldValueNotFound"},
      {TooLong("f", 5), "f: Too long: may not be more than 5 bytes", "FieldValueTooLong"},
      {TooMany("f", 9, 5), "f: Too many: 9: must have at most 5 items", "FieldValueTooMany"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(c.error.ToString(), c.text);
    EXPECT_EQ(c.error.reason(), c.reason);
  }
}

TEST(FieldErrorTest, OneErrorStandsAloneSeveralInBrackets) {
  const auto one = InvalidError("Pod", "", "p", {Required("spec.containers")});
  EXPECT_EQ(one.code, 422);
  EXPECT_EQ(one.reason, "Invalid");
  EXPECT_EQ(one.message, "Pod \"p\" is invalid: spec.containers: Required value");
  const auto two = InvalidError("Foo", "ex.io", "f", {Required("a"), Required("b"), Required("a")});
  EXPECT_EQ(two.message, "Foo.ex.io \"f\" is invalid: [a: Required value, b: Required value]");
  EXPECT_EQ(two.group, "ex.io");
  ASSERT_EQ(two.causes.size(), 3u);
  EXPECT_EQ(two.causes[1].field, "b");
  EXPECT_EQ(two.causes[1].message, "Required value");
}

TEST(FieldPathTest, SpellsTheWay) {
  const FieldPath spec("spec");
  const FieldPath containers = spec / "containers";
  EXPECT_EQ((containers[2] / "name").ToString(), "spec.containers[2].name");
  EXPECT_EQ(spec.Key("a.b/c").ToString(), "spec[a.b/c]");
}

}  // namespace
}  // namespace koord::apiserver::field_error_test
