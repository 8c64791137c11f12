#include "localcluster/assembly/default_objects.h"

#include <utility>
#include <vector>

#include "kube/controller/write.h"
#include "kube/resources.h"
#include "kube/yaml.h"

namespace koord::localcluster {
namespace {

StatusOr<std::vector<kube::Write>> PlanDefaults(bool with_config) {
  std::vector<kube::Write> writes;
  for (const EmbeddedFile& file : DefaultManifests()) {
    ASSIGN_OR_RETURN(auto documents, kube::ParseYamlDocuments(file.text));
    for (kube::YamlDocument& document : documents) {
      const std::string_view kind = kube::FindString(document.value, {"kind"});
      const bool is_class = kind == kube::kPriorityClasses.kind;
      if (!is_class && kind != kube::kConfigMaps.kind) {
        return Internal("{} has an object of kind {}", file.name, kind);
      }
      if (!is_class && !with_config) continue;
      writes.push_back(CreateUnlessThere(is_class ? kube::kPriorityClasses : kube::kConfigMaps,
                                         std::move(document.value)));
    }
  }
  return writes;
}

}  // namespace

void InstallDefaults(kube::Client& client, bool with_config, std::function<void(Status)> done) {
  StatusOr<std::vector<kube::Write>> writes = PlanDefaults(with_config);
  if (!writes.ok()) return done(writes.status());
  SendAll(client, *std::move(writes), [done](const std::vector<kube::WriteResult>& results) {
    for (const kube::WriteResult& result : results) {
      if (!result.answer.ok()) return done(result.answer.status());
    }
    done(absl::OkStatus());
  });
}

}  // namespace koord::localcluster
