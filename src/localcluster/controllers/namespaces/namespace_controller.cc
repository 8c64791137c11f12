#include "localcluster/controllers/namespaces/namespace_controller.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
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

using Counts = std::vector<std::pair<kube::Resource, size_t>>;

// "Some resources are remaining: pods. has 3 resource instances"
std::string Remaining(const Counts& left) {
  std::vector<std::string> parts;
  for (const auto& [resource, count] : left) {
    parts.push_back(fmt::format("{} has {} resource instances", resource.qualified(), count));
  }
  std::ranges::sort(parts);
  return "Some resources are remaining: " + Join(parts, ", ");
}

Json RemainingCondition(const Counts& left) {
  const Json condition{{"type", kContentRemaining},
                       {"status", "True"},
                       {"reason", "SomeResourcesRemain"},
                       {"message", Remaining(left)}};
  return {{"status", {{"conditions", kube::json::array{condition}}}}};
}

// Others may have finalizers of their own in the namespace's spec.
Json WithoutOurFinalizer(Json ns) {
  kube::json::array rest;
  if (const auto* finalizers = kube::FindArray(ns, {"spec", "finalizers"})) {
    for (const Json& each : *finalizers) {
      if (!each.is_string() || each.get_string() != kFinalizer) rest.push_back(each);
    }
  }
  kube::At(ns, {"spec", "finalizers"}) = std::move(rest);
  return ns;
}

}  // namespace

// Lists every kind of one namespace and, if there is nothing, reads the namespace itself.
class NamespaceController::Look : public std::enable_shared_from_this<Look> {
 public:
  Look(kube::Client& client, std::string ns, std::function<void(Content)> done)
      : client_(client), ns_(std::move(ns)), done_(std::move(done)) {}

  void Run(const std::vector<kube::CatalogEntry>& entries) {
    outstanding_ = 1;
    for (const kube::CatalogEntry& entry : entries) {
      if (IsContent(entry)) Count(entry.resource);
    }
    Answered(absl::OkStatus());
  }

 private:
  void Count(const kube::Resource& resource) {
    ++outstanding_;
    client_.List(resource, ns_, {}, [self = shared_from_this(), resource](StatusOr<Json> list) {
      const kube::json::array* items = list.ok() ? kube::FindArray(*list, {"items"}) : nullptr;
      if (items != nullptr && !items->empty()) {
        self->content_.left.emplace_back(resource, items->size());
      }
      self->Answered(list.status());
    });
  }

  void Answered(Status status) {
    if (!status.ok() && !kube::IsNotFound(status)) content_.status = std::move(status);
    if (--outstanding_ > 0) return;
    if (!content_.status.ok() || !content_.left.empty()) return done_(std::move(content_));
    client_.Get(kube::kNamespaces, {"", ns_}, [self = shared_from_this()](StatusOr<Json> ns) {
      if (ns.ok()) {
        self->content_.ns = *std::move(ns);
      } else if (!kube::IsNotFound(ns.status())) {
        self->content_.status = ns.status();
      }
      self->done_(std::move(self->content_));
    });
  }

  kube::Client& client_;
  const std::string ns_;
  std::function<void(Content)> done_;
  Content content_;
  int outstanding_ = 0;
};

NamespaceController::NamespaceController(ControllerContext& context, kube::ResourceCatalog& catalog)
    : ClusterController("namespace-controller", context), catalog_(catalog) {
  Watch(informers().namespaces, [this](const auto&, const auto& after) {
    if (after != nullptr && IsTerminating(*after)) Enqueue(after->metadata.name);
  });
}

void NamespaceController::Prepare(const std::string& name, std::function<void()> ready) {
  const auto ns = informers().namespaces.Get({"", name});
  if (ns == nullptr || !IsTerminating(*ns) || !catalog_.known()) return ready();
  std::make_shared<Look>(client(), name,
                         scope().Wrap([this, name, ready = std::move(ready)](Content content) {
                           found_.insert_or_assign(name, std::move(content));
                           ready();
                         }))
      ->Run(catalog_.entries());
}

kube::Plan NamespaceController::Decide(const std::string& name) {
  kube::Plan plan;
  auto found = found_.extract(name);
  const auto ns = informers().namespaces.Get({"", name});
  if (ns == nullptr || !IsTerminating(*ns)) return plan;
  if (found.empty()) {  // which kinds there are is not known yet
    plan.again = kLookAgain;
    return plan;
  }
  Content& content = found.mapped();
  plan.undecided = !content.status.ok();
  if (content.left.empty()) {
    if (content.status.ok() && content.ns.is_object()) {
      plan.Add(Finalize(kube::kNamespaces, WithoutOurFinalizer(std::move(content.ns))));
    }
    return plan;
  }
  for (const auto& [resource, count] : content.left) {
    kube::Write write = DeleteAllIn(name, resource);
    write.independent = true;
    plan.Add(std::move(write));
  }
  plan.Add(
      StrategicPatch(kube::kNamespaces, ns->metadata, RemainingCondition(content.left), "status"));
  if (!plan.undecided) plan.again = kLookAgain;
  return plan;
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
