#pragma once
// The machinery behind config_document.h; include that.

#include <map>
#include <optional>

#include "kube/boxed.h"

namespace koord::kube {
namespace strict_internal {

// Whether a value is an object or a list, as it must be; says so where it is not.
bool ExpectObject(const Json& in, const ConfigField& at);
bool ExpectList(const Json& in, const ConfigField& at);
// Whether a name in the document stands for a member.
bool Names(std::string_view written, std::string_view member, const ConfigField& at);
void ReportUnknown(const json::object& object, const std::vector<std::string>& known,
                   const ConfigField& at);
void ReportLeaf(const Status& status, const ConfigField& at);

template <class T>
struct StrictReader {
  static void Read(const Json& in, T& out, const ConfigField& at) {
    ReportLeaf(Codec<T>::Read(in, out), at);
  }
};

struct MemberReader {
  const json::object& object;
  const ConfigField& at;
  std::vector<std::string>& known;

  template <class T>
  void operator()(std::string_view name, T& value) {
    known.emplace_back(name);
    for (const auto& [written, member] : object) {
      if (!Names(written, name, at) || member.is_null()) continue;
      StrictReader<T>::Read(member, value, at.Member(written));
    }
  }
  template <class T>
  void operator()(std::string_view name, AlwaysField<T> field) {
    (*this)(name, field.value);
  }
};

template <class T>
requires codec_internal::Described<T>
struct StrictReader<T> {
  static void Read(const Json& in, T& out, const ConfigField& at) {
    if (!ExpectObject(in, at)) return;
    std::vector<std::string> known;
    T::Fields(out, MemberReader{in.get_object(), at, known});
    ReportUnknown(in.get_object(), known, at);
  }
};

template <class T>
struct StrictReader<std::optional<T>> {
  static void Read(const Json& in, std::optional<T>& out, const ConfigField& at) {
    StrictReader<T>::Read(in, out.emplace(), at);
  }
};

template <class T>
struct StrictReader<Boxed<T>> {
  static void Read(const Json& in, Boxed<T>& out, const ConfigField& at) {
    StrictReader<T>::Read(in, out.emplace(), at);
  }
};

template <class T>
struct StrictReader<std::vector<T>> {
  static void Read(const Json& in, std::vector<T>& out, const ConfigField& at) {
    if (!ExpectList(in, at)) return;
    out.clear();
    for (const Json& item : in.get_array()) {
      T value{};
      const ConfigField place = at.Item(out.size());
      if (!item.is_null()) StrictReader<T>::Read(item, value, place);
      out.push_back(std::move(value));
    }
  }
};

template <class T, class Less>
struct StrictReader<std::map<std::string, T, Less>> {
  static void Read(const Json& in, std::map<std::string, T, Less>& out, const ConfigField& at) {
    if (!ExpectObject(in, at)) return;
    out.clear();
    for (const auto& [key, item] : in.get_object()) {
      T value{};
      if (!item.is_null()) StrictReader<T>::Read(item, value, at.Member(key));
      out.emplace(std::string(std::string_view(key)), std::move(value));
    }
  }
};

}  // namespace strict_internal

template <class T>
void DecodeStrict(const Json& in, T& out, const ConfigField& at) {
  if (!in.is_null()) strict_internal::StrictReader<T>::Read(in, out, at);
}

}  // namespace koord::kube
