#include "kube/config_document.h"

#include <algorithm>

#include "base/strings.h"
#include "base/suggest.h"

namespace koord::kube {

std::string LocatedMessage(std::string_view file, int line, std::string_view path,
                           std::string_view message) {
  std::string text(file);
  if (line > 0) text += fmt::format("{}{}", text.empty() ? "line " : ":", line);
  for (const std::string_view part : {path, message}) {
    if (part.empty()) continue;
    if (!text.empty()) text += ": ";
    text += part;
  }
  return text;
}

StatusOr<ConfigDocument> ConfigDocument::Parse(std::string_view text, std::string_view file) {
  ConfigDocument config;
  config.file_ = file;
  StatusOr<std::vector<YamlDocument>> documents = ParseYamlDocuments(text);
  if (!documents.ok()) {
    // The YAML parser dislikes tabs, which JSON allows.
    StatusOr<Json> parsed = ParseJson(text);
    if (!parsed.ok()) return InvalidArgument("{}:{}", file, Message(documents.status()));
    config.document_.value = *std::move(parsed);
    return config;
  }
  std::erase_if(*documents, [](const YamlDocument& each) { return each.value.is_null(); });
  if (documents->size() > 1) {
    return InvalidArgument("{}:{}: expected one document, found another", file,
                           (*documents)[1].line);
  }
  config.has_lines_ = true;
  if (documents->empty()) {
    config.document_.value = json::object();
  } else {
    config.document_ = std::move(documents->front());
  }
  return config;
}

int ConfigDocument::LineOf(std::string_view path) const {
  if (!has_lines_) return 0;
  if (!ignores_case_) return document_.LineOf(path);
  for (const auto& [written, line] : document_.lines) {
    if (EqualsIgnoreCase(written, path)) return line;
  }
  const size_t end = path.find_last_of(".[");
  return end == std::string_view::npos ? document_.line : LineOf(path.substr(0, end));
}

std::string ConfigDocument::Locate(std::string_view path, std::string_view message) const {
  return LocatedMessage(file_, LineOf(path), path, message);
}

void ConfigDocument::AddError(std::string_view path, std::string_view message) {
  problems_.push_back({LineOf(path), std::string(path), std::string(message), true});
}

void ConfigDocument::AddWarning(std::string_view path, std::string_view message) {
  problems_.push_back({LineOf(path), std::string(path), std::string(message), false});
  warnings_.push_back(Locate(path, message));
}

Status ConfigDocument::status() const {
  if (ok()) return absl::OkStatus();
  std::vector<Problem> problems = problems_;
  std::ranges::stable_sort(problems, {}, &Problem::line);
  std::vector<std::string> lines;
  for (const Problem& each : problems) {
    if (each.is_error) lines.push_back(LocatedMessage(file_, each.line, each.path, each.message));
  }
  return InvalidArgument("{}", Join(lines, "\n"));
}

ConfigField ConfigField::Member(std::string_view name) const {
  return ConfigField(*document_,
                     path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name));
}

ConfigField ConfigField::Item(size_t index) const {
  return ConfigField(*document_, fmt::format("{}[{}]", path_, index));
}

void ConfigField::CheckRange(int64_t value, int64_t least, int64_t most) const {
  if (value < least || value > most) Error("{} is not between {} and {}", value, least, most);
}

void ConfigField::CheckAtLeast(int64_t value, int64_t least) const {
  if (value < least) Error("{} is too small: must be at least {}", value, least);
}

void ConfigField::CheckOneOf(std::string_view value,
                             std::span<const std::string_view> allowed) const {
  if (std::ranges::find(allowed, value) != allowed.end()) return;
  Error("{} is not one of {}", Quote(value, 64), Join(allowed, ", "));
}

namespace strict_internal {

bool ExpectObject(const Json& in, const ConfigField& at) {
  if (in.is_object()) return true;
  ReportLeaf(codec_internal::WrongType("an object", in), at);
  return false;
}

bool ExpectList(const Json& in, const ConfigField& at) {
  if (in.is_array()) return true;
  ReportLeaf(codec_internal::WrongType("a list", in), at);
  return false;
}

bool Names(std::string_view written, std::string_view member, const ConfigField& at) {
  return at.ignores_case() ? EqualsIgnoreCase(written, member) : written == member;
}

void ReportUnknown(const json::object& object, const std::vector<std::string>& known,
                   const ConfigField& at) {
  for (const auto& member : object) {
    const std::string_view name = member.key();
    if (std::ranges::any_of(known, [&](const auto& each) { return Names(name, each, at); })) {
      continue;
    }
    const std::optional<std::string> meant = Suggest(name, known);
    if (meant) {
      at.Member(name).Error("unknown field (did you mean {}?)", *meant);
    } else {
      at.Member(name).Error("unknown field; known here are {}", Join(known, ", "));
    }
  }
}

void ReportLeaf(const Status& status, const ConfigField& at) {
  if (status.ok()) return;
  std::string_view message = Message(status);
  if (message.starts_with(": ")) message.remove_prefix(2);
  at.Error("{}", message);
}

}  // namespace strict_internal
}  // namespace koord::kube
