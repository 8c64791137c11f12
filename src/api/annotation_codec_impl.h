#pragma once
// The machinery behind annotation_codec.h; include that.

namespace koord::api {
namespace loose_internal {

using kube::Json;
namespace json = kube::json;

// Gives the members of a document the spelling that T's codec expects.
template <class T>
struct Respell {
  static void Apply(Json&) {}
};

struct Member {
  std::string_view name;
  void (*respell)(Json&);
};

struct MemberCollector {
  std::vector<Member>& members;

  template <class T>
  void operator()(std::string_view name, T&) {
    members.push_back({name, &Respell<T>::Apply});
  }
  template <class T>
  void operator()(std::string_view name, kube::AlwaysField<T>) {
    members.push_back({name, &Respell<T>::Apply});
  }
};

void RespellMembers(json::object& object, const std::vector<Member>& members);

template <class T>
requires kube::codec_internal::Described<T>
struct Respell<T> {
  static void Apply(Json& value) {
    if (!value.is_object()) return;
    std::vector<Member> members;
    T probe{};
    T::Fields(probe, MemberCollector{members});
    RespellMembers(value.get_object(), members);
  }
};

template <class T>
struct Respell<std::optional<T>> : Respell<T> {};
template <class T>
struct Respell<kube::Boxed<T>> : Respell<T> {};

template <class T>
struct Respell<std::vector<T>> {
  static void Apply(Json& value) {
    if (!value.is_array()) return;
    for (Json& item : value.get_array()) Respell<T>::Apply(item);
  }
};

template <class T, class Less>
struct Respell<std::map<std::string, T, Less>> {
  static void Apply(Json& value) {
    if (!value.is_object()) return;
    for (auto& [key, item] : value.get_object()) Respell<T>::Apply(item);
  }
};

Status UnderAnnotation(std::string_view key, const Status& error);

}  // namespace loose_internal

template <class T>
StatusOr<T> DecodeLoose(std::string_view text) {
  ASSIGN_OR_RETURN(kube::Json value, kube::ParseJson(text));
  if (value.is_null()) return T{};
  loose_internal::Respell<T>::Apply(value);
  return kube::Decode<T>(value);
}

template <class T>
StatusOr<std::optional<T>> ReadAnnotation(const kube::Annotations& annotations,
                                          std::string_view key) {
  const std::string* text = kube::FindValue(annotations, key);
  if (text == nullptr) return std::optional<T>();
  StatusOr<T> value = DecodeLoose<T>(*text);
  if (!value.ok()) return loose_internal::UnderAnnotation(key, value.status());
  return std::optional<T>(*std::move(value));
}

template <class T>
StatusOr<std::optional<T>> ReadNonEmptyAnnotation(const kube::Annotations& annotations,
                                                  std::string_view key) {
  if (kube::ValueOf(annotations, key).empty()) return std::optional<T>();
  return ReadAnnotation<T>(annotations, key);
}

}  // namespace koord::api
