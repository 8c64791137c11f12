#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "kube/json.h"

// Turns Kubernetes JSON into structs and back. A struct names its JSON members once:
//
//   struct Taint {
//     std::string key, value, effect;
//     std::optional<WallTime> time_added;
//
//     static void Fields(auto& self, auto&& field) {
//       field("key", self.key);
//       field("value", self.value);
//       field("effect", self.effect);
//       field("timeAdded", self.time_added);
//     }
//   };
//
//   ASSIGN_OR_RETURN(Taint taint, Decode<Taint>(json));
//   Json json = Encode(taint);
//
// Decoding ignores unknown members and treats null as absent; a member of the wrong type is an
// error that names its path ("spec.containers[1].name: expected a string, found a number").
// Encoding leaves out what is empty ("", 0, false, none, {}, []), as Kubernetes does; wrap a member
// in Always(...) to write it regardless. Leaf types with their own text form (Quantity,
// IntOrString, times) specialise Codec<T>.
namespace koord::kube {

template <class T>
struct Codec;  // static Status Read(JsonView, T&); static Json Write(const T&);

template <class T>
StatusOr<T> Decode(JsonView value);
template <class T>
StatusOr<T> Decode(const Json& value);
template <class T>
Json Encode(const T& value);

// In Fields: field("status", Always(self.status)) writes `{}`, 0 or "" too.
template <class T>
struct AlwaysField {
  T& value;
};
template <class T>
AlwaysField<T> Always(T& value) {
  return {value};
}

}  // namespace koord::kube

#include "kube/codec_impl.h"

// For structs that many files use: the header declares the codec (after the struct, outside of any
// namespace) and one source file compiles it, so that nobody else pays for the templates.
#define KOORD_DECLARE_CODEC(Type)                            \
  template <>                                                \
  struct koord::kube::Codec<Type> {                          \
    static Status Read(koord::kube::JsonView in, Type& out); \
    static koord::kube::Json Write(const Type& value);       \
  }
#define KOORD_DEFINE_CODEC(Type)                                                      \
  koord::Status koord::kube::Codec<Type>::Read(koord::kube::JsonView in, Type& out) { \
    return koord::kube::codec_internal::ReadDescribed(in, out);                       \
  }                                                                                   \
  koord::kube::Json koord::kube::Codec<Type>::Write(const Type& value) {              \
    return koord::kube::codec_internal::WriteDescribed(value);                        \
  }                                                                                   \
  static_assert(koord::kube::codec_internal::Described<Type>)
