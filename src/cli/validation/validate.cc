#include "cli/validation/validate.h"

#include <algorithm>
#include <deque>
#include <optional>

#include "base/strings.h"
#include "cli/validation/config_files.h"
#include "cli/validation/manifest.h"
#include "cli/validation/object_rules.h"
#include "cli/validation/scratch_server.h"
#include "cli/validation/slo_config.h"

namespace koord::validation {
namespace {

using kube::Json;

// A list of changes to some object, which kustomize reads and no cluster.
bool IsPatch(const Json& value) {
  const kube::json::array* changes = value.if_array();
  if (changes == nullptr || changes->empty()) return false;
  return std::ranges::all_of(*changes, [](const Json& change) {
    return !kube::FindString(change, {"op"}).empty() &&
           kube::FindString(change, {"path"}).starts_with('/');
  });
}

class Validator {
 public:
  std::vector<Finding> Run(const std::vector<SourceFile>& files) && {
    for (size_t i = 0; i < files.size(); ++i) Read(files[i], i);
    // Kinds and namespaces may be defined behind where they are used.
    for (const Manifest& manifest : manifests_) {
      if (manifest.kind() == "CustomResourceDefinition") server_.Install(manifest.value());
    }
    for (const Manifest& manifest : manifests_) CheckOne(manifest);
    CheckQuotas(manifests_, findings_);
    for (SloConfig& config : configs_) config.Check();
    CheckTogether(manifests_, configs_, findings_);
    for (const SloConfig& config : configs_) config.Report(findings_);
    return std::move(findings_).Sorted();
  }

 private:
  void Read(const SourceFile& file, size_t order) {
    auto parsed = kube::ParseYamlDocuments(file.text);
    if (!parsed.ok()) return ReportUnreadable(file, order, Message(parsed.status()));
    documents_.push_back(*std::move(parsed));
    for (const kube::YamlDocument& document : documents_.back()) {
      if (!document.value.is_null()) AddManifests(file, document, document.value, "", order);
    }
  }

  // "3:7: found a tab"
  void ReportUnreadable(const SourceFile& file, size_t order, std::string_view why) {
    Finding finding{Severity::kError, file.name, 0, "", ""};
    if (const auto line = ParseInt(why.substr(0, why.find(':')))) {
      finding.line = static_cast<int>(*line);
      if (const size_t space = why.find(": "); space != std::string_view::npos) {
        why.remove_prefix(space + 2);
      }
    }
    finding.message = why;
    findings_.Add(std::move(finding), order);
  }

  void AddManifests(const SourceFile& file, const kube::YamlDocument& document, const Json& value,
                    const std::string& prefix, size_t order) {
    const Manifest manifest(file, document, value, prefix, order);
    if (manifest.kind() == "List" && manifest.api_version() == "v1") {
      const kube::json::array* items = kube::FindArray(value, {"items"});
      for (size_t i = 0; items != nullptr && i < items->size(); ++i) {
        AddManifests(file, document, (*items)[i], fmt::format("items[{}]", i), order);
      }
      return;
    }
    if (IsPatch(value)) return;
    if (!value.is_object()) {
      findings_.Error(manifest, "", "expected an object with apiVersion and kind");
    } else if (manifest.kind().empty() || manifest.api_version().empty()) {
      findings_.Error(manifest, "", "{} is missing",
                      manifest.kind().empty() ? "kind" : "apiVersion");
    } else {
      manifests_.push_back(manifest);
      if (manifest.kind() == "ConfigMap") AddConfigurations(manifest);
    }
  }

  // Programs read their configuration files from ConfigMaps.
  void AddConfigurations(const Manifest& holder) {
    const kube::json::object* data = kube::FindObject(holder.value(), {"data"});
    if (data == nullptr) return;
    for (const auto& [key, value] : *data) {
      if (!value.is_string()) continue;
      auto parsed = kube::ParseYamlDocuments(std::string_view(value.get_string()));
      if (!parsed.ok() || parsed->size() != 1) continue;
      documents_.push_back(*std::move(parsed));
      const Manifest inside(holder, fmt::format("data.{}", std::string_view(key)),
                            documents_.back().front());
      if (inside.value().is_object() && IsConfigFile(inside)) manifests_.push_back(inside);
    }
  }

  void CheckOne(const Manifest& manifest) {
    if (manifest.api_version().starts_with("kustomize.config.k8s.io/")) return;  // no cluster's
    if (IsConfigFile(manifest)) return CheckConfigFile(manifest, findings_);
    server_.Check(manifest, findings_);
    CheckObject(manifest, findings_);
    if (SloConfig::Is(manifest)) configs_.emplace_back(manifest);
  }

  ScratchServer server_;
  std::deque<std::vector<kube::YamlDocument>> documents_;  // manifests point into them
  std::vector<Manifest> manifests_;
  std::vector<SloConfig> configs_;
  Findings findings_;
};

}  // namespace

std::vector<Finding> Validate(const std::vector<SourceFile>& files) {
  return Validator().Run(files);
}

}  // namespace koord::validation
