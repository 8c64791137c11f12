#include "kube/schema/strict.h"

#include "base/duration.h"
#include "base/strings.h"
#include "kube/codec.h"
#include "kube/erase_members.h"
#include "kube/quantity.h"
#include "kube/schema/document_path.h"
#include "kube/time.h"

namespace koord::kube {
namespace {

// "2026-07-01T10:00:00Z" needs no work; everything else is parsed and written anew.
bool IsNormalTime(std::string_view text) {
  constexpr std::string_view kForm = "0000-00-00T00:00:00Z";
  if (text.size() != kForm.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (kForm[i] == '0' ? !digit : text[i] != kForm[i]) return false;
  }
  const auto two = [&](size_t at) { return (text[at] - '0') * 10 + text[at + 1] - '0'; };
  // Days that some month lacks take the slow way.
  return two(5) >= 1 && two(5) <= 12 && two(8) >= 1 && two(8) <= 28 && two(11) < 24 &&
         two(14) < 60 && two(17) < 60;
}

bool IsZero(const Json& value) {
  switch (value.kind()) {
    case json::kind::null:
      return true;
    case json::kind::bool_:
      return !value.get_bool();
    case json::kind::int64:
      return value.get_int64() == 0;
    case json::kind::uint64:
      return value.get_uint64() == 0;
    case json::kind::double_:
      return value.get_double() == 0;
    case json::kind::string:
      return value.get_string().empty();
    case json::kind::array:
      return value.get_array().empty();
    case json::kind::object:
      return value.get_object().empty();
  }
  return false;
}

// Whether Kubernetes' encoder leaves the member out when it is zero. Structs and types with a text
// form of their own are always written.
bool ZeroMeansAbsent(const Type::Field& field) {
  if (field.presence || field.required) return false;
  switch (field.type->kind) {
    case Type::Kind::kStruct:
    case Type::Kind::kAny:
    case Type::Kind::kIntOrString:
    case Type::Kind::kQuantity:
    case Type::Kind::kDuration:
      return false;
    default:
      return true;
  }
}

// What a null list item or map value stands for.
Json ZeroOf(const Type& type) {
  switch (type.kind) {
    case Type::Kind::kStruct:
    case Type::Kind::kMap:
      return json::object();
    case Type::Kind::kList:
      return json::array();
    case Type::Kind::kInteger:
    case Type::Kind::kNumber:
    case Type::Kind::kIntOrString:
      return 0;
    case Type::Kind::kBoolean:
      return false;
    case Type::Kind::kString:
    case Type::Kind::kBytes:
      return "";
    case Type::Kind::kQuantity:
      return "0";
    case Type::Kind::kDuration:
      return "0s";
    case Type::Kind::kTime:
    case Type::Kind::kMicroTime:
    case Type::Kind::kAny:
      return nullptr;
  }
  return nullptr;
}

class Conformer {
 public:
  Conformer(ReportedFields& unknown, const ConformOptions& options)
      : unknown_(unknown), options_(options) {}

  Status Value(const Type& type, Json& value, const DocumentPath& path) {
    switch (type.kind) {
      case Type::Kind::kStruct:
        return Struct(type, value, path);
      case Type::Kind::kMap:
        return Map(*type.element, value, path);
      case Type::Kind::kList:
        return List(*type.element, value, path);
      case Type::Kind::kString:
        return value.is_string() ? absl::OkStatus() : Wrong("a string", value, path);
      case Type::Kind::kBoolean:
        return value.is_bool() ? absl::OkStatus() : Wrong("a boolean", value, path);
      case Type::Kind::kInteger:
        return Integer(value, path);
      case Type::Kind::kNumber:
        return value.is_number() ? absl::OkStatus() : Wrong("a number", value, path);
      case Type::Kind::kBytes:
        return Bytes(value, path);
      case Type::Kind::kQuantity:
        return QuantityText(value, path);
      case Type::Kind::kTime:
        return Time(value, 0, path);
      case Type::Kind::kMicroTime:
        return Time(value, 6, path);
      case Type::Kind::kDuration:
        return DurationText(value, path);
      case Type::Kind::kIntOrString:
        return IntOrText(value, path);
      case Type::Kind::kAny:
        return absl::OkStatus();
    }
    return absl::OkStatus();
  }

