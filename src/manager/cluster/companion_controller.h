#pragma once
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/metrics/metrics.h"
#include "kube/api_error.h"
#include "kube/objects/meta.h"
#include "kube/patch/merge_patch.h"
#include "manager/cluster/node_controller.h"
#include "manager/cluster/own_writes.h"

namespace koord::manager {

// Keeps one object for each node, under the node's name: makes it with the node, removes it with
// the node, and keeps its spec as it should be. Whatever else the object has is not touched.
template <class T>
class CompanionController : public NodeController {
 public:
  using Spec = decltype(T::spec);

 protected:
  // `counts` has the labels status and reason.
  CompanionController(ManagerContext& context, kube::Informer<T>& objects, kube::Resource resource,
                      metrics::Counters& counts)
      : NodeController(context),
        objects_(objects),
        resource_(std::move(resource)),
        counts_(counts),
        writes_(context.clock()) {
    Watch(objects_, [this](const auto& before, const auto& after) {
      const bool same = before != nullptr && after != nullptr && before->spec == after->spec;
      if (!same) Enqueue((after != nullptr ? after : before)->metadata.name);
    });
    Watch(informers().nodes, [this](const auto& before, const auto& after) {
      if (before != nullptr && after != nullptr && SameForUs(*before, *after)) return;
      Enqueue((after != nullptr ? after : before)->metadata.name);
    });
  }

  // How the object should be. Nothing: it stays as it is. `current` is null if there is none yet.
  virtual std::optional<Spec> SpecFor(const kube::Node& node, const T* current) = 0;

  std::vector<std::string> Others() const final {
    std::vector<std::string> names;
    for (const auto& object : objects_.List()) names.push_back(object->metadata.name);
    return names;
  }

 private:
  static bool SameForUs(const kube::Node& before, const kube::Node& after) {
    return before.status.allocatable == after.status.allocatable &&
           before.metadata.labels == after.metadata.labels &&
           before.metadata.annotations == after.metadata.annotations;
  }

  void Reconcile(const std::string& name, kube::WorkQueue::Finish done) final {
    const auto node = informers().nodes.Get({"", name});
    const auto object = objects_.Get({"", name});
    if (node == nullptr) return Remove(object.get(), std::move(done));
    const std::string_view version =
        object != nullptr ? std::string_view(object->metadata.resource_version) : "";
    if (const auto wait = writes_.Wait(name, version)) {
      EnqueueAfter(name, *wait);
      return done(true);
    }
    const std::optional<Spec> spec = SpecFor(*node, object.get());
    if (!spec) return done(true);
    if (object == nullptr) return Create(name, *spec, std::move(done));
    Change(*object, *spec, std::move(done));
  }

  void Create(const std::string& name, const Spec& spec, kube::WorkQueue::Finish done) {
    T object;
    object.metadata.name = name;
    object.spec = spec;
    kube::Json body = kube::EncodeObject(resource_, object);
    context().client.Create(resource_, "", body, {}, OnWritten("create", name, std::move(done)));
  }

  void Change(const T& object, const Spec& spec, kube::WorkQueue::Finish done) {
    kube::Json patch = kube::CreateMergePatch(kube::Encode(object.spec), kube::Encode(spec));
    if (patch.as_object().empty()) return done(true);
    context().client.Patch(
        resource_, {"", object.metadata.name}, kube::PatchType::kMerge,
        {{"metadata", {{"uid", object.metadata.uid}}}, {"spec", std::move(patch)}}, {},
        OnWritten("update", object.metadata.name, std::move(done)));
  }

  void Remove(const T* object, kube::WorkQueue::Finish done) {
    if (object == nullptr) return done(true);
    writes_.Forget(object->metadata.name);
    context().client.Delete(resource_, {"", object->metadata.name}, {.uid = object->metadata.uid},
                            OnWritten("delete", {}, std::move(done)));
  }

  // What is there when it should be made, and gone when it should be removed, is as it should be.
  kube::Client::Done OnWritten(std::string_view verb, std::string name,
                               kube::WorkQueue::Finish done) {
    return scope().Wrap([this, verb, name = std::move(name),
                         done = std::move(done)](StatusOr<kube::Json> answer) {
      const Status& status = answer.status();
      const bool fine = answer.ok() || kube::IsNotFound(status) || kube::IsAlreadyExists(status);
      counts_.With({fine ? "succeeded" : "failed", std::string(verb) + resource_.kind}).Increment();
      if (answer.ok() && !name.empty()) writes_.Remember(name, *answer);
      if (!fine) {
        LOG_WARNING("Could not write an object of a node", {"kind", resource_.kind}, {"verb", verb},
                    {"node", name}, {"err", status});
      }
      done(fine);
    });
  }

  kube::Informer<T>& objects_;
  const kube::Resource resource_;
  metrics::Counters& counts_;
  OwnWrites writes_;
};

}  // namespace koord::manager
