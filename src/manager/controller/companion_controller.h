#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/metrics/metrics.h"
#include "kube/objects/meta.h"
#include "kube/patch/merge_patch.h"
#include "manager/controller/node_controller.h"

namespace koord::manager {

// Keeps one object for each node, under the node's name: makes it with the node, removes it with
// the node, and keeps its spec as it should be. Whatever else the object has is not touched.
template <class T>
class CompanionController : public NodeController {
 public:
  using Spec = decltype(T::spec);

 protected:
  // `counts` has the labels status and reason.
  CompanionController(const std::string& name, ManagerContext& context, kube::Informer<T>& objects,
                      kube::Resource resource, metrics::Counters& counts)
      : NodeController(name, context),
        objects_(objects),
        resource_(std::move(resource)),
        counts_(counts) {
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

 private:
  static bool SameForUs(const kube::Node& before, const kube::Node& after) {
    return before.status.allocatable == after.status.allocatable &&
           before.metadata.labels == after.metadata.labels &&
           before.metadata.annotations == after.metadata.annotations;
  }

  // Also the names of objects whose nodes may be gone.
  std::vector<std::string> AllKeys() const final {
    std::vector<std::string> names = NodeController::AllKeys();
    for (const auto& object : objects_.List()) names.push_back(object->metadata.name);
    return names;
  }

  kube::Plan Decide(const std::string& name) final {
    const auto node = informers().nodes.Get({"", name});
    const auto object = objects_.Get({"", name});
    kube::Plan plan;
    if (node == nullptr) {
      if (object != nullptr) plan.Add(Delete(resource_, object->metadata));
      return plan;
    }
    const std::optional<Spec> spec = SpecFor(*node, object.get());
    if (spec) plan.Add(object == nullptr ? Creation(name, *spec) : Change(*object, *spec));
    return plan;
  }

  std::optional<kube::Write> Creation(const std::string& name, const Spec& spec) const {
    T object;
    object.metadata.name = name;
    object.spec = spec;
    return CreateUnlessThere(resource_, kube::EncodeObject(resource_, object));
  }

  std::optional<kube::Write> Change(const T& object, const Spec& spec) const {
    kube::Json patch = kube::CreateMergePatch(kube::Encode(object.spec), kube::Encode(spec));
    if (patch.as_object().empty()) return std::nullopt;
    return MergePatch(resource_, object.metadata,
                      {{"metadata", {{"uid", object.metadata.uid}}}, {"spec", std::move(patch)}});
  }

  void OnWritten(const std::string&, const kube::Write& write, const kube::Json&) final {
    Count("succeeded", write);
  }
  void OnRefused(const std::string& name, const kube::Write& write, const Status& status) final {
    Count("failed", write);
    LOG_WARNING("Could not write an object of a node", {"kind", resource_.kind},
                {"verb", VerbOf(write)}, {"node", name}, {"err", status});
  }

  void Count(std::string_view status, const kube::Write& write) {
    counts_.With({status, std::string(VerbOf(write)) + resource_.kind}).Increment();
  }
  static std::string_view VerbOf(const kube::Write& write) {
    static constexpr std::string_view kVerbs[] = {"create", "update", "delete"};
    return kVerbs[static_cast<int>(write.verb)];
  }

  kube::Informer<T>& objects_;
  const kube::Resource resource_;
  metrics::Counters& counts_;
};

}  // namespace koord::manager
