#pragma once
#include <string>
#include <string_view>

// The spelling rules of Kubernetes names. Each returns what is wrong, in Kubernetes' words, or an
// empty string.
namespace koord::kube {

std::string CheckDnsSubdomain(std::string_view name);   // at most 253: "a.example.com"
std::string CheckDnsLabel(std::string_view name);       // at most 63: "my-name", "0abc"
std::string CheckQualifiedName(std::string_view name);  // "example.com/Name": keys of labels
std::string CheckLabelValue(std::string_view value);

}  // namespace koord::kube
