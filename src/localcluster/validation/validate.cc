#include "localcluster/validation/validate.h"

#include <deque>
#include <optional>

#include "base/strings.h"
#include "localcluster/validation/config_files.h"
#include "localcluster/validation/manifest.h"
#include "localcluster/validation/object_rules.h"
#include "localcluster/validation/scratch_server.h"
#include "localcluster/validation/slo_config.h"

namespace koord::validation {
namespace {

using kube::Json;

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
    size_t count = 0;
    for (const kube::YamlDocument& document : documents_.back()) {
      if (document.value.is_null()) continue;
      ++count;
      AddManifests(file, document, document.value, "", order);
    }
    if (count == 1) whole_.emplace(order, file.text);
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
    if (!value.is_object()) {
      findings_.Error(manifest, "", "expected an object with apiVersion and kind");
    } else if (manifest.kind().empty() || manifest.api_version().empty()) {
      findings_.Error(manifest, "", "{} is missing",
                      manifest.kind().empty() ? "kind" : "apiVersion");
    } else {
      manifests_.push_back(manifest);
    }
  }

  void CheckOne(const Manifest& manifest) {
    if (manifest.api_version().starts_with("kustomize.config.k8s.io/")) return;  // no cluster's
    if (IsConfigFile(manifest)) {
      const auto whole = whole_.find(manifest.order());
      return CheckConfigFile(
          manifest, whole != whole_.end() ? whole->second : kube::Serialize(manifest.value()),
          findings_);
    }
    server_.Check(manifest, findings_);
    CheckObject(manifest, findings_);
    if (SloConfig::Is(manifest)) configs_.emplace_back(manifest);
  }

  ScratchServer server_;
  std::deque<std::vector<kube::YamlDocument>> documents_;  // manifests point into them
  std::map<size_t, std::string> whole_;                    // texts of files with a single document
  std::vector<Manifest> manifests_;
  std::vector<SloConfig> configs_;
  Findings findings_;
};

}  // namespace

std::vector<Finding> Validate(const std::vector<SourceFile>& files) {
  return Validator().Run(files);
}

}  // namespace koord::validation
