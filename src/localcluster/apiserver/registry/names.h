#pragma once
#include <string>
#include <string_view>

#include "kube/names.h"

// Further spelling rules, beside those of kube/names.h. Each returns what is wrong, in Kubernetes'
// words, or an empty string.
namespace koord::apiserver {

using kube::CheckDnsLabel;
using kube::CheckDnsSubdomain;
using kube::CheckLabelValue;
using kube::CheckQualifiedName;

std::string CheckPathSegment(std::string_view name);  // anything that fits between two slashes
std::string CheckPortName(std::string_view name);     // "http", at most 15
std::string CheckEnvName(std::string_view name);

// What an object of a kind may be called.
enum class NameRule { kSubdomain, kLabel, kPathSegment };
std::string CheckName(NameRule rule, std::string_view name);

}  // namespace koord::apiserver
