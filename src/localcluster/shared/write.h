#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "kube/client/client.h"
#include "kube/json.h"
#include "kube/objects/meta.h"
#include "kube/resource.h"

// What a controller wants to change, as values: a decision is a list of writes, so that it can be
// made without a cluster, compared in a test, and carried out by one piece of code for all.
namespace koord::localcluster {

struct Write {
  enum class Verb { kCreate, kPatch, kDelete };

  Verb verb = Verb::kPatch;
  kube::Resource resource;
  kube::ObjectKey key;
  kube::Json body;  // the object or the patch
  kube::PatchType patch_type = kube::PatchType::kMerge;
  std::string subresource;  // a creation with one is a POST to it
  kube::DeleteOptions options;
  bool may_exist = false;  // a creation that finds the object there has done its work
};

// `object` needs no apiVersion and kind; its name and namespace make the key.
Write Create(const kube::Resource& resource, kube::Json object);
Write CreateUnlessThere(const kube::Resource& resource, kube::Json object);
Write MergePatch(const kube::Resource& resource, const kube::ObjectMeta& of, kube::Json patch);
// Fails if anybody else has written the object since.
Write PinnedPatch(const kube::Resource& resource, const kube::ObjectMeta& of, kube::Json patch);
Write StrategicPatch(const kube::Resource& resource, const kube::ObjectMeta& of, kube::Json patch,
                     std::string_view subresource = {});
// Changes `before` into `after` under the member `status`; nothing if they are equal. The second
// form is pinned.
std::optional<Write> StatusPatch(const kube::Resource& resource, const kube::ObjectMeta& of,
                                 const kube::Json& before, const kube::Json& after);
std::optional<Write> PinnedStatusPatch(const kube::Resource& resource, const kube::ObjectMeta& of,
                                       const kube::Json& before, const kube::Json& after);
// Assigns the pod to a node, unless somebody has in the meantime.
Write Bind(const kube::ObjectMeta& pod, const std::string& node);
// Deletes this very object: one that was made anew under its name is left alone.
Write Delete(const kube::Resource& resource, const kube::ObjectMeta& of);
// Without waiting for the pod's node.
Write DeleteNow(const kube::Resource& resource, const kube::ObjectMeta& of);

// The smallest merge patch that turns `before` into `after`; an empty object if they are equal.
kube::Json MergeDifference(const kube::Json& before, const kube::Json& after);

// "patch replicasets/status default/web {...}": for logs and tests.
std::string ToString(const Write& write);

// Whether the write's purpose is reached although the server refused it: what should go is gone,
// what should be there is there.
bool IsMoot(const Write& write, const Status& status);

void Send(kube::Client& client, const Write& write, kube::Client::Done done);

// What became of a write. Writes after a failed one may not have been tried at all. A moot write
// counts as answered with null.
struct WriteResult {
  const Write* write = nullptr;  // valid during the callback
  StatusOr<kube::Json> answer;
};

// Carries out writes in order, in batches of 1, 2, 4, ...: when something is wrong with all of
// them, few are tried in vain. A batch with a failure is the last. `done` is called once, inside
// this call if there is nothing to write.
void SendAll(kube::Client& client, std::vector<Write> writes,
             std::function<void(std::vector<WriteResult>)> done);

}  // namespace koord::localcluster
