#pragma once
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/status.h"
#include "kube/json.h"
#include "kube/yaml.h"

namespace koord::scenario {

// A place in a scenario file: the value there and how to speak of it in an error.
class Reader {
 public:
  Reader(const std::string& file, const kube::YamlDocument& document)
      : file_(file), document_(document), value_(document.value) {}

  const kube::Json& value() const { return value_; }
  const std::string& path() const { return path_; }
  int line() const;

  // "FILE:LINE: PATH: message"
  Status Error(std::string_view message) const;

  Reader At(std::string_view member, const kube::Json& value) const;
  Reader At(size_t index, const kube::Json& value) const;

  // All members must be among these; an unknown one is an error that suggests the nearest.
  Status CheckMembers(std::initializer_list<std::string_view> known) const;

  const kube::Json* Member(std::string_view name) const;  // null if absent
  StatusOr<std::string> String(std::string_view name, bool required = false) const;
  StatusOr<int64_t> Integer(std::string_view name) const;  // required
  // Calls visit(Reader) for each element; absent means empty.
  template <class Visit>
  Status ForEach(std::string_view name, Visit visit) const {
    const kube::Json* list = Member(name);
    if (list == nullptr) return absl::OkStatus();
    const Reader at = At(name, *list);
    if (!list->is_array()) return at.Error("expected a list");
    size_t index = 0;
    for (const kube::Json& item : list->get_array()) {
      RETURN_IF_ERROR(visit(at.At(index++, item)));
    }
    return absl::OkStatus();
  }

 private:
  Reader(const std::string& file, const kube::YamlDocument& document, std::string path,
         const kube::Json& value)
      : file_(file), document_(document), path_(std::move(path)), value_(value) {}

  const std::string& file_;
  const kube::YamlDocument& document_;
  std::string path_;
  const kube::Json& value_;
};

}  // namespace koord::scenario
