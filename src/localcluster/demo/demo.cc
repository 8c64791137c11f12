#include "localcluster/demo/demo.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "api/keys.h"
#include "api/resources.h"
#include "base/log.h"
#include "kube/resources.h"
#include "kube/yaml.h"
#include "localcluster/demo/example.h"

namespace koord::localcluster {
namespace {

using kube::Json;

constexpr Duration kRetry = std::chrono::seconds(1);
constexpr Duration kSubmitEvery = std::chrono::seconds(30);
// So many pods without a node are enough to take what becomes free until the next look.
constexpr size_t kEnoughWaiting = 8;
// What the example's services are sized for.
constexpr double kExampleCpus = 640;

StatusOr<kube::Resource> ResourceOf(const Json& object) {
  for (const kube::Resource& resource :
       {kube::kNamespaces, kube::kPriorityClasses, kube::kConfigMaps, kube::kDeployments,
        kube::kJobs, api::kClusterColocationProfiles}) {
    if (kube::FindString(object, {"kind"}) == resource.kind) return resource;
  }
  return Internal("the example has an object of kind {}", kube::FindString(object, {"kind"}));
}

}  // namespace

Demo::Demo(kube::Client& client, ClusterInformers& informers)
    : client_(client), informers_(informers), timer_(client.loop()) {}

Status Demo::Load() {
  for (const EmbeddedFile& file : ColocationExample()) {
    ASSIGN_OR_RETURN(auto documents, kube::ParseYamlDocuments(file.text));
    for (kube::YamlDocument& document : documents) {
      if (!document.value.is_object()) continue;
      RETURN_IF_ERROR(ResourceOf(document.value).status());
      const std::string_view kind = kube::FindString(document.value, {"kind"});
      auto& group = kind == "Deployment" ? services_ : kind == "Job" ? jobs_ : setup_;
      group.push_back(std::move(document.value));
    }
  }
  if (jobs_.empty()) return Internal("the example has no Jobs");
  batch_namespace_ = kube::FindString(jobs_.front(), {"metadata", "namespace"});
  return absl::OkStatus();
}

void Demo::Start() { SetUp(); }

void Demo::Again(Step step) {
  timer_.Set(kRetry, [this, step] { (this->*step)(); });
}

void Demo::Make(const std::vector<Json>& objects, Step next, Step again) {
  std::vector<kube::Write> writes;
  for (const Json& object : objects) {
    writes.push_back(CreateUnlessThere(ResourceOf(object).value(), object));
  }
  SendAll(client_, std::move(writes),
          scope_.Wrap([this, next, again](const std::vector<kube::WriteResult>& results) {
            for (const kube::WriteResult& result : results) {
              if (result.answer.ok()) continue;
              LOG_INFO("The demo waits", {"write", ToString(*result.write)},
                       {"err", result.answer.status()});
              return Again(again);
            }
            (this->*next)();
          }));
}

void Demo::SetUp() { Make(setup_, &Demo::AwaitProfiles, &Demo::SetUp); }

// Whoever colours pods has to have heard of the profiles: a pod that is not really made tells.
void Demo::AwaitProfiles() {
  const Json container{{"name", "main"}, {"image", "none"}};
  const Json pod{{"metadata", {{"name", "probe"}, {"namespace", batch_namespace_}}},
                 {"spec", {{"containers", kube::json::array{container}}}}};
  client_.Create(kube::kPods, batch_namespace_, Create(kube::kPods, pod).body, {.dry_run = true},
                 scope_.Wrap([this](StatusOr<Json> answer) {
                   const bool coloured =
                       answer.ok() &&
                       kube::Find(*answer, {"metadata", "labels", api::kLabelQosClass}) != nullptr;
                   if (coloured) return StartServices();
                   Again(&Demo::AwaitProfiles);
                 }));
}

double Demo::RoomFor() const {
  double cpus = 0;
  for (const auto& node : informers_.nodes.List()) {
    cpus += kube::AmountOf(node->status.allocatable, kube::kCpu).ToDouble();
  }
  return cpus / kExampleCpus;
}

void Demo::StartServices() {
  std::vector<Json> services = services_;
  const double room = RoomFor();
  for (Json& service : services) {
    const int64_t written = kube::FindInt(service, {"spec", "replicas"}, 1);
    kube::At(service, {"spec", "replicas"}) =
        std::max<int64_t>(1, std::llround(static_cast<double>(written) * room));
  }
  Make(services, &Demo::SubmitJobs, &Demo::StartServices);
}

size_t Demo::WaitingPods() const {
  size_t waiting = 0;
  for (const auto& pod : informers_.pods.List()) {
    const bool waits =
        pod->metadata.ns == batch_namespace_ && !kube::IsAssigned(*pod) && !kube::IsTerminal(*pod);
    waiting += waits ? 1 : 0;
  }
  return waiting;
}

void Demo::SubmitJobs() {
  timer_.Set(kSubmitEvery, [this] { SubmitJobs(); });
  if (WaitingPods() >= kEnoughWaiting) return;
  for (const Json& job : jobs_) {
    client_.Create(kube::kJobs, batch_namespace_, job, {},
                   scope_.Wrap([](const StatusOr<Json>& answer) {
                     if (!answer.ok()) LOG_WARNING("No Job submitted", {"err", answer.status()});
                   }));
  }
}

}  // namespace koord::localcluster