 private:
  Status Struct(const Type& type, Json& value, const DocumentPath& path) {
    json::object* object = value.if_object();
    if (object == nullptr) return Wrong("an object", value, path);
    bool any_null = false;  // nulls go, and so does what becomes null here
    for (auto& member : *object) {
      const std::string_view name = member.key();
      const Type::Field* field = type.Find(name);
      if (field == nullptr) {
        unknown_.AddPath(path.Member(name));
        member.value() = nullptr;
      } else if (!member.value().is_null()) {
        RETURN_IF_ERROR(Value(*field->type, member.value(), path.Member(name)));
        const bool absent = options_.omit_empty && ZeroMeansAbsent(*field);
        if (absent && IsZero(member.value())) member.value() = nullptr;
      }
      any_null |= member.value().is_null();
    }
    if (any_null) EraseNullMembers(*object);
    return absl::OkStatus();
  }

  Status Map(const Type& element, Json& value, const DocumentPath& path) {
    json::object* object = value.if_object();
    if (object == nullptr) return Wrong("an object", value, path);
    for (auto& member : *object) {
      if (member.value().is_null()) member.value() = ZeroOf(element);
      if (member.value().is_null()) continue;
      RETURN_IF_ERROR(Value(element, member.value(), path.Member(member.key())));
    }
    return absl::OkStatus();
  }

  Status List(const Type& element, Json& value, const DocumentPath& path) {
    json::array* array = value.if_array();
    if (array == nullptr) return Wrong("a list", value, path);
    for (size_t i = 0; i < array->size(); ++i) {
      Json& item = (*array)[i];
      if (item.is_null()) item = ZeroOf(element);
      if (item.is_null()) continue;
      RETURN_IF_ERROR(Value(element, item, path.Item(i)));
    }
    return absl::OkStatus();
  }

  static Status Integer(Json& value, const DocumentPath& path) {
    if (value.is_int64()) return absl::OkStatus();
    json::error_code error;
    const auto number = value.to_number<int64_t>(error);
    if (error) return Wrong("an integer", value, path);
    value = number;
    return absl::OkStatus();
  }

  static Status Bytes(const Json& value, const DocumentPath& path) {
    if (!value.is_string() || !Base64Decode(value.get_string())) {
      return Wrong("a base64 string", value, path);
    }
    return absl::OkStatus();
  }

  static Status QuantityText(Json& value, const DocumentPath& path) {
    Quantity quantity;
    if (Status status = Codec<Quantity>::Read(value, quantity); !status.ok()) {
      return InvalidArgument("{}{}", path.ToString(), Message(status));
    }
    const std::string text = quantity.ToString();
    if (!value.is_string() || std::string_view(value.get_string()) != text) value = text;
    return absl::OkStatus();
  }

  static Status Time(Json& value, int fraction_digits, const DocumentPath& path) {
    if (!value.is_string()) return Wrong("an RFC 3339 time", value, path);
    const std::string_view text = value.get_string();
    if (fraction_digits == 0 && IsNormalTime(text)) return absl::OkStatus();
    const std::optional<std::string> normal = NormalizeTime(text, fraction_digits);
    if (!normal) return Wrong("an RFC 3339 time", value, path);
    value = *normal;
    return absl::OkStatus();
  }

  static Status DurationText(Json& value, const DocumentPath& path) {
    Duration duration{};
    if (Status status = Codec<Duration>::Read(value, duration); !status.ok()) {
      return InvalidArgument("{}{}", path.ToString(), Message(status));
    }
    value = FormatDuration(duration);
    return absl::OkStatus();
  }

  static Status IntOrText(Json& value, const DocumentPath& path) {
    if (value.is_string()) return absl::OkStatus();
    json::error_code error;
    const auto number = value.to_number<int32_t>(error);
    if (error) return Wrong("a 32-bit integer or a string", value, path);
    value = number;
    return absl::OkStatus();
  }

  static Status Wrong(std::string_view expected, const Json& found, const DocumentPath& path) {
    const Status status = codec_internal::WrongType(expected, found);
    std::string_view message = Message(status);
    if (path.parent == nullptr) message.remove_prefix(2);  // no name to stand before ": "
    return InvalidArgument("{}{}", path.ToString(), message);
  }

  ReportedFields& unknown_;
  const ConformOptions options_;
};

}  // namespace

Status Conform(const Type& type, Json& document, ReportedFields& unknown,
               const ConformOptions& options) {
  return Conformer(unknown, options).Value(type, document, DocumentPath());
}

}  // namespace koord::kube
