#include "api/annotation_codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace koord::api {
namespace loose_internal {
namespace {

const Member* FindMember(const std::vector<Member>& members, std::string_view name) {
  const auto exact = std::ranges::find(members, name, &Member::name);
  if (exact != members.end()) return &*exact;
  const auto alike = std::ranges::find_if(
      members, [&](const Member& member) { return EqualsIgnoreCase(member.name, name); });
  return alike == members.end() ? nullptr : &*alike;
}

}  // namespace

void RespellMembers(json::object& object, const std::vector<Member>& members) {
  json::object respelled;
  for (auto& [name, value] : object) {
    const Member* member = FindMember(members, name);
    if (member == nullptr || value.is_null()) continue;
    member->respell(value);
    respelled.insert_or_assign(member->name, std::move(value));
  }
  object = std::move(respelled);
}

Status UnderAnnotation(std::string_view key, const Status& error) {
  return InvalidArgument("annotation {}: {}", key, Message(error));
}

}  // namespace loose_internal

namespace {

using kube::Json;
namespace json = kube::json;

constexpr std::string_view kLineSeparator = "\u2028";
constexpr std::string_view kParagraphSeparator = "\u2029";

void AppendEscaped(std::string& out, char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  const auto byte = static_cast<unsigned char>(c);
  if (byte < 0x20 || c == '<' || c == '>' || c == '&') {
    out += fmt::format("\\u{:04x}", byte);
  } else {
    out += c;
  }
}

void AppendString(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    if (text.starts_with(kLineSeparator) || text.starts_with(kParagraphSeparator)) {
      out += text.starts_with(kLineSeparator) ? "\\u2028" : "\\u2029";
      text.remove_prefix(kLineSeparator.size());
    } else {
      AppendEscaped(out, text.front());
      text.remove_prefix(1);
    }
  }
  out += '"';
}

// The shortest text that reads back the same; an exponent only for the very small and very large.
void AppendDouble(std::string& out, double value) {
  const double magnitude = std::abs(value);
  const bool plain = magnitude == 0 || (magnitude >= 1e-6 && magnitude < 1e21);
  std::array<char, 64> buffer;
  const auto [end, error] =
      std::to_chars(buffer.begin(), buffer.end(), value,
                    plain ? std::chars_format::fixed : std::chars_format::scientific);
  std::string_view text(buffer.data(), end - buffer.data());
  if (const size_t exponent = text.find("e-0"); exponent != text.npos) {
    out += text.substr(0, exponent + 2);
    out += text.substr(exponent + 3);
  } else {
    out += text;
  }
}

void Append(std::string& out, const Json& value);

void AppendArray(std::string& out, const json::array& array) {
  out += '[';
  for (size_t i = 0; i < array.size(); ++i) {
    if (i > 0) out += ',';
    Append(out, array[i]);
  }
  out += ']';
}

void AppendObject(std::string& out, const json::object& object) {
  out += '{';
  bool first = true;
  for (const auto& [name, item] : object) {
    if (!first) out += ',';
    first = false;
    AppendString(out, name);
    out += ':';
    Append(out, item);
  }
  out += '}';
}

void Append(std::string& out, const Json& value) {
  switch (value.kind()) {
    case json::kind::null:
      out += "null";
      break;
    case json::kind::bool_:
      out += value.get_bool() ? "true" : "false";
      break;
    case json::kind::int64:
      out += std::to_string(value.get_int64());
      break;
    case json::kind::uint64:
      out += std::to_string(value.get_uint64());
      break;
    case json::kind::double_:
      AppendDouble(out, value.get_double());
      break;
    case json::kind::string:
      AppendString(out, value.get_string());
      break;
    case json::kind::array:
      AppendArray(out, value.get_array());
      break;
    case json::kind::object:
      AppendObject(out, value.get_object());
      break;
  }
}

}  // namespace

std::string WriteAnnotationJson(const Json& value) {
  std::string text;
  Append(text, value);
  return text;
}

}  // namespace koord::api
