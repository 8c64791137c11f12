#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/string_map.h"
#include "kube/json.h"

// YAML as Kubernetes' tools read and write it.
namespace koord::kube {

struct YamlDocument {
  Json value;  // null for an empty document
  int line = 1;
  StringMap<int> lines;  // by path

  // Where a member was written: LineOf("spec.containers[0].name"). For a path that was not written
  // the line of the nearest one above it that was.
  int LineOf(std::string_view path) const;
};

// All documents of a text, with the lines of everything in them. Plain scalars are resolved as
// Kubernetes does (YAML 1.1: yes, no, on and off are booleans, 0644 is octal), except that y and n
// stay text; quoted ones are strings. Errors start with the place: "3:7: found a tab".
//
// Aliases are copied, which is bounded, as is nesting; a key may occur only once in a map.
StatusOr<std::vector<YamlDocument>> ParseYamlDocuments(std::string_view text);

// A text with one document; JSON is YAML too.
StatusOr<Json> ParseYaml(std::string_view text);

// In the style of `kubectl get -o yaml`, members in their own order.
std::string ToYaml(const Json& value);

}  // namespace koord::kube
