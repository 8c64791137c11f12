#include "localcluster/controllers/namespaces/namespace_controller.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/strings.h"
#include "kube/api_error.h"
#include "kube/resources.h"

namespace koord::localcluster {
namespace {

using kube::Json;

constexpr Duration kLookAgain = 1s;
constexpr std::string_view kFinalizer = "kubernetes";
constexpr std::string_view kContentRemaining = "NamespaceContentRemaining";

bool IsTerminating(const kube::Namespace& ns) {
  const auto& finalizers = ns.spec.finalizers;
  return kube::IsBeingDeleted(ns.metadata) &&
         std::find(finalizers.begin(), finalizers.end(), kFinalizer) != finalizers.end();
}

bool IsContent(const kube::CatalogEntry& entry) {
  return entry.resource.namespaced && entry.preferred && entry.Can("list") &&
         entry.Can("deletecollection");
}

// "Some resources are remaining: pods. has 3 resource instances"
std::string Remaining(const std::map<std::string, size_t>& left) {
  std::vector<std::string> parts;
  for (const auto& [resource, count] : left) {
    parts.push_back(fmt::format("{} has {} resource instances", resource, count));
  }
  return "Some resources are remaining: " + Join(parts, ", ");
}

}  // namespace

// One look at one namespace: lists every kind, deletes what it finds, and if it finds nothing lets
// the namespace go.
class NamespaceController::Purge : public std::enable_shared_from_this<Purge> {
 public:
  // `done` learns whether everything went well and whether the namespace was empty.
  Purge(kube::Client& client, std::string ns, std::function<void(bool ok, bool empty)> done)
      : client_(client), ns_(std::move(ns)), done_(std::move(done)) {}

  void Run(const std::vector<kube::CatalogEntry>& entries) {
    outstanding_ = 1;
    for (const kube::CatalogEntry& entry : entries) {
      if (IsContent(entry)) Look(entry.resource);
    }
    Answered(absl::OkStatus());
  }

 private:
  void Look(const kube::Resource& resource) {
    ++outstanding_;
    client_.List(resource, ns_, {}, [self = shared_from_this(), resource](StatusOr<Json> list) {
      const kube::json::array* items = list.ok() ? kube::FindArray(*list, {"items"}) : nullptr;
      if (items == nullptr || items->empty()) return self->Answered(list.status());
      self->left_[resource.qualified()] = items->size();
      self->Delete(resource);
    });
  }

  void Delete(const kube::Resource& resource) {
    client_.DeleteCollection(
        resource, ns_, {}, {.propagation_policy = "Background"},
        [self = shared_from_this()](StatusOr<Json> answer) { self->Answered(answer.status()); });
  }

  void Answered(Status status) {
    if (!status.ok() && !kube::IsNotFound(status)) status_ = std::move(status);
    if (--outstanding_ > 0) return;
    if (!status_.ok()) return done_(false, false);
    if (left_.empty()) return Finalize();
    Explain();
  }

  void Explain() {
    const Json condition{{"type", kContentRemaining},
                         {"status", "True"},
                         {"reason", "SomeResourcesRemain"},
                         {"message", Remaining(left_)}};
    const Json patch{{"status", {{"conditions", kube::json::array{condition}}}}};
    client_.Patch(kube::kNamespaces, {"", ns_}, kube::PatchType::kStrategic, patch,
                  {.subresource = "status"},
                  [self = shared_from_this()](StatusOr<Json>) { self->done_(true, false); });
  }

  // Asks for the namespace as it is now: others may have finalizers of their own in its spec.
  void Finalize() {
    client_.Get(kube::kNamespaces, {"", ns_}, [self = shared_from_this()](StatusOr<Json> ns) {
      if (!ns.ok()) return self->done_(kube::IsNotFound(ns.status()), true);
      kube::json::array rest;
      if (const auto* finalizers = kube::FindArray(*ns, {"spec", "finalizers"})) {
        for (const Json& each : *finalizers) {
          if (!each.is_string() || each.get_string() != kFinalizer) rest.push_back(each);
        }
      }
      kube::At(*ns, {"spec", "finalizers"}) = std::move(rest);
      self->client_.Update(kube::kNamespaces, {"", self->ns_}, *ns, {.subresource = "finalize"},
                           [self](StatusOr<Json> answer) {
                             self->done_(answer.ok() || kube::IsNotFound(answer.status()), true);
                           });
    });
  }

  kube::Client& client_;
  const std::string ns_;
  std::function<void(bool, bool)> done_;
  std::map<std::string, size_t> left_;
  Status status_;
  int outstanding_ = 0;
};

NamespaceController::NamespaceController(ControllerContext& context, kube::ResourceCatalog& catalog)
    : context_(context),
      catalog_(catalog),
      queue_(context.loop(), [this](const std::string& name, kube::WorkQueue::Finish done) {
        Handle(name, std::move(done));
      }) {
  context_.informers.namespaces.AddHandler(scope_.Wrap([this](const auto&, const auto& after) {
    if (after != nullptr && IsTerminating(*after)) queue_.Add(after->metadata.name);
  }));
}

void NamespaceController::Handle(const std::string& name, kube::WorkQueue::Finish done) {
  const auto ns = context_.informers.namespaces.Get({"", name});
  if (ns == nullptr || !IsTerminating(*ns)) return done(true);
  if (!catalog_.known()) {
    queue_.AddAfter(name, kLookAgain);
    return done(true);
  }
  std::make_shared<Purge>(context_.client, name,
                          scope_.Wrap([this, name, done = std::move(done)](bool ok, bool empty) {
                            if (ok && !empty) queue_.AddAfter(name, kLookAgain);
                            done(ok);
                          }))
      ->Run(catalog_.entries());
}

ServiceAccountController::ServiceAccountController(ControllerContext& context)
    : ClusterController("serviceaccount-controller", context) {
  Watch(informers().namespaces, [this](const auto&, const auto& after) {
    if (after != nullptr) Enqueue(after->metadata.name);
  });
  Watch(informers().service_accounts, [this](const auto& before, const auto& after) {
    if (after == nullptr) Enqueue(before->metadata.ns);
  });
}

kube::Plan ServiceAccountController::Decide(const std::string& name) {
  kube::Plan plan;
  const auto ns = informers().namespaces.Get({"", name});
  if (ns == nullptr || kube::IsBeingDeleted(ns->metadata)) return plan;
  if (informers().service_accounts.Get({name, "default"}) != nullptr) return plan;
  plan.Add(CreateUnlessThere(kube::kServiceAccounts,
                             {{"metadata", {{"name", "default"}, {"namespace", name}}}}));
  return plan;
}

}  // namespace koord::localcluster
