#pragma once
#include <string>
#include <string_view>

#include "kube/http.h"

namespace koord::kube {

// The token of an Authorization header; empty if there is none.
std::string_view BearerToken(const Headers& headers);

// By which a secret is looked up and compared: to compare digests takes the same time however much
// of a guess is right, and a table of them betrays nothing.
std::string SecretDigest(std::string_view secret);

}  // namespace koord::kube
