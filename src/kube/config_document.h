#pragma once
#include <fmt/format.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "kube/codec.h"
#include "kube/yaml.h"

// Configuration files that people write by hand. Everything that is wrong with one is said at once,
// with the place: "scheduler.yaml:12: profiles[0].schedulerName: must not be empty".
namespace koord::kube {

// A file's document, and what was found to be wrong or odd in it.
class ConfigDocument {
 public:
  // YAML or JSON, one document. An empty one is an empty object.
  static StatusOr<ConfigDocument> Parse(std::string_view text, std::string_view file);

  const Json& value() const { return document_.value; }
  const std::string& file() const { return file_; }
  // From now on names match without regard to case, as programs read JSON that people write into
  // annotations and ConfigMaps.
  void IgnoreCase() { ignores_case_ = true; }
  bool ignores_case() const { return ignores_case_; }
  // Of what stands at a path, or above it; 0 if lines are not known.
  int LineOf(std::string_view path) const;

  void AddError(std::string_view path, std::string_view message);
  void AddWarning(std::string_view path, std::string_view message);

  // What was said of one place.
  struct Problem {
    int line = 0;
    std::string path;
    std::string message;
    bool is_error = true;
  };
  const std::vector<Problem>& problems() const { return problems_; }
  const std::vector<std::string>& warnings() const { return warnings_; }
  bool ok() const { return problems_.size() == warnings_.size(); }
  // Of all errors, one a line, in the order of the file.
  Status status() const;

 private:
  ConfigDocument() = default;
  std::string Locate(std::string_view path, std::string_view message) const;

  std::string file_;
  YamlDocument document_;
  bool has_lines_ = false;
  bool ignores_case_ = false;
  std::vector<Problem> problems_;
  std::vector<std::string> warnings_;  // the texts of those
};

// "file:12: path: message"; what is empty or 0 is left out.
std::string LocatedMessage(std::string_view file, int line, std::string_view path,
                           std::string_view message);

// A place in a document, for those who check it.
class ConfigField {
 public:
  explicit ConfigField(ConfigDocument& document, std::string path = {})
      : document_(&document), path_(std::move(path)) {}

  ConfigField Member(std::string_view name) const;
  ConfigField Item(size_t index) const;
  const std::string& path() const { return path_; }
  bool ignores_case() const { return document_->ignores_case(); }
  int line() const { return document_->LineOf(path_); }

  template <class... Args>
  void Error(fmt::format_string<Args...> format, Args&&... args) const {
    document_->AddError(path_, fmt::format(format, std::forward<Args>(args)...));
  }
  template <class... Args>
  void Warning(fmt::format_string<Args...> format, Args&&... args) const {
    document_->AddWarning(path_, fmt::format(format, std::forward<Args>(args)...));
  }

  // The usual checks; each reports the value and what is allowed.
  void CheckRange(int64_t value, int64_t least, int64_t most) const;
  void CheckAtLeast(int64_t value, int64_t least) const;
  void CheckOneOf(std::string_view value, std::span<const std::string_view> allowed) const;

 private:
  ConfigDocument* document_;
  std::string path_;
};

// Reads a value into a struct with Fields (see codec.h) as strictly as Kubernetes reads its
// configuration: unknown members and wrong types are errors. What is absent or null leaves the
// struct's member as it was, so that its initial value is the default.
template <class T>
void DecodeStrict(const Json& in, T& out, const ConfigField& at);

}  // namespace koord::kube

#include "kube/config_document_impl.h"
