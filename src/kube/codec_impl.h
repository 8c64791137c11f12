#pragma once
// The machinery behind codec.h; include that.

namespace koord::kube {
namespace codec_internal {

template <class T>
concept Described = requires(T& value) {
  T::Fields(value, [](auto&&...) {});
};

std::string_view KindName(JsonView value);  // "a string", "a number", ...
Status WrongType(std::string_view expected, JsonView found);
// Puts a path in front of an error's own: Under("spec", "[1].name: ...") = "spec[1].name: ..."
Status Under(std::string_view member, const Status& error);

}  // namespace codec_internal

template <>
struct Codec<std::string> {
  static Status Read(JsonView in, std::string& out);
  static Json Write(const std::string& value) { return Json(value); }
};
template <>
struct Codec<bool> {
  static Status Read(JsonView in, bool& out);
  static Json Write(bool value) { return Json(value); }
};
template <>
struct Codec<int64_t> {
  static Status Read(JsonView in, int64_t& out);
  static Json Write(int64_t value) { return Json(value); }
};
template <>
struct Codec<int32_t> {
  static Status Read(JsonView in, int32_t& out);
  static Json Write(int32_t value) { return Json(value); }
};
template <>
struct Codec<double> {
  static Status Read(JsonView in, double& out);
  static Json Write(double value);  // 50, not 5E1
};
// RFC 3339, seconds. MicroTime (six digits) is a type of its own in time.h.
template <>
struct Codec<WallTime> {
  static Status Read(JsonView in, WallTime& out);
  static Json Write(WallTime value);
};
template <>
struct Codec<Json> {
  static Status Read(JsonView in, Json& out) {
    out = in.Copy();
    return absl::OkStatus();
  }
  static Json Write(const Json& value) { return value; }
};

template <class T>
struct Codec<std::optional<T>> {
  static Status Read(JsonView in, std::optional<T>& out) {
    return Codec<T>::Read(in, out.emplace());
  }
  static Json Write(const std::optional<T>& value) {
    return value ? Codec<T>::Write(*value) : Json(nullptr);
  }
};

namespace codec_internal {

// An item of a list or map that is null stands for an empty one.
template <class T>
Status ReadItem(JsonView in, T& out) {
  return in.is_null() ? absl::OkStatus() : Codec<T>::Read(in, out);
}

}  // namespace codec_internal

template <class T>
struct Codec<std::vector<T>> {
  static Status Read(JsonView in, std::vector<T>& out) {
    const std::optional<JsonItems> items = in.if_array();
    if (!items) return codec_internal::WrongType("a list", in);
    out.clear();
    out.reserve(items->size());
    for (const JsonView item : *items) {
      T value{};
      if (Status status = codec_internal::ReadItem(item, value); !status.ok()) {
        return codec_internal::Under("[" + std::to_string(out.size()) + "]", status);
      }
      out.push_back(std::move(value));
    }
    return absl::OkStatus();
  }
  static Json Write(const std::vector<T>& value) {
    json::array array;
    array.reserve(value.size());
    for (const T& item : value) array.push_back(Codec<T>::Write(item));
    return array;
  }
};

template <class T, class Less>
struct Codec<std::map<std::string, T, Less>> {
  static Status Read(JsonView in, std::map<std::string, T, Less>& out) {
    const std::optional<JsonMembers> members = in.if_object();
    if (!members) return codec_internal::WrongType("an object", in);
    out.clear();
    for (const auto& [key, item] : *members) {
      T value{};
      if (Status status = codec_internal::ReadItem(item, value); !status.ok()) {
        return codec_internal::Under(key, status);
      }
      out.emplace(std::string(key), std::move(value));
    }
    return absl::OkStatus();
  }
  static Json Write(const std::map<std::string, T, Less>& value) {
    json::object object;
    for (const auto& [key, item] : value) object.emplace(key, Codec<T>::Write(item));
    return object;
  }
};

namespace codec_internal {

template <class T>
bool IsEmpty(const T& value) {
  if constexpr (requires { value.has_value(); }) {
    return !value.has_value();
  } else if constexpr (std::is_same_v<T, Json>) {
    return value.is_null();
  } else if constexpr (requires { value.empty(); }) {
    return value.empty();
  } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, WallTime>) {
    return value == T{};
  } else {
    return false;
  }
}

struct Reader {
  const JsonMembers members;
  Status status = absl::OkStatus();

  template <class T>
  void operator()(std::string_view name, T& value) {
    if (!status.ok()) return;
    const std::optional<JsonView> member = members.Find(name);
    if (!member || member->is_null()) return;
    if (Status read = Codec<T>::Read(*member, value); !read.ok()) status = Under(name, read);
  }
  template <class T>
  void operator()(std::string_view name, AlwaysField<T> field) {
    (*this)(name, field.value);
  }
};

struct Writer {
  json::object& object;

  template <class T>
  void operator()(std::string_view name, const T& value) {
    if (IsEmpty(value)) return;
    Json written = Codec<T>::Write(value);
    if constexpr (Described<T>) {
      if (written.get_object().empty()) return;
    }
    object.emplace(name, std::move(written));
  }
  template <class T>
  void operator()(std::string_view name, AlwaysField<T> field) {
    object.emplace(name, Codec<std::remove_const_t<T>>::Write(field.value));
  }
};

template <Described T>
Status ReadDescribed(JsonView in, T& out) {
  const std::optional<JsonMembers> members = in.if_object();
  if (!members) return WrongType("an object", in);
  Reader reader{*members};
  T::Fields(out, reader);
  return reader.status;
}

template <Described T>
Json WriteDescribed(const T& value) {
  json::object object;
  Writer writer{object};
  T::Fields(value, writer);
  return object;
}

}  // namespace codec_internal

template <class T>
requires codec_internal::Described<T>
struct Codec<T> {
  static Status Read(JsonView in, T& out) { return codec_internal::ReadDescribed(in, out); }
  static Json Write(const T& value) { return codec_internal::WriteDescribed(value); }
};

template <class T>
StatusOr<T> Decode(JsonView value) {
  T decoded{};
  RETURN_IF_ERROR(Codec<T>::Read(value, decoded));
  return decoded;
}

template <class T>
StatusOr<T> Decode(const Json& value) {
  return Decode<T>(JsonView(value));
}

template <class T>
Json Encode(const T& value) {
  return Codec<T>::Write(value);
}

}  // namespace koord::kube
