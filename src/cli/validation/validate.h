#pragma once
#include <string>
#include <vector>

// Whether manifests and configuration files make sense, without a cluster: `koord validate`.
//
// Objects are shown to an API server of our own that knows Kubernetes' kinds, Koordinator's custom
// resources and those that the files define; then to the rules of koord-manager's webhooks, to what
// Koordinator reads out of labels, annotations and ConfigMaps, and to each other: thresholds that
// are fine alone may fight.
namespace koord::validation {

struct SourceFile {
  std::string name;
  std::string text;
};

enum class Severity {
  kError,    // is refused, or ignored by whoever should act on it
  kWarning,  // does not do what its author most likely wants
};

struct Finding {
  Severity severity = Severity::kError;
  std::string file;
  int line = 0;         // 0: not known
  std::string path;     // "spec.containers[0].image"; empty: the whole document
  std::string message;  // what is wrong and what is expected

  static void Fields(auto& self, auto&& field) {
    std::string severity = self.severity == Severity::kError ? "error" : "warning";
    field("severity", severity);
    field("file", self.file);
    field("line", self.line);
    field("path", self.path);
    field("message", self.message);
  }
  bool operator==(const Finding&) const = default;
};

// "FILE:LINE: error: PATH: MESSAGE"
std::string ToString(const Finding& finding);

// By file, in the order given, and by line.
std::vector<Finding> Validate(const std::vector<SourceFile>& files);

}  // namespace koord::validation
