#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/cycle/failure_handler.h"
#include "scheduler/cycle/point_timer.h"
#include "scheduler/cycle/runtime.h"
#include "scheduler/extender/extender_dialogue.h"
#include "scheduler/nomination/nominations.h"

namespace koord::scheduler {

// A pod that fits nowhere: finds out why, asks the PostFilter plugins (preemption) whether
// something can be done about it, and hands over what is to be said.
//
// Where extenders have a say in evictions they are asked first, and all of it is done again with
// their answer, as things are by then. What holds for all pods of a shape is found out once.
class PostFilterCycle {
 public:
  struct Parts {
    const Reasons& reasons;
    const Nominations& nominations;
    ExtenderDialogue& extenders;
    FailureHandler& failures;
    PointTimer timer;
  };
  // Whether the pod is still to be placed here: nobody is evicted for one that is gone, nor by a
  // scheduler that has been stopped.
  using StillWanted = std::function<bool(const kube::Pod&)>;
  PostFilterCycle(Parts parts, StillWanted still_wanted)
      : parts_(parts), still_wanted_(std::move(still_wanted)) {}

  // `said`: what extenders have left and refused; null if they were not asked.
  void Run(Runtime& runtime, const std::shared_ptr<Attempt>& attempt,
           const Extenders::Answer* said) {
    Run(runtime, attempt, said, nullptr);
  }

 private:
  using Agreed = ExtenderDialogue::Agreed;
  // What came of the plugins.
  struct Outcome {
    Code code = Code::kUnschedulable;
    std::string message = {};
    std::optional<std::string> nominated_node = {};
    bool of_shape = false;  // it holds for all pods of the shape
  };

  void Run(Runtime& runtime, const std::shared_ptr<Attempt>& attempt, const Extenders::Answer* said,
           const Agreed* agreed);
  // The slots of all who have rejected a row; an error if one of them failed.
  StatusOr<std::vector<uint32_t>> RejectorsIn(const Diagnosis& diagnosis,
                                              const PluginLineup& plugins) const;
  bool AskToEvict(Runtime& runtime, const std::shared_ptr<Attempt>& attempt,
                  const Extenders::Answer* said, const Diagnosis& diagnosis);
  Outcome AskPlugins(Runtime& runtime, Attempt& attempt, const Diagnosis& diagnosis,
                     const Agreed* agreed) const;
  PostFilterResult Ask(PostFilterPlugin& plugin, Runtime& runtime, Attempt& attempt,
                       const Diagnosis& diagnosis, const Agreed* agreed) const;
  static void TellAfter(Runtime& runtime, const Attempt& attempt, const Diagnosis& diagnosis,
                        Code code, const std::string& message,
                        const std::optional<std::string>& nominated_node);
  void Fail(Runtime& runtime, Attempt& attempt, const Diagnosis& diagnosis,
            std::vector<uint32_t> rejectors, const Outcome& outcome);
  // Nothing has changed since this was said of another pod of the same shape.
  void FailLikeOthers(Runtime& runtime, Attempt& attempt, const Diagnosis& diagnosis,
                      const KnownUnfit& known);

  const Parts parts_;
  const StillWanted still_wanted_;
};

}  // namespace koord::scheduler
