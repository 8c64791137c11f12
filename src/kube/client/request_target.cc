#include "kube/client/request_target.h"

#include <boost/url/encode.hpp>
#include <boost/url/rfc/unreserved_chars.hpp>

namespace koord::kube {
namespace {

std::string PercentEncode(std::string_view text) {
  return boost::urls::encode({text.data(), text.size()}, boost::urls::unreserved_chars);
}

}  // namespace

std::string CollectionPath(const Resource& resource, std::string_view ns) {
  std::string path = resource.group.empty() ? "/api/" : "/apis/" + resource.group + "/";
  path += resource.version;
  if (resource.namespaced && !ns.empty()) path += "/namespaces/" + PercentEncode(ns);
  return path + "/" + resource.resource;
}

std::string ObjectPath(const Resource& resource, const ObjectKey& key,
                       std::string_view subresource) {
  std::string path = CollectionPath(resource, key.ns) + "/" + PercentEncode(key.name);
  if (!subresource.empty()) path.append("/").append(subresource);
  return path;
}

TargetBuilder& TargetBuilder::Add(std::string_view name, std::string_view value) {
  if (value.empty()) return *this;
  target_ += std::exchange(has_query_, true) ? '&' : '?';
  target_ += name;
  target_ += '=';
  target_ += PercentEncode(value);
  return *this;
}

}  // namespace koord::kube
