#pragma once
#include <string>

#include "kube/codec.h"

namespace koord::kube {

// Binary data; base64 in JSON.
struct Bytes {
  std::string data;

  bool empty() const { return data.empty(); }
  bool operator==(const Bytes&) const = default;
};

template <>
struct Codec<Bytes> {
  static Status Read(JsonView in, Bytes& out);
  static Json Write(const Bytes& value);
};

}  // namespace koord::kube
