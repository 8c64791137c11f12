#include "kube/schema/protobuf.h"

#include "base/duration.h"
#include "base/strings.h"
#include "kube/api_error.h"
#include "kube/schema/document_path.h"
#include "kube/schema/strict.h"
#include "kube/schema/type.h"
#include "kube/time.h"

namespace koord::kube {
namespace {

constexpr std::string_view kMagic{"k8s\0", 4};

enum class Wire { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// Fields of one message, one after the other. Every read is checked against the end.
class WireReader {
 public:
  explicit WireReader(std::string_view data) : data_(data) {}

  struct Field {
    uint32_t number = 0;
    Wire wire = Wire::kVarint;
    uint64_t varint = 0;     // kVarint
    std::string_view bytes;  // kBytes
  };

  bool done() const { return data_.empty(); }

  bool Read(Field& field) {
    uint64_t tag = 0;
    if (!ReadVarint(tag) || tag >> 3 == 0 || tag >> 3 > UINT32_MAX) return false;
    field.number = static_cast<uint32_t>(tag >> 3);
    field.wire = static_cast<Wire>(tag & 7);
    switch (field.wire) {
      case Wire::kVarint:
        return ReadVarint(field.varint);
      case Wire::kFixed64:
        return Skip(8);
      case Wire::kFixed32:
        return Skip(4);
      case Wire::kBytes:
        return ReadBytes(field.bytes);
    }
    return false;  // groups do not occur
  }

  bool ReadVarint(uint64_t& value) {
    value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (data_.empty()) return false;
      const auto byte = static_cast<uint8_t>(data_.front());
      data_.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

 private:
  bool ReadBytes(std::string_view& bytes) {
    uint64_t length = 0;
    if (!ReadVarint(length) || length > data_.size()) return false;
    bytes = data_.substr(0, length);
    data_.remove_prefix(length);
    return true;
  }

  bool Skip(size_t count) {
    if (count > data_.size()) return false;
    data_.remove_prefix(count);
    return true;
  }

  std::string_view data_;
};

using WireField = WireReader::Field;

Status Damaged(const DocumentPath& path, std::string_view what) {
  const std::string place = path.ToString();
  return ToStatus(ApiError::Of(400, fmt::format("unable to decode the protobuf body{}{}: {}",
                                                place.empty() ? "" : " at ", place, what)));
}

Status Unsupported() {
  return ToStatus(ApiError::Of(
      415,
      "the body of the request was in an unknown format - accepted media types include: "
      "application/json, application/yaml"));
}

// Calls use(field) for each field of a message.
template <class Use>
Status ForEachField(std::string_view data, const DocumentPath& path, Use use) {
  WireReader reader(data);
  while (!reader.done()) {
    WireField field;
    if (!reader.Read(field)) return Damaged(path, "malformed field");
    RETURN_IF_ERROR(use(field));
  }
  return absl::OkStatus();
}

const Type::Field* FindNumber(const std::vector<Type::Field>& fields, uint32_t number) {
  for (const Type::Field& field : fields) {
    if (field.number == number) return &field;
  }
  return nullptr;
}

class Decoder {
 public:
  Status Message(const Type& type, std::string_view data, json::object& out,
                 const DocumentPath& path, size_t depth) {
    if (depth > kMaxJsonDepth) return Damaged(path, "nested too deeply");
    return ForEachField(data, path, [&](const WireField& wire) -> Status {
      if (const Type::Field* field = FindNumber(type.fields, wire.number)) {
        return Member(*field, wire, out, path.Member(field->name), depth);
      }
      if (const Type::Field* field = FindNumber(type.inlined, wire.number)) {
        if (wire.wire != Wire::kBytes) return Damaged(path, "expected a message");
        return Message(*field->type, wire.bytes, out, path, depth + 1);
      }
      return absl::OkStatus();
    });
  }

 private:
  Status Member(const Type::Field& field, const WireField& wire, json::object& out,
                const DocumentPath& path, size_t depth) {
    const Type& type = *field.type;
    if (type.kind == Type::Kind::kList) {
      return Item(*type.element, wire, Container<json::array>(out, field.name), path, depth);
    }
    if (type.kind == Type::Kind::kMap) {
      return MapEntry(*type.element, wire, Container<json::object>(out, field.name), path, depth);
    }
    if (type.kind == Type::Kind::kStruct) {
      // A message that comes in several parts is one message.
      if (wire.wire != Wire::kBytes) return Damaged(path, "expected a message");
      return Message(type, wire.bytes, Container<json::object>(out, field.name), path, depth + 1);
    }
    return Value(type, wire, out[field.name], path, depth);
  }

