#include "localcluster/cluster/definitions.h"

#include <memory>
#include <string>
#include <vector>

#include "api/crds.h"
#include "kube/resources.h"
#include "kube/yaml.h"

namespace koord::localcluster {
namespace {

// Parsed once a process: scenarios start hundreds of clusters.
const std::vector<kube::Json>& Definitions() {
  static const std::vector<kube::Json> kDefinitions = [] {
    std::vector<kube::Json> definitions;
    for (const EmbeddedFile& file : api::CustomResourceDefinitions()) {
      auto documents = kube::ParseYamlDocuments(file.text);
      if (!documents.ok()) continue;
      for (kube::YamlDocument& document : *documents) {
        if (document.value.is_object()) definitions.push_back(std::move(document.value));
      }
    }
    return definitions;
  }();
  return kDefinitions;
}

struct Progress {
  size_t left = 0;
  Status first_error;
  std::function<void(Status)> done;
};

}  // namespace

void InstallDefinitions(kube::Client& client, std::function<void(Status)> done) {
  auto progress = std::make_shared<Progress>();
  progress->left = Definitions().size();
  progress->done = std::move(done);
  if (progress->left == 0) return progress->done(Internal("no definitions in this program"));
  for (const kube::Json& definition : Definitions()) {
    const kube::ObjectKey key{"", std::string(kube::FindString(definition, {"metadata", "name"}))};
    client.Patch(kube::kCustomResourceDefinitions, key, kube::PatchType::kApply, definition,
                 {.field_manager = "koord", .force = true},
                 [progress](StatusOr<kube::Json> answer) {
                   if (!answer.ok() && progress->first_error.ok()) {
                     progress->first_error = answer.status();
                   }
                   if (--progress->left == 0) progress->done(progress->first_error);
                 });
  }
}

}  // namespace koord::localcluster
