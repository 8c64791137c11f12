#include "localcluster/assembly/definitions.h"

#include <memory>
#include <string>

#include "kube/resources.h"
#include "localcluster/crds/local_crds.h"

namespace koord::localcluster {
namespace {

struct Progress {
  size_t left = 0;
  Status first_error;
  std::function<void(Status)> done;
};

}  // namespace

void InstallDefinitions(kube::Client& client, std::function<void(Status)> done) {
  auto progress = std::make_shared<Progress>();
  progress->left = LocalCrds().size();
  progress->done = std::move(done);
  if (progress->left == 0) return progress->done(Internal("no definitions in this program"));
  for (const kube::Json& definition : LocalCrds()) {
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