  template <class T>
  static T& Container(json::object& parent, std::string_view name) {
    Json& member = parent[name];
    if (member.is_null()) member = T();
    if constexpr (std::is_same_v<T, json::array>) {
      return member.get_array();
    } else {
      return member.get_object();
    }
  }

  Status Item(const Type& element, const WireField& wire, json::array& out,
              const DocumentPath& path, size_t depth) {
    const bool scalar =
        element.kind == Type::Kind::kInteger || element.kind == Type::Kind::kBoolean;
    if (scalar && wire.wire == Wire::kBytes) return Packed(element, wire.bytes, out, path, depth);
    out.emplace_back(nullptr);
    return Value(element, wire, out.back(), path.Item(out.size() - 1), depth);
  }

  Status Packed(const Type& element, std::string_view bytes, json::array& out,
                const DocumentPath& path, size_t depth) {
    WireReader reader(bytes);
    while (!reader.done()) {
      WireField item;
      if (!reader.ReadVarint(item.varint)) return Damaged(path, "malformed field");
      RETURN_IF_ERROR(Item(element, item, out, path, depth));
    }
    return absl::OkStatus();
  }

  Status MapEntry(const Type& element, const WireField& wire, json::object& out,
                  const DocumentPath& path, size_t depth) {
    if (wire.wire != Wire::kBytes) return Damaged(path, "expected a map entry");
    std::string_view key = "";  // also empty ones are copied, which a null pointer cannot be
    WireField value{.number = 2, .wire = DefaultWire(element), .varint = 0, .bytes = ""};
    RETURN_IF_ERROR(ForEachField(wire.bytes, path, [&](const WireField& part) {
      if (part.number == 1) key = part.bytes;
      if (part.number == 2) value = part;
      return absl::OkStatus();
    }));
    if (!IsValidUtf8(key)) return Damaged(path, "a key is not UTF-8");
    Json decoded;
    RETURN_IF_ERROR(Value(element, value, decoded, path.Member(key), depth));
    out.insert_or_assign(key, std::move(decoded));
    return absl::OkStatus();
  }

  static Wire DefaultWire(const Type& type) {
    const bool varint = type.kind == Type::Kind::kInteger || type.kind == Type::Kind::kBoolean;
    return varint ? Wire::kVarint : Wire::kBytes;
  }

  // One value that is not spread over several fields of its parent.
  Status Value(const Type& type, const WireField& wire, Json& out, const DocumentPath& path,
               size_t depth) {
    if (wire.wire != DefaultWire(type)) return Damaged(path, "unexpected wire type");
    switch (type.kind) {
      case Type::Kind::kInteger:
        out = static_cast<int64_t>(wire.varint);
        break;
      case Type::Kind::kBoolean:
        out = wire.varint != 0;
        break;
      case Type::Kind::kBytes:
        out = Base64Encode(wire.bytes);
        break;
      case Type::Kind::kString:
        return Text(wire.bytes, out, path);
      case Type::Kind::kStruct:
        return Message(type, wire.bytes, out.emplace_object(), path, depth + 1);
      case Type::Kind::kList:
        return WrappedList(*type.element, wire.bytes, out, path, depth + 1);
      case Type::Kind::kQuantity:
        return QuantityMessage(wire.bytes, out, path);
      case Type::Kind::kTime:
        return Time(wire.bytes, 0, out, path);
      case Type::Kind::kMicroTime:
        return Time(wire.bytes, 6, out, path);
      case Type::Kind::kDuration:
        return DurationMessage(wire.bytes, out, path);
      case Type::Kind::kIntOrString:
        return IntOrText(wire.bytes, out, path);
      case Type::Kind::kAny:
        return RawJson(wire.bytes, out, path);
      case Type::Kind::kMap:
      case Type::Kind::kNumber:
        return Damaged(path, "has no protobuf form");
    }
    return absl::OkStatus();
  }

  static Status Text(std::string_view bytes, Json& out, const DocumentPath& path) {
    if (!IsValidUtf8(bytes)) return Damaged(path, "not UTF-8");
    out = bytes;
    return absl::OkStatus();
  }

  // A list that is a value itself (in a map) stands in a message of its own.
  Status WrappedList(const Type& element, std::string_view bytes, Json& out,
                     const DocumentPath& path, size_t depth) {
    json::array& items = out.emplace_array();
    return ForEachField(bytes, path, [&](const WireField& field) -> Status {
      if (field.number != 1) return absl::OkStatus();
      return Item(element, field, items, path, depth);
    });
  }

  static Status QuantityMessage(std::string_view bytes, Json& out, const DocumentPath& path) {
    std::string_view text;
    RETURN_IF_ERROR(ForEachField(bytes, path, [&](const WireField& field) {
      if (field.number == 1) text = field.bytes;
      return absl::OkStatus();
    }));
    return Text(text.empty() ? "0" : text, out, path);
  }

