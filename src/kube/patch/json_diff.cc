#include "kube/patch/json_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace koord::kube {
namespace {

// Where the comparison is: one text that grows and shrinks, since most places are left unchanged.
class Pointer {
 public:
  // Below what it points to, for as long as this lives.
  class Step {
   public:
    Step(Pointer& pointer, std::string_view name)
        : text_(pointer.text_), size_(pointer.text_.size()) {
      text_ += '/';
      for (const char c : name) {
        if (c == '~') {
          text_ += "~0";
        } else if (c == '/') {
          text_ += "~1";
        } else {
          text_ += c;
        }
      }
    }
    Step(Pointer& pointer, size_t index) : Step(pointer, fmt::format_int(index).c_str()) {}
    ~Step() { text_.resize(size_); }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;

   private:
    std::string& text_;
    const size_t size_;
  };

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

class Differ {
 public:
  explicit Differ(json::storage_ptr memory) : operations_(std::move(memory)) {}

  void Compare(const Json& before, const Json& after) {
    if (before.is_object() && after.is_object()) {
      CompareObjects(before.get_object(), after.get_object());
    } else if (before.is_array() && after.is_array()) {
      CompareLists(before.get_array(), after.get_array());
    } else if (!Equal(before, after)) {
      Put("replace", after);
    }
  }

  json::array Take() { return std::move(operations_); }

 private:
  void CompareObjects(const json::object& before, const json::object& after) {
    // What was changed was a copy: mostly a member is where it was, and need not be looked for.
    size_t same = 0;
    const size_t both = std::min(before.size(), after.size());
    while (same < both && before.begin()[same].key() == after.begin()[same].key()) ++same;
    for (size_t i = same; i < before.size(); ++i) {
      const json::string_view name = before.begin()[i].key();
      if (!after.contains(name)) Remove(name);
    }
    for (size_t i = 0; i < after.size(); ++i) {
      const auto& [name, value] = after.begin()[i];
      CompareMember(i < same ? &before.begin()[i].value() : before.if_contains(name), value, name);
    }
  }

  void CompareMember(const Json* before, const Json& after, std::string_view name) {
    // Most are unchanged: no path is made.
    if (before != nullptr && before->is_primitive() && after.is_primitive() &&
        Equal(*before, after)) {
      return;
    }
    const Pointer::Step step(at_, name);
    if (before == nullptr) {
      Put("add", after);
    } else {
      Compare(*before, after);
    }
  }

  void CompareLists(const json::array& before, const json::array& after) {
    const size_t shared = std::min(before.size(), after.size());
    for (size_t i = 0; i < shared; ++i) {
      const Pointer::Step step(at_, i);
      Compare(before[i], after[i]);
    }
    for (size_t i = before.size(); i > shared; --i) Remove(i - 1);
    for (size_t i = shared; i < after.size(); ++i) {
      const Pointer::Step step(at_, i);
      Put("add", after[i]);
    }
  }

  // Made in its place: from a list of members it would be made elsewhere, and copied.
  json::object& Operation(std::string_view name) {
    json::object& operation = operations_.emplace_back(nullptr).emplace_object();
    operation.reserve(3);
    operation.emplace("op", name);
    operation.emplace("path", at_.text());
    return operation;
  }
  void Put(std::string_view name, const Json& value) { Operation(name).emplace("value", value); }
  template <class Name>
  void Remove(const Name& name) {
    const Pointer::Step step(at_, name);
    Operation("remove");
  }

  Pointer at_;
  json::array operations_;
};

}  // namespace

Json CreateJsonPatch(const Json& before, const Json& after) {
  Differ differ(after.storage());
  differ.Compare(before, after);
  return differ.Take();
}

}  // namespace koord::kube
