#include "kube/patch/json_diff.h"

#include <algorithm>
#include <string>

namespace koord::kube {
namespace {

std::string Child(const std::string& path, std::string_view name) {
  std::string child = path + "/";
  for (const char c : name) {
    if (c == '~') {
      child += "~0";
    } else if (c == '/') {
      child += "~1";
    } else {
      child += c;
    }
  }
  return child;
}

class Differ {
 public:
  void Compare(const Json& before, const Json& after, const std::string& path) {
    if (before.is_object() && after.is_object()) {
      CompareObjects(before.get_object(), after.get_object(), path);
    } else if (before.is_array() && after.is_array()) {
      CompareLists(before.get_array(), after.get_array(), path);
    } else if (!Equal(before, after)) {
      Put("replace", path, after);
    }
  }

  json::array Take() { return std::move(operations_); }

 private:
  void CompareObjects(const json::object& before, const json::object& after,
                      const std::string& path) {
    for (const auto& [name, value] : before) {
      if (!after.contains(name)) Remove(Child(path, name));
    }
    for (const auto& [name, value] : after) {
      const Json* old = before.if_contains(name);
      if (old == nullptr) {
        Put("add", Child(path, name), value);
      } else if (old->is_primitive() && value.is_primitive()) {  // most are: no path is made
        if (!Equal(*old, value)) Put("replace", Child(path, name), value);
      } else {
        Compare(*old, value, Child(path, name));
      }
    }
  }

  void CompareLists(const json::array& before, const json::array& after, const std::string& path) {
    const size_t shared = std::min(before.size(), after.size());
    for (size_t i = 0; i < shared; ++i)
      Compare(before[i], after[i], Child(path, std::to_string(i)));
    for (size_t i = before.size(); i > shared; --i) Remove(Child(path, std::to_string(i - 1)));
    for (size_t i = shared; i < after.size(); ++i) {
      Put("add", Child(path, std::to_string(i)), after[i]);
    }
  }

  void Put(std::string_view operation, const std::string& path, const Json& value) {
    operations_.push_back({{"op", operation}, {"path", path}, {"value", value}});
  }
  void Remove(const std::string& path) {
    operations_.push_back({{"op", "remove"}, {"path", path}});
  }

  json::array operations_;
};

}  // namespace

Json CreateJsonPatch(const Json& before, const Json& after) {
  Differ differ;
  differ.Compare(before, after, "");
  return differ.Take();
}

}  // namespace koord::kube
