#pragma once
#include <string>
#include <string_view>

#include "kube/json.h"
#include "localcluster/apiserver/storage/store.h"

// Objects are kept as the text that clients are sent, always spelled in one way:
//
//   {"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"12",...},...}
//
// so that a list, a watch event, another version of the object or its metadata alone can be cut and
// pasted from stored text without parsing it.
namespace koord::apiserver {

// Serialises an object in that form; its own kind, apiVersion and resourceVersion do not matter.
std::string ObjectText(std::string_view api_version, std::string_view kind,
                       const kube::Json& object, std::string_view resource_version);
std::string ObjectText(std::string_view api_version, std::string_view kind,
                       const kube::Json& object, Revision revision);

// "metadata":{...},...}: what follows kind and apiVersion, with the final brace.
std::string_view WithoutKind(std::string_view text);
// {...}: the value of metadata alone.
std::string_view MetadataOf(std::string_view text);
std::string_view ApiVersionOf(std::string_view text);
std::string_view KindOf(std::string_view text);

// The same object under another apiVersion.
std::string WithApiVersion(std::string_view text, std::string_view api_version);
// The same object as if last written at `revision`.
std::string WithRevision(std::string_view text, Revision revision);
// Only apiVersion meta.k8s.io/<version>, kind PartialObjectMetadata and metadata.
std::string PartialText(std::string_view text, std::string_view version);

void AppendJson(std::string& text, const kube::Json& value);
// A quoted and escaped string.
void AppendJsonString(std::string& text, std::string_view value);

// The same JSON, indented by two spaces a level.
std::string Indented(std::string_view text);

}  // namespace koord::apiserver
