#include "cli/validation/manifest.h"

#include <algorithm>

#include "base/strings.h"

namespace koord::validation {
namespace {

// Whether the text of a member starts on the next line and keeps its own lines: "key: |".
bool IsBlock(std::string_view line) {
  line = Trim(line.substr(0, line.find(" #")));
  while (!line.empty() && (line.back() == '-' || line.back() == '+' || isdigit(line.back()) != 0)) {
    line.remove_suffix(1);
  }
  return line.ends_with('|');
}

}  // namespace

std::string JoinPath(std::string_view path, std::string_view below) {
  if (path.empty() || below.empty()) return std::string(path.empty() ? below : path);
  return fmt::format("{}{}{}", path, below.starts_with('[') ? "" : ".", below);
}

int Manifest::LineOf(std::string_view path) const {
  return LineAt(document_->LineOf(JoinPath(prefix_, path)));
}

int Manifest::LineAt(int line) const {
  return holder_ == nullptr ? line : holder_->LineInside(path_in_holder_, line);
}

std::string Manifest::PathOf(std::string_view path) const {
  return holder_ == nullptr ? std::string(path) : JoinPath(path_in_holder_, path);
}

int Manifest::LineInside(std::string_view path, int line) const {
  const int outer = LineOf(path);
  const auto lines = Split(file_->text, '\n');
  if (outer < 1 || static_cast<size_t>(outer) > lines.size()) return outer;
  return IsBlock(lines[static_cast<size_t>(outer) - 1]) ? outer + line : outer;
}

void Findings::Add(Severity severity, const Manifest& at, std::string_view path,
                   std::string message) {
  Add({severity, at.file(), at.LineOf(path), at.PathOf(path), std::move(message)}, at.order());
}

void Findings::CheckText(const Manifest& at, const std::string& path, std::string_view text,
                         const std::function<void(kube::ConfigDocument&)>& check) {
  // JSON is what components read there, and YAML is where its lines are known.
  if (const auto json = kube::ParseJson(text); !json.ok()) {
    return Error(at, path, "is not JSON: {}", Message(json.status()));
  }
  auto document = kube::ConfigDocument::Parse(text, "");
  if (!document.ok()) return Error(at, path, "{}", Message(document.status()));
  check(*document);
  AddProblems(at, path, *document);
}

void Findings::AddProblems(const Manifest& at, const std::string& path,
                           const kube::ConfigDocument& document) {
  for (const kube::ConfigDocument::Problem& each : document.problems()) {
    Add({each.is_error ? Severity::kError : Severity::kWarning, at.file(),
         at.LineInside(path, each.line), at.PathOf(JoinPath(path, each.path)), each.message},
        at.order());
  }
}

std::vector<Finding> Findings::Sorted() && {
  std::ranges::stable_sort(found_, [](const Found& a, const Found& b) {
    return std::pair(a.order, a.finding.line) < std::pair(b.order, b.finding.line);
  });
  std::vector<Finding> sorted;
  for (Found& each : found_) {
    if (std::ranges::find(sorted, each.finding) == sorted.end()) {
      sorted.push_back(std::move(each.finding));
    }
  }
  return sorted;
}

std::string ToString(const Finding& finding) {
  std::string text = finding.file;
  if (finding.line > 0) text += fmt::format(":{}", finding.line);
  text += finding.severity == Severity::kError ? ": error: " : ": warning: ";
  if (!finding.path.empty()) text += finding.path + ": ";
  return text + finding.message;
}

}  // namespace koord::validation
