#pragma once
#include <string>
#include <string_view>

#include "base/shorten.h"

namespace koord::apiserver {

// The way to a field, spelled out only when something is wrong with it.
//
//   const FieldPath spec("spec");
//   const FieldPath containers = spec / "containers";
//   errors.push_back(Required(containers[2] / "name"));   // "spec.containers[2].name"
//
// A path points to its parent, which therefore must be a variable that outlives it; one-off paths
// are for arguments.
class FieldPath {
 public:
  explicit FieldPath(std::string_view root) : name_(root) {}

  FieldPath operator/(std::string_view member) const { return {this, member}; }
  FieldPath operator[](size_t index) const { return {this, index}; }
  // "annotations[a.b/c]": a key of a map.
  FieldPath Key(std::string_view key) const {
    FieldPath path(this, key);
    path.is_key_ = true;
    return path;
  }

  // Names are cut at a length that no field of ours has: keys of maps are the user's to choose, and
  // every error about what is below one repeats it.
  std::string ToString() const {
    std::string text;
    Append(text);
    return text;
  }
  operator std::string() const { return ToString(); }  // NOLINT: reads well in error lists

 private:
  FieldPath(const FieldPath* parent, std::string_view name) : parent_(parent), name_(name) {}
  FieldPath(const FieldPath* parent, size_t index)
      : parent_(parent), index_(index), is_index_(true) {}

  void Append(std::string& text) const {
    if (parent_ != nullptr) parent_->Append(text);
    if (is_index_) {
      text += "[" + std::to_string(index_) + "]";
    } else if (is_key_) {
      text.append("[").append(ShownName()).append("]");
    } else {
      if (!text.empty()) text += ".";
      text += ShownName();
    }
  }

  std::string ShownName() const { return Shorten(name_, kMaxName); }

  static constexpr size_t kMaxName = 512;

  const FieldPath* parent_ = nullptr;
  std::string_view name_;
  size_t index_ = 0;
  bool is_index_ = false;
  bool is_key_ = false;
};

}  // namespace koord::apiserver
