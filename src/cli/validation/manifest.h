#pragma once
#include <fmt/format.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/validation/validate.h"
#include "kube/config_document.h"
#include "kube/json.h"
#include "kube/yaml.h"

namespace koord::validation {

// One object of a file, or a configuration in the text of one of its members.
class Manifest {
 public:
  // `prefix` is where the object stands in its document: "", or "items[2]" of a List.
  Manifest(const SourceFile& file, const kube::YamlDocument& document, const kube::Json& value,
           std::string prefix, size_t order)
      : file_(&file),
        document_(&document),
        value_(&value),
        prefix_(std::move(prefix)),
        order_(order) {}
  // A document that is the text at `path` of another.
  Manifest(const Manifest& holder, std::string path, const kube::YamlDocument& document)
      : file_(holder.file_),
        document_(&document),
        value_(&document.value),
        order_(holder.order_),
        holder_(std::make_shared<const Manifest>(holder)),
        path_in_holder_(std::move(path)) {}

  const kube::Json& value() const { return *value_; }
  const std::string& file() const { return file_->name; }
  size_t order() const { return order_; }  // of the file
  std::string_view api_version() const { return kube::FindString(*value_, {"apiVersion"}); }
  std::string_view kind() const { return kube::FindString(*value_, {"kind"}); }
  std::string_view name() const { return kube::FindString(*value_, {"metadata", "name"}); }
  std::string_view ns() const { return kube::FindString(*value_, {"metadata", "namespace"}); }

  // In the file, of what stands at a path of this object.
  int LineOf(std::string_view path) const;
  // Of a line inside of the text that stands at `path`, counted from 1.
  int LineInside(std::string_view path, int line) const;
  // As readers of the file know it.
  std::string PathOf(std::string_view path) const;

 private:
  // In the file, of a line of the text that this object was read from.
  int LineAt(int line) const;

  const SourceFile* file_;
  const kube::YamlDocument* document_;
  const kube::Json* value_;
  std::string prefix_;
  size_t order_;
  std::shared_ptr<const Manifest> holder_;
  std::string path_in_holder_;
};

// Collects what is found.
class Findings {
 public:
  void Add(Finding finding, size_t order) { found_.push_back({order, std::move(finding)}); }

  template <class... Args>
  void Error(const Manifest& at, std::string_view path, fmt::format_string<Args...> format,
             Args&&... args) {
    Add(Severity::kError, at, path, fmt::format(format, std::forward<Args>(args)...));
  }
  template <class... Args>
  void Warning(const Manifest& at, std::string_view path, fmt::format_string<Args...> format,
               Args&&... args) {
    Add(Severity::kWarning, at, path, fmt::format(format, std::forward<Args>(args)...));
  }
  void Add(Severity severity, const Manifest& at, std::string_view path, std::string message);

  // JSON in a member of an object, as annotations and ConfigMaps have it: `check` looks at the
  // document, and what it says of it is added with the place in the file.
  void CheckText(const Manifest& at, const std::string& path, std::string_view text,
                 const std::function<void(kube::ConfigDocument&)>& check);

  // What was found wrong in a text that stands at `path`.
  void AddProblems(const Manifest& at, const std::string& path,
                   const kube::ConfigDocument& document);

  // Without those that are said twice.
  std::vector<Finding> Sorted() &&;

 private:
  struct Found {
    size_t order;
    Finding finding;
  };
  std::vector<Found> found_;
};

std::string JoinPath(std::string_view path, std::string_view below);

}  // namespace koord::validation
