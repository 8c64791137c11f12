#pragma once
#include "kube/codec.h"

namespace koord::scheduler {

kube::Json ParseTestYaml(std::string_view text);
[[noreturn]] void AbortTest(const Status& status, std::string_view text);

template <class T>
std::shared_ptr<const T> FromYaml(std::string_view text) {
  StatusOr<T> object = kube::Decode<T>(ParseTestYaml(text));
  if (!object.ok()) AbortTest(object.status(), text);
  return std::make_shared<const T>(std::move(*object));
}

}  // namespace koord::scheduler
