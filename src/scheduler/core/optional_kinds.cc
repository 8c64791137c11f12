#include "scheduler/core/optional_kinds.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "kube/api_error.h"

namespace koord::scheduler {
namespace {

constexpr Duration kAfterError = 5s;

// "" if the kind is there, or if nobody knows.
std::string WhyAbsent(const kube::Resource& resource, const Status& answer) {
  switch (kube::HttpCode(answer)) {
    case 404:
      return fmt::format("{} are not installed: apply deploy/crds; until then there are none",
                         resource.qualified());
    case 403:
      return fmt::format("{} may not be listed by this account: {}; until then there are none",
                         resource.qualified(), Message(answer));
    default:
      return "";
  }
}

}  // namespace

void OptionalKinds::Start() {
  running_ = true;
  informers_.Start();
  for (const auto& kind : kinds_) {
    if (kind->state != Kind::State::kThere) Look(*kind);
  }
}

void OptionalKinds::Stop() {
  running_ = false;
  informers_.Stop();
  for (const auto& kind : kinds_) kind->timer.Cancel();
}

void OptionalKinds::Look(Kind& kind) {
  client_.List(kind.resource, kind.which.ns,
               {.field_selector = kind.which.field_selector, .limit = 1, .resource_version = "0"},
               scope_.Wrap([this, &kind](const StatusOr<kube::Json>& answer) {
                 if (running_) OnSeen(kind, answer.status());
               }));
}

void OptionalKinds::OnSeen(Kind& kind, const Status& answer) {
  if (kind.state == Kind::State::kThere) return;  // somebody has looked meanwhile
  if (answer.ok()) {
    if (kind.state == Kind::State::kAbsent) {
      LOG_INFO("A kind of objects is there now", {"kind", kind.resource.qualified()});
    }
    kind.state = Kind::State::kThere;
    kind.absence.clear();
    kind.use(kind);
    return informers_.WhenSynced(scope_.Wrap([this] { TellKnown(); }));
  }
  std::string why = WhyAbsent(kind.resource, answer);
  if (why.empty()) {
    LOG_V(2, "Could not look for a kind of objects", {"kind", kind.resource.qualified()},
          {"err", answer});
    return LookAgain(kind, kAfterError);
  }
  if (why != kind.absence) LOG_WARNING(why);
  kind.state = Kind::State::kAbsent;
  kind.absence = std::move(why);
  LookAgain(kind, kLookAgain);
  TellKnown();
}

void OptionalKinds::LookAgain(Kind& kind, Duration pause) {
  kind.timer.Set(pause, [this, &kind] { Look(kind); });
}

bool OptionalKinds::known() const {
  return informers_.synced() && std::ranges::none_of(kinds_, [](const auto& kind) {
           return kind->state == Kind::State::kUnknown;
         });
}

void OptionalKinds::WhenKnown(std::function<void()> callback) {
  when_known_.push_back(std::move(callback));
  TellKnown();
}

void OptionalKinds::Refresh(const kube::Resource& resource, std::function<void()> callback) {
  const auto at = std::ranges::find_if(
      kinds_, [&](const auto& kind) { return kind->resource.qualified() == resource.qualified(); });
  if (at == kinds_.end()) return callback();
  Kind& kind = **at;
  if (kind.state == Kind::State::kThere) {
    return kind.relist(scope_.Wrap(std::move(callback)));
  }
  kind.state = Kind::State::kUnknown;
  kind.timer.Cancel();
  when_known_.push_back(std::move(callback));
  Look(kind);
}

void OptionalKinds::TellKnown() {
  if (!known()) return;
  for (const auto& callback : std::exchange(when_known_, {})) callback();
}

std::vector<std::string> OptionalKinds::absences() const {
  std::vector<std::string> sentences;
  for (const auto& kind : kinds_) {
    if (kind->state == Kind::State::kAbsent) sentences.push_back(kind->absence);
  }
  return sentences;
}

}  // namespace koord::scheduler
