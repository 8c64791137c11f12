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
namespace koord::kube {

struct Write {
  enum class Verb { kCreate, kPatch, kDelete, kUpdate, kDeleteCollection };

  Verb verb = Verb::kPatch;
  Resource resource;
  ObjectKey key;
  Json body;  // the object or the patch
  PatchType patch_type = PatchType::kMerge;
  std::string subresource;  // a creation with one is a POST to it
  DeleteOptions options;
  bool may_exist = false;    // a creation that finds the object there has done its work
  bool independent = false;  // if it is refused, those after it are tried all the same
};

// `object` needs no apiVersion and kind; its name and namespace make the key.
Write Create(const Resource& resource, Json object);
Write CreateUnlessThere(const Resource& resource, Json object);
Write MergePatch(const Resource& resource, const ObjectMeta& of, Json patch);
// Fails if anybody else has written the object since.
Write PinnedPatch(const Resource& resource, const ObjectMeta& of, Json patch);
Write StrategicPatch(const Resource& resource, const ObjectMeta& of, Json patch,
                     std::string_view subresource = {});
// `patch` is a list of operations of RFC 6902.
Write JsonPatch(const Resource& resource, const ObjectMeta& of, Json patch);
// Changes `before` into `after` under the member `status`; nothing if they are equal. The second
// form is pinned.
std::optional<Write> StatusPatch(const Resource& resource, const ObjectMeta& of, const Json& before,
                                 const Json& after);
std::optional<Write> PinnedStatusPatch(const Resource& resource, const ObjectMeta& of,
                                       const Json& before, const Json& after);
// Assigns the pod to a node, unless somebody has in the meantime.
Write Bind(const ObjectMeta& pod, const std::string& node);
// Deletes this very object: one that was made anew under its name is left alone.
Write Delete(const Resource& resource, const ObjectMeta& of);
// Without waiting for the pod's node.
Write DeleteNow(const Resource& resource, const ObjectMeta& of);
// All objects of the kind in the namespace, and in the background what they own.
Write DeleteAllIn(const std::string& ns, const Resource& resource);
// Lets an object go that is held by finalizers in its spec, as namespaces are: `object`, which was
// read as a whole, has those that stay.
Write Finalize(const Resource& resource, Json object);

// "patch replicasets/status default/web {...}": for logs and tests.
std::string ToString(const Write& write);

// Whether the write's purpose is reached although the server refused it: what should go is gone,
// what should be there is there.
bool IsMoot(const Write& write, const Status& status);

void Send(Client& client, const Write& write, Client::Done done);

// What became of a write. Writes after a failed one may not have been tried at all. A moot write
// counts as answered with null.
struct WriteResult {
  const Write* write = nullptr;  // valid during the callback
  StatusOr<Json> answer;
};

// Carries out writes in order, in batches of 1, 2, 4, ...: when something is wrong with all of
// them, few are tried in vain. A batch with a failure is the last, unless what failed was
// independent. `done` is called once, inside
// this call if there is nothing to write.
void SendAll(Client& client, std::vector<Write> writes,
             std::function<void(std::vector<WriteResult>)> done);

}  // namespace koord::kube
