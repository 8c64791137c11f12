#include "kube/controller/write.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "kube/api_error.h"
#include "kube/client/delete_options.h"
#include "kube/patch/merge_patch.h"
#include "kube/resources.h"

namespace koord::kube {
namespace {

std::optional<Write> MakeStatusPatch(const Resource& resource, const ObjectMeta& of,
                                     const Json& before, const Json& after, bool pinned) {
  Json difference = CreateMergePatch(before, after);
  if (difference.as_object().empty()) return std::nullopt;
  Json patch{{"status", std::move(difference)}};
  Write write = pinned ? PinnedPatch(resource, of, std::move(patch))
                       : MergePatch(resource, of, std::move(patch));
  write.subresource = "status";
  return write;
}

// Sends one batch after the other; keeps itself alive until the last answer.
class Batches : public std::enable_shared_from_this<Batches> {
 public:
  Batches(Client& client, std::vector<Write> writes,
          std::function<void(std::vector<WriteResult>)> done)
      : client_(client), writes_(std::move(writes)), done_(std::move(done)) {}

  void Next() {
    const size_t begin = results_.size();
    if (begin == writes_.size() || failed_) return done_(std::move(results_));
    const size_t count = std::min(batch_, writes_.size() - begin);
    batch_ *= 2;
    outstanding_ = count;
    for (size_t i = begin; i < begin + count; ++i) {
      results_.push_back({&writes_[i], absl::UnknownError("not answered")});
    }
    for (size_t i = begin; i < begin + count; ++i) {
      Send(client_, writes_[i], [self = shared_from_this(), i](StatusOr<Json> answer) {
        self->Answered(i, std::move(answer));
      });
    }
  }

 private:
  void Answered(size_t i, StatusOr<Json> answer) {
    if (!answer.ok() && IsMoot(writes_[i], answer.status())) answer = Json(nullptr);
    failed_ |= !answer.ok() && !writes_[i].independent;
    results_[i].answer = std::move(answer);
    if (--outstanding_ == 0) Next();
  }

  Client& client_;
  const std::vector<Write> writes_;
  std::function<void(std::vector<WriteResult>)> done_;
  std::vector<WriteResult> results_;
  size_t batch_ = 1;
  size_t outstanding_ = 0;
  bool failed_ = false;
};

}  // namespace

Write Create(const Resource& resource, Json object) {
  At(object, {"apiVersion"}) = resource.api_version();
  At(object, {"kind"}) = resource.kind;
  ObjectKey key = ObjectKeyOf(object);
  return {.verb = Write::Verb::kCreate,
          .resource = resource,
          .key = std::move(key),
          .body = std::move(object)};
}

Write CreateUnlessThere(const Resource& resource, Json object) {
  Write write = Create(resource, std::move(object));
  write.may_exist = true;
  return write;
}

Write MergePatch(const Resource& resource, const ObjectMeta& of, Json patch) {
  return {.verb = Write::Verb::kPatch,
          .resource = resource,
          .key = KeyOf(of),
          .body = std::move(patch)};
}

Write PinnedPatch(const Resource& resource, const ObjectMeta& of, Json patch) {
  At(patch, {"metadata", "resourceVersion"}) = of.resource_version;
  At(patch, {"metadata", "uid"}) = of.uid;
  return MergePatch(resource, of, std::move(patch));
}

Write StrategicPatch(const Resource& resource, const ObjectMeta& of, Json patch,
                     std::string_view subresource) {
  Write write = MergePatch(resource, of, std::move(patch));
  write.patch_type = PatchType::kStrategic;
  write.subresource = subresource;
  return write;
}

Write JsonPatch(const Resource& resource, const ObjectMeta& of, Json patch) {
  Write write = MergePatch(resource, of, std::move(patch));
  write.patch_type = PatchType::kJson;
  return write;
}

std::optional<Write> StatusPatch(const Resource& resource, const ObjectMeta& of, const Json& before,
                                 const Json& after) {
  return MakeStatusPatch(resource, of, before, after, false);
}

std::optional<Write> PinnedStatusPatch(const Resource& resource, const ObjectMeta& of,
                                       const Json& before, const Json& after) {
  return MakeStatusPatch(resource, of, before, after, true);
}

Write Bind(const ObjectMeta& pod, const std::string& node) {
  return {.verb = Write::Verb::kCreate,
          .resource = kPods,
          .key = KeyOf(pod),
          .body = {{"apiVersion", "v1"},
                   {"kind", "Binding"},
                   {"metadata", {{"name", pod.name}, {"namespace", pod.ns}, {"uid", pod.uid}}},
                   {"target", {{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node}}}},
          .subresource = "binding"};
}

Write Delete(const Resource& resource, const ObjectMeta& of) {
  Write write{.verb = Write::Verb::kDelete, .resource = resource, .key = KeyOf(of)};
  write.options.uid = of.uid;
  return write;
}

Write DeleteNow(const Resource& resource, const ObjectMeta& of) {
  Write write = Delete(resource, of);
  write.options.grace_period_seconds = 0;
  return write;
}

Write DeleteAllIn(const std::string& ns, const Resource& resource) {
  Write write{.verb = Write::Verb::kDeleteCollection, .resource = resource, .key = {ns, ""}};
  write.options.propagation_policy = "Background";
  return write;
}

Write Finalize(const Resource& resource, Json object) {
  ObjectKey key = ObjectKeyOf(object);
  return {.verb = Write::Verb::kUpdate,
          .resource = resource,
          .key = std::move(key),
          .body = std::move(object),
          .subresource = "finalize"};
}

std::string ToString(const Write& write) {
  static constexpr std::string_view kVerbs[] = {"create", "patch", "delete", "update",
                                                "deletecollection"};
  std::string text =
      fmt::format("{} {}", kVerbs[static_cast<int>(write.verb)], write.resource.resource);
  if (!write.subresource.empty()) text += "/" + write.subresource;
  text += " " + write.key.ToString();
  if (!write.body.is_null()) text += " " + Serialize(write.body);
  return text;
}

bool IsMoot(const Write& write, const Status& status) {
  switch (write.verb) {
    case Write::Verb::kCreate:
      return write.may_exist && kube::IsAlreadyExists(status);
    case Write::Verb::kPatch:
    case Write::Verb::kUpdate:
    case Write::Verb::kDeleteCollection:
      return kube::IsNotFound(status);
    case Write::Verb::kDelete:
      return kube::IsGone(status);
  }
  return false;
}

void Send(Client& client, const Write& write, Client::Done done) {
  const WriteOptions options{.subresource = write.subresource};
  switch (write.verb) {
    case Write::Verb::kCreate:
      if (!write.subresource.empty()) {
        return client.CreateSubresource(write.resource, write.key, write.body, options,
                                        std::move(done));
      }
      client.Create(write.resource, write.key.ns, write.body, options, std::move(done));
      break;
    case Write::Verb::kPatch:
      client.Patch(write.resource, write.key, write.patch_type, write.body, options,
                   std::move(done));
      break;
    case Write::Verb::kDelete:
      client.Delete(write.resource, write.key, write.options, std::move(done));
      break;
    case Write::Verb::kUpdate:
      client.Update(write.resource, write.key, write.body, options, std::move(done));
      break;
    case Write::Verb::kDeleteCollection:
      client.DeleteCollection(write.resource, write.key.ns, {}, write.options, std::move(done));
      break;
  }
}

void SendAll(Client& client, std::vector<Write> writes,
             std::function<void(std::vector<WriteResult>)> done) {
  std::make_shared<Batches>(client, std::move(writes), std::move(done))->Next();
}

}  // namespace koord::kube
