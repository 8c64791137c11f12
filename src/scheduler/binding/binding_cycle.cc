#include "scheduler/binding/binding_cycle.h"

#include "scheduler/binding/plugin_verdict.h"

namespace koord::scheduler {

BindingCycle::BindingCycle(const PluginLineup& profile, PodPatcher& patcher,
                           StillWanted still_wanted, PointDone point_done, BindInstead instead)
    : profile_(profile),
      patcher_(patcher),
      still_wanted_(std::move(still_wanted)),
      point_done_(std::move(point_done)),
      instead_(std::move(instead)) {}

void BindingCycle::Run(std::shared_ptr<Attempt> attempt, VerdictDone done) {
  if (Verdict verdict = still_wanted_(*attempt); !verdict.ok()) return done(std::move(verdict));
  PreBind(std::move(attempt), 0, std::move(done));
}

void BindingCycle::PreBind(std::shared_ptr<Attempt> attempt, size_t next, VerdictDone done) {
  if (next == profile_.pre_bind.size()) return Patch(std::move(attempt), std::move(done));
  PreBindPlugin* plugin = profile_.pre_bind[next];
  Attempt& state = *attempt;
  plugin->PreBind(state, [this, plugin, next, attempt = std::move(attempt),
                          done = std::move(done)](Verdict verdict) mutable {
    if (!verdict.ok() && verdict.code != Code::kSkip) {
      point_done_(CyclePoint::kPreBind, *attempt, verdict.code);
      return done(SaidAt("PreBind", plugin->name(), std::move(verdict)));
    }
    PreBind(std::move(attempt), next + 1, std::move(done));
  });
}

void BindingCycle::Patch(std::shared_ptr<Attempt> attempt, VerdictDone done) {
  const Attempt& state = *attempt;
  patcher_.Patch(
      state,
      IsBoundByOthers(state) ? PodPatcher::Annotations::kNow
                             : PodPatcher::Annotations::kWithTheBinding,
      Written(
          [this, attempt = std::move(attempt), done = std::move(done)](Verdict verdict) mutable {
            point_done_(CyclePoint::kPreBind, *attempt, verdict.code);
            if (!verdict.ok()) {
              return done(SaidAt("PreBindExtension", PodPatcher::kPlugin, std::move(verdict)));
            }
            if (Verdict wanted = still_wanted_(*attempt); !wanted.ok()) {
              return done(std::move(wanted));
            }
            BindSomehow(std::move(attempt), std::move(done));
          }));
}

VerdictDone BindingCycle::Written(VerdictDone then) {
  ++writing_;
  return [this, then = std::move(then)](Verdict verdict) mutable {
    --writing_;
    then(std::move(verdict));
  };
}

void BindingCycle::BindSomehow(std::shared_ptr<Attempt> attempt, VerdictDone done) {
  if (!IsBoundByOthers(*attempt)) return Bind(std::move(attempt), 0, std::move(done));
  const Attempt& state = *attempt;
  instead_.bind(
      state, [this, attempt = std::move(attempt), done = std::move(done)](Verdict verdict) mutable {
        if (verdict.code == Code::kSkip) return Bind(std::move(attempt), 0, std::move(done));
        point_done_(CyclePoint::kBind, *attempt, verdict.code);
        done(std::move(verdict));
      });
}

void BindingCycle::Bind(std::shared_ptr<Attempt> attempt, size_t next, VerdictDone done) {
  if (next == profile_.bind.size()) return done(Verdict::Error("no plugin binds the pod"));
  BindPlugin* plugin = profile_.bind[next];
  Attempt& state = *attempt;
  plugin->Bind(state, Written([this, plugin, next, attempt = std::move(attempt),
                               done = std::move(done)](Verdict verdict) mutable {
                 if (verdict.code == Code::kSkip) {
                   return Bind(std::move(attempt), next + 1, std::move(done));
                 }
                 point_done_(CyclePoint::kBind, *attempt, verdict.code);
                 if (!verdict.ok()) return done(SaidAt("Bind", plugin->name(), std::move(verdict)));
                 done(Verdict::Success());
               }));
}

}  // namespace koord::scheduler
