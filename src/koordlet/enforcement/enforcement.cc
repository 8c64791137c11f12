#include "koordlet/enforcement/enforcement.h"

#include <utility>

#include "base/log.h"
#include "base/strings.h"

namespace koord::koordlet {
namespace {

// Of the strategies, or of the hooks.
template <class Context>
Context WithUndo(Context context, UndoFile& undo) {
  context.undo = &undo;
  return context;
}

}  // namespace

Enforcement::Enforcement(EventLoop& loop, QosContext strategies,
                         hooks::RuntimeHooks::Surroundings hooks, Options options)
    : loop_(loop),
      options_(std::move(options)),
      undo_(options_.dry_run ? "" : options_.undo_file),
      strategy_context_(WithUndo(std::move(strategies), undo_)),
      hook_surroundings_(WithUndo(std::move(hooks), undo_)),
      strategies_(loop, strategy_context_),
      hooks_(std::make_unique<hooks::RuntimeHooks>(hook_surroundings_, options_.hooks)) {}

void Enforcement::Start() {
  Restore();
  strategies_.Start();
  hooks_->Start();
}

void Enforcement::Stop() {
  restorer_.reset();
  strategies_.Stop();
  hooks_.reset();
}

void Enforcement::RunOnce() {
  hooks_->RunOnce();
  strategies_.RunOnce();
}

void Enforcement::Restore() {
  const UndoFile::Features enabled = EnforcingFeatures(strategy_context_.gates);
  UndoFile::Features left = undo_.features();
  for (const std::string& feature : enabled) left.erase(feature);
  if (options_.dry_run || left.empty()) return undo_.SetFeatures(enabled);
  LOG_INFO("Putting back what features did that are off now", {"features", Join(left, ",")});
  // Both, should koordlet end before that is done.
  UndoFile::Features all = left;
  all.insert(enabled.begin(), enabled.end());
  undo_.SetFeatures(std::move(all));
  restorer_ = std::make_unique<Restorer>(loop_, strategy_context_.state, left, strategy_context_,
                                         hook_surroundings_, options_.hooks);
  restorer_->Start([this, enabled] {
    undo_.SetFeatures(enabled);
    restorer_.reset();
  });
}

}  // namespace koord::koordlet
