#include "localcluster/apiserver/core/object_text.h"

#include <charconv>

namespace koord::apiserver {

using kube::Json;
namespace json = kube::json;

namespace {

constexpr std::string_view kKind = "{\"kind\":\"";
constexpr std::string_view kApiVersion = "\",\"apiVersion\":\"";
constexpr std::string_view kMetadata = ",\"metadata\":{\"resourceVersion\":\"";

void AppendMember(std::string& text, const json::key_value_pair& member) {
  text += ',';
  AppendJsonString(text, member.key());
  text += ':';
  AppendJson(text, member.value());
}

// Where the text of resourceVersion begins and ends.
std::pair<size_t, size_t> VersionSpan(std::string_view text) {
  const size_t begin = text.find(kMetadata) + kMetadata.size();
  return {begin, text.find('"', begin)};
}

// One past the brace that closes the object which opens at `begin`.
size_t ObjectEnd(std::string_view text, size_t begin) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      return i + 1;
    }
  }
  return text.size();
}

}  // namespace

void AppendJson(std::string& text, const Json& value) {
  json::serializer serializer;
  serializer.reset(&value);
  char buffer[4096];
  while (!serializer.done()) {
    const auto part = serializer.read(buffer, sizeof(buffer));
    text.append(part.data(), part.size());
  }
}

void AppendJsonString(std::string& text, std::string_view value) {
  json::serializer serializer;
  const json::string_view piece(value.data(), value.size());
  serializer.reset(piece);
  char buffer[512];
  while (!serializer.done()) {
    const auto part = serializer.read(buffer, sizeof(buffer));
    text.append(part.data(), part.size());
  }
}

std::string ObjectText(std::string_view api_version, std::string_view kind, const Json& object,
                       std::string_view resource_version) {
  std::string text;
  text.reserve(2048);
  text.append(kKind).append(kind).append(kApiVersion).append(api_version).append("\"");
  text.append(kMetadata).append(resource_version).append("\"");
  const json::object* members = object.if_object();
  if (const json::object* metadata = kube::FindObject(object, {"metadata"})) {
    for (const auto& member : *metadata) {
      if (member.key() != "resourceVersion") AppendMember(text, member);
    }
  }
  text += '}';
  if (members != nullptr) {
    for (const auto& member : *members) {
      const auto key = member.key();
      if (key != "kind" && key != "apiVersion" && key != "metadata") AppendMember(text, member);
    }
  }
  text += '}';
  return text;
}

std::string ObjectText(std::string_view api_version, std::string_view kind, const Json& object,
                       Revision revision) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof(digits), revision).ptr;
  return ObjectText(api_version, kind, object, std::string_view(digits, end));
}

std::string_view WithoutKind(std::string_view text) {
  return text.substr(text.find(kMetadata) + 1);
}

std::string_view MetadataOf(std::string_view text) {
  const size_t begin = text.find('{', 1);
  return text.substr(begin, ObjectEnd(text, begin) - begin);
}

std::string_view KindOf(std::string_view text) {
  const size_t begin = kKind.size();
  return text.substr(begin, text.find('"', begin) - begin);
}

std::string_view ApiVersionOf(std::string_view text) {
  const size_t begin = kKind.size() + KindOf(text).size() + kApiVersion.size();
  return text.substr(begin, text.find('"', begin) - begin);
}

std::string WithApiVersion(std::string_view text, std::string_view api_version) {
  std::string changed;
  changed.reserve(text.size() + api_version.size());
  changed.append(kKind).append(KindOf(text)).append(kApiVersion).append(api_version).append("\",");
  return changed.append(WithoutKind(text));
}

std::string WithRevision(std::string_view text, Revision revision) {
  const auto [begin, end] = VersionSpan(text);
  std::string changed;
  changed.reserve(text.size() + 8);
  changed.append(text.substr(0, begin)).append(std::to_string(revision));
  return changed.append(text.substr(end));
}

std::string PartialText(std::string_view text, std::string_view version) {
  std::string partial = "{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/";
  return partial.append(version).append("\",\"metadata\":").append(MetadataOf(text)).append("}");
}

std::string Indented(std::string_view text) {
  std::string result;
  result.reserve(text.size() * 2);
  size_t depth = 0;
  const auto new_line = [&] { result.append("\n").append(depth * 2, ' '); };
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      size_t end = i + 1;
      while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
      result.append(text.substr(i, end + 1 - i));
      i = end;
    } else if ((c == '{' || c == '[') && i + 1 < text.size() &&
               (text[i + 1] == '}' || text[i + 1] == ']')) {
      result.append(text.substr(i, 2));
      ++i;
    } else if (c == '{' || c == '[') {
      ++depth;
      result += c;
      new_line();
    } else if (c == '}' || c == ']') {
      --depth;
      new_line();
      result += c;
    } else if (c == ',') {
      result += c;
      new_line();
    } else if (c == ':') {
      result += ": ";
    } else {
      result += c;
    }
  }
  result += '\n';
  return result;
}

}  // namespace koord::apiserver
