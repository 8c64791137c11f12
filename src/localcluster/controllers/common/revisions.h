#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kube/controller/plan.h"
#include "kube/objects/workloads.h"
#include "localcluster/controllers/common/ownership.h"

// The history of a StatefulSet or DaemonSet: one ControllerRevision for each pod template it had,
// which is also what `kubectl rollout undo` goes back to.
namespace koord::localcluster {

using RevisionPtr = std::shared_ptr<const kube::ControllerRevision>;
using RevisionList = std::vector<RevisionPtr>;

struct RevisionInput {
  Owner owner;
  const kube::Json& pod_template;
  const RevisionList& revisions;  // that the owner controls
  std::optional<int32_t> collision_count;
  // Whether some other ControllerRevision has that name.
  std::function<bool(const std::string& name)> is_taken;
};

struct RevisionChoice {
  std::string name;    // "web-5d9c7b8f6"
  std::string hash;    // "5d9c7b8f6"
  bool usable = true;  // false: the name is taken, count a collision and decide again
};

// The revision of the owner's present template. One that is missing is made, and one that has come
// back into use gets the highest number again.
RevisionChoice ChooseRevision(const RevisionInput& input, kube::Plan& plan);

// The pod template that a revision stands for; null if it holds none.
const kube::Json* TemplateOf(const kube::ControllerRevision& revision);

// Removes the oldest revisions that are not in use and exceed the limit.
void TidyRevisions(const RevisionList& revisions, const std::vector<std::string>& names_in_use,
                   int32_t limit, kube::Plan& plan);

}  // namespace koord::localcluster
