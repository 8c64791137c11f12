#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace koord::kube {

// Where a walk through a document stands, as a chain through the callers' stack frames: going down
// costs nothing, the text is made only when somebody wants to read it.
struct DocumentPath {
  static constexpr size_t kMember = SIZE_MAX;

  const DocumentPath* parent = nullptr;
  std::string_view name;   // of an object's member
  size_t index = kMember;  // in a list

  DocumentPath Member(std::string_view member) const { return {this, member, kMember}; }
  DocumentPath Item(size_t item) const { return {this, {}, item}; }

  // "spec.containers[0].name"; empty at the root.
  std::string ToString() const {
    if (parent == nullptr) return {};
    std::string text = parent->ToString();
    if (index != kMember) return text + "[" + std::to_string(index) + "]";
    if (!text.empty()) text += '.';
    return text.append(name);
  }
};

}  // namespace koord::kube
