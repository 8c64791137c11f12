#pragma once
#include <string>
#include <string_view>

// The spelling rules of Kubernetes names. Each returns what is wrong, in Kubernetes' words, or an
// empty string.
namespace koord::apiserver {

std::string CheckDnsSubdomain(std::string_view name);  // at most 253: "a.example.com"
std::string CheckDnsLabel(std::string_view name);      // at most 63: "my-name", "0abc"
std::string CheckPathSegment(std::string_view name);   // anything that fits between two slashes
std::string CheckQualifiedName(std::string_view name);  // "example.com/Name": keys of labels
std::string CheckLabelValue(std::string_view value);
std::string CheckPortName(std::string_view name);      // "http", at most 15
std::string CheckEnvName(std::string_view name);

// What an object of a kind may be called.
enum class NameRule { kSubdomain, kLabel, kPathSegment };
std::string CheckName(NameRule rule, std::string_view name);

}  // namespace koord::apiserver