  static Status Time(std::string_view bytes, int fraction_digits, Json& out,
                     const DocumentPath& path) {
    out = nullptr;
    if (bytes.empty()) return absl::OkStatus();
    int64_t seconds = 0;
    int64_t nanos = 0;
    RETURN_IF_ERROR(ForEachField(bytes, path, [&](const WireField& field) {
      if (field.number == 1) seconds = static_cast<int64_t>(field.varint);
      if (field.number == 2) nanos = static_cast<int64_t>(field.varint);
      return absl::OkStatus();
    }));
    const std::optional<std::string> text = FormatUnixTime(seconds, nanos, fraction_digits);
    if (!text) return Damaged(path, "time out of range");
    out = *text;
    return absl::OkStatus();
  }

  static Status DurationMessage(std::string_view bytes, Json& out, const DocumentPath& path) {
    int64_t nanos = 0;
    RETURN_IF_ERROR(ForEachField(bytes, path, [&](const WireField& field) {
      if (field.number == 1) nanos = static_cast<int64_t>(field.varint);
      return absl::OkStatus();
    }));
    out = FormatDuration(Duration(nanos));
    return absl::OkStatus();
  }

  static Status IntOrText(std::string_view bytes, Json& out, const DocumentPath& path) {
    uint64_t type = 0;
    uint64_t number = 0;
    std::string_view text;
    RETURN_IF_ERROR(ForEachField(bytes, path, [&](const WireField& field) {
      if (field.number == 1) type = field.varint;
      if (field.number == 2) number = field.varint;
      if (field.number == 3) text = field.bytes;
      return absl::OkStatus();
    }));
    if (type == 1) return Text(text, out, path);
    out = static_cast<int64_t>(static_cast<int32_t>(number));
    return absl::OkStatus();
  }

  static Status RawJson(std::string_view bytes, Json& out, const DocumentPath& path) {
    out = nullptr;
    std::string_view raw;
    RETURN_IF_ERROR(ForEachField(bytes, path, [&](const WireField& field) {
      if (field.number == 1) raw = field.bytes;
      return absl::OkStatus();
    }));
    if (raw.empty()) return absl::OkStatus();
    StatusOr<Json> parsed = ParseJson(raw);
    if (!parsed.ok()) return Damaged(path, koord::Message(parsed.status()));
    out = *std::move(parsed);
    return absl::OkStatus();
  }
};

// The envelope around every object.
struct Envelope {
  std::string_view api_version, kind, raw, content_encoding;
};

Status OpenEnvelope(std::string_view data, Envelope& envelope) {
  const DocumentPath root;
  return ForEachField(data, root, [&](const WireField& field) -> Status {
    if (field.number == 2) envelope.raw = field.bytes;
    if (field.number == 3) envelope.content_encoding = field.bytes;
    if (field.number != 1) return absl::OkStatus();
    return ForEachField(field.bytes, root, [&](const WireField& meta) {
      if (meta.number == 1) envelope.api_version = meta.bytes;
      if (meta.number == 2) envelope.kind = meta.bytes;
      return absl::OkStatus();
    });
  });
}

bool HasProtobufForm(const Type& type) {
  for (const Type::Field& field : type.fields) {
    if (field.number != 0) return true;
  }
  return false;
}

}  // namespace

bool IsKubernetesProtobuf(std::string_view body) { return body.starts_with(kMagic); }

StatusOr<Json> DecodeProtobuf(std::string_view body) {
  const DocumentPath root;
  if (!IsKubernetesProtobuf(body)) return Damaged(root, "it does not start with k8s\\0");
  Envelope envelope;
  RETURN_IF_ERROR(OpenEnvelope(body.substr(kMagic.size()), envelope));
  const Type* type = FindBuiltinType(envelope.api_version, envelope.kind);
  if (type == nullptr || !HasProtobufForm(*type) || !envelope.content_encoding.empty()) {
    return Unsupported();
  }
  if (!IsValidUtf8(envelope.api_version)) return Damaged(root, "not UTF-8");

  json::object object;
  object.emplace("apiVersion", envelope.api_version);
  object.emplace("kind", envelope.kind);
  RETURN_IF_ERROR(Decoder().Message(*type, envelope.raw, object, root, 1));
  Json document(std::move(object));
  ReportedFields unknown;  // the table's own members only: there are none
  if (Status status = Conform(*type, document, unknown); !status.ok()) {
    return Damaged(root, Message(status));
  }
  if (IsTooDeep(document)) return Damaged(root, "nested too deeply");
  return document;
}

}  // namespace koord::kube
