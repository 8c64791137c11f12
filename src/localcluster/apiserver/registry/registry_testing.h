#pragma once
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/strings.h"
#include "kube/json.h"
#include "localcluster/apiserver/registry/field_error.h"

// What tests of the server's parts share.
namespace koord::apiserver {

// A document written in the test itself.
inline kube::Json Parse(std::string_view text) {
  auto value = kube::ParseJson(text);
  EXPECT_TRUE(value.ok()) << text;
  return value.ok() ? *std::move(value) : kube::Json();
}

// "a: Required value; b: Forbidden: no"; empty if all is well.
inline std::string ErrorsText(const FieldErrors& errors) {
  std::vector<std::string> texts;
  for (const FieldError& error : errors) texts.push_back(error.ToString());
  return Join(texts, "; ");
}

}  // namespace koord::apiserver
