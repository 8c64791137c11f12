#include "scheduler/pod_group_controller/pod_group_controller.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "api/resources.h"
#include "base/log.h"
#include "base/strings.h"
#include "kube/controller/plan.h"
#include "scheduler/framework/short_note.h"

namespace koord::scheduler {
namespace {

using State = GangBook::State;

// Workers do not wait for answers here: each has so many under way.
constexpr int kWritesOfAWorker = 8;
constexpr int64_t kMostWorkers = 1000;

bool IsOlder(const kube::Pod& a, const kube::Pod& b) {
  return std::tie(a.metadata.creation_timestamp, a.metadata.name) <
         std::tie(b.metadata.creation_timestamp, b.metadata.name);
}

}  // namespace

PodGroupController::PodGroupController(const PluginContext& context, GangBook& book,
                                       int64_t workers)
    : book_(book),
      objects_(context.objects),
      client_(*context.client),
      recorder_(context.recorder),
      queue_(
          context.loop,
          [this](const std::string& gang, kube::WorkQueue::Finish done) {
            Handle(gang, std::move(done));
          },
          static_cast<int>(std::min(workers, kMostWorkers)) * kWritesOfAWorker) {}

void PodGroupController::AddTo(const PluginContext& context, GangBook& book, int64_t workers) {
  if (context.leader_parts == nullptr || context.client == nullptr) return;  // nothing is written
  auto made = std::unique_ptr<PodGroupController>(new PodGroupController(context, book, workers));
  PodGroupController& controller = *made;
  if (context.leader_parts->Add(std::move(made))) controller.Listen();
}

void PodGroupController::Listen() {
  book_.OnChange(scope_.Wrap([this](const std::string& gang) { Enqueue(gang); }));
  objects_.pod_groups.AddWatcher(scope_.Wrap([this](const auto& before, const auto& after) {
    if (after == nullptr) return OnGone(*before);
    if (before != nullptr && before->metadata.uid != after->metadata.uid) OnGone(*before);
    Enqueue(KeyOf(after->metadata).ToString());
  }));
}

void PodGroupController::Start() {
  running_ = true;
  for (const auto& [key, group] : objects_.pod_groups.objects()) Enqueue(key.ToString());
}

void PodGroupController::Stop(Task done) {
  running_ = false;
  written_upon_.clear();
  when_stopped_ = std::move(done);
  Done();
}

void PodGroupController::Done() {
  if (running_ || under_way_ != 0 || !when_stopped_) return;
  std::exchange(when_stopped_, nullptr)();
}

void PodGroupController::Enqueue(const std::string& gang) {
  if (running_ && objects_.pod_groups.Find(model::PodGroupKeyOf(gang)) != nullptr) queue_.Add(gang);
}

void PodGroupController::OnGone(const api::PodGroup& group) {
  written_upon_.erase(group.metadata.uid);
  warned_of_.erase(group.metadata.uid);
}

void PodGroupController::Handle(const std::string& gang, kube::WorkQueue::Finish done) {
  const api::PodGroup* group = objects_.pod_groups.Find(model::PodGroupKeyOf(gang));
  if (!running_ || group == nullptr) return done(true);
  const auto written = written_upon_.find(group->metadata.uid);
  if (written != written_upon_.end()) {
    if (written->second == group->metadata.resource_version) return done(true);
    written_upon_.erase(written);
  }
  WarnIfIllegal(*group, gang);
  if (model::IsPodGroupSettled(*group)) return done(true);
  const api::PodGroupStatus next =
      model::NextPodGroupStatus(*group, MembersOf(gang), client_.loop().clock().Now());
  auto write = kube::PinnedStatusPatch(api::kPodGroups, group->metadata,
                                       kube::Encode(group->status), kube::Encode(next));
  if (!write) return done(true);
  write->subresource.clear();  // the kind has none
  Write(gang, *group, *std::move(write), std::move(done));
}

model::PodGroupMembers PodGroupController::MembersOf(const std::string& id) const {
  model::PodGroupMembers members;
  const kube::Pod* first = nullptr;
  if (const GangBook::Gang* gang = book_.FindGang(id)) {
    members.pods = gang->children();
    members.bound = gang->in(State::kBound).size();
    for (const auto& uids : gang->members) {
      for (const std::string& uid : uids) {
        const kube::Pod& pod = *book_.Find(uid)->pod;
        members.running += pod.status.phase == "Running" ? 1 : 0;
        if (first == nullptr || IsOlder(pod, *first)) first = &pod;
      }
    }
  }
  if (first != nullptr) members.owners = first->metadata.owner_references.get();
  for (const auto& [uid, ended] : book_.EndedOf(id)) {
    ++members.pods;
    members.bound += ended.had_node ? 1 : 0;
    ++(ended.succeeded ? members.succeeded : members.failed);
  }
  return members;
}

void PodGroupController::WarnIfIllegal(const api::PodGroup& group, const std::string& id) {
  const GangBook::Gang* gang = book_.FindGang(id);
  if (recorder_ == nullptr || gang == nullptr || !gang->spec) return;
  if (gang->spec->problems.empty()) {
    warned_of_.erase(group.metadata.uid);
    return;
  }
  std::string& told = warned_of_[group.metadata.uid];
  std::string problems = Join(gang->spec->problems, "; ");
  if (told == problems) return;
  told = problems;
  kube::Plan plan;
  plan.Warn(api::kPodGroups, group.metadata, "InvalidPodGroup", ShortenNote(std::move(problems)));
  plan.notes.front().action = "Scheduling";  // without one the API server refuses it
  recorder_->Record(plan.notes.front());
}

void PodGroupController::Write(const std::string& gang, const api::PodGroup& group,
                               kube::Write write, kube::WorkQueue::Finish done) {
  ++under_way_;
  kube::SendAll(
      client_, {std::move(write)},
      scope_.Wrap([this, gang, uid = group.metadata.uid, upon = group.metadata.resource_version,
                   done = std::move(done)](const std::vector<kube::WriteResult>& results) {
        --under_way_;
        const bool ok = results.front().answer.ok();
        const api::PodGroup* shown = objects_.pod_groups.Find(model::PodGroupKeyOf(gang));
        if (ok && shown != nullptr && shown->metadata.uid == uid &&
            shown->metadata.resource_version == upon) {
          written_upon_[uid] = upon;
        } else if (!ok) {
          LOG_V(2, "Could not write the status of a PodGroup", {"podGroup", gang},
                {"err", results.front().answer.status()});
        }
        done(ok);
        Done();
      }));
}

}  // namespace koord::scheduler
