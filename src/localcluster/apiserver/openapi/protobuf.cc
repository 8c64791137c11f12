#include "localcluster/apiserver/openapi/protobuf.h"

#include <string_view>

namespace koord::apiserver {

using kube::Json;
namespace json = kube::json;

namespace {

// Appends fields in protobuf's wire format. Everything here is a string, a boolean or a message.
class Message {
 public:
  void Text(uint32_t field, std::string_view text) {
    if (!text.empty()) Bytes(field, text);
  }
  // Also when it is empty: an empty message still says that it is there.
  void Sub(uint32_t field, const Message& message) { Bytes(field, message.bytes_); }
  void Flag(uint32_t field, bool flag) {
    if (!flag) return;
    Varint(field << 3 | kVarint);
    Varint(1);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  static constexpr uint32_t kVarint = 0, kLengthDelimited = 2;

  void Bytes(uint32_t field, std::string_view bytes) {
    Varint(field << 3 | kLengthDelimited);
    Varint(bytes.size());
    bytes_.append(bytes);
  }
  void Varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

Message Named(std::string_view name, const Message& value) {
  Message named;
  named.Text(1, name);
  named.Sub(2, value);
  return named;
}

// Extensions travel as YAML, of which JSON is a part.
void WriteExtensions(uint32_t field, const json::object& object, Message& out) {
  for (const auto& member : object) {
    const std::string_view name = member.key();
    if (!name.starts_with("x-")) continue;
    Message any;
    any.Text(2, kube::Serialize(member.value()));
    out.Sub(field, Named(name, any));
  }
}

void WriteStrings(uint32_t field, const Json& object, std::string_view member, Message& out) {
  if (const json::array* items = kube::FindArray(object, {member})) {
    for (const Json& item : *items) out.Text(field, kube::FindString(item, {}));
  }
}

Message EncodeSchema(const Json& schema);

Message EncodeNamedSchemas(const json::object& schemas) {
  Message list;
  for (const auto& schema : schemas) {
    list.Sub(1, Named(schema.key(), EncodeSchema(schema.value())));
  }
  return list;
}

Message Wrapped(const Message& message) {
  Message wrapper;
  wrapper.Sub(1, message);
  return wrapper;
}

Message EncodeSchema(const Json& schema) {
  Message out;
  const json::object* object = schema.if_object();
  if (object == nullptr) return out;
  out.Text(1, kube::FindString(schema, {"$ref"}));
  out.Text(2, kube::FindString(schema, {"format"}));
  out.Text(4, kube::FindString(schema, {"description"}));
  WriteStrings(19, schema, "required", out);
  if (const Json* additional = object->if_contains("additionalProperties")) {
    out.Sub(21, Wrapped(EncodeSchema(*additional)));
  }
  const std::string_view type = kube::FindString(schema, {"type"});
  if (!type.empty()) {
    Message item;
    item.Text(1, type);
    out.Sub(22, item);
  }
  if (const Json* items = object->if_contains("items")) {
    out.Sub(23, Wrapped(EncodeSchema(*items)));
  }
  if (const json::object* properties = kube::FindObject(schema, {"properties"})) {
    out.Sub(25, EncodeNamedSchemas(*properties));
  }
  WriteExtensions(31, *object, out);
  return out;
}

// ParametersItem > Parameter > NonBodyParameter > QueryParameterSubSchema
Message EncodeParameter(const Json& parameter) {
  Message query;
  query.Text(2, kube::FindString(parameter, {"in"}));
  query.Text(3, kube::FindString(parameter, {"description"}));
  query.Text(4, kube::FindString(parameter, {"name"}));
  query.Text(6, kube::FindString(parameter, {"type"}));
  query.Flag(20, kube::FindBool(parameter, {"uniqueItems"}));
  Message non_body;
  non_body.Sub(3, query);
  Message either;
  either.Sub(2, non_body);
  return Wrapped(either);
}

Message EncodeOperation(const Json& operation) {
  Message out;
  WriteStrings(7, operation, "consumes", out);
  if (const json::array* parameters = kube::FindArray(operation, {"parameters"})) {
    for (const Json& parameter : *parameters) out.Sub(8, EncodeParameter(parameter));
  }
  if (const json::object* object = operation.if_object()) WriteExtensions(13, *object, out);
  return out;
}

Message EncodePathItem(const Json& item) {
  struct Method {
    std::string_view name;
    uint32_t field;
  };
  constexpr Method kMethods[] = {{"get", 2}, {"put", 3}, {"post", 4}, {"delete", 5}, {"patch", 8}};
  Message out;
  for (const Method& method : kMethods) {
    if (const Json* operation = kube::Find(item, {method.name})) {
      out.Sub(method.field, EncodeOperation(*operation));
    }
  }
  return out;
}

}  // namespace

std::string EncodeOpenApiV2(const Json& document) {
  Message out;
  out.Text(1, kube::FindString(document, {"swagger"}));
  Message info;
  info.Text(1, kube::FindString(document, {"info", "title"}));
  info.Text(2, kube::FindString(document, {"info", "version"}));
  out.Sub(2, info);
  Message paths;
  if (const json::object* items = kube::FindObject(document, {"paths"})) {
    for (const auto& item : *items) paths.Sub(2, Named(item.key(), EncodePathItem(item.value())));
  }
  out.Sub(8, paths);
  if (const json::object* definitions = kube::FindObject(document, {"definitions"})) {
    out.Sub(9, EncodeNamedSchemas(*definitions));
  }
  return out.bytes();
}

}  // namespace koord::apiserver
