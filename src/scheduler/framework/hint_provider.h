#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/numa/numa_hints.h"
#include "scheduler/cluster/holdings.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/framework/row_view.h"
#include "scheduler/framework/verdict.h"

// One trial for all that a pod is given beyond amounts: CPUs, shares of NUMA nodes, devices.
//
// Each plugin that gives such things is a HintProvider: it says which NUMA nodes could give what a
// pod asks of it, and what the pod would get from some of them. Where a node or a pod has a NUMA
// policy, NodeNUMAResource demands that all of them agree on NUMA nodes. What filters promise is
// what Reserve charges, whatever the order of plugins in a profile: all ask the same trial.
namespace koord::scheduler {

// Where on a row things come from that a pod is given.
struct RoomSource {
  // What is left of this reservation, and what is free to all; null: only the latter.
  const PodInfo* reserve_pod = nullptr;
  // With a reservation: what it has any of (CPUs, a resource of NUMA nodes, a type of device) comes
  // from nowhere else.
  bool is_restricted = false;
  // All reservations, as if there were none.
  bool is_everything = false;
};

// Whether a pod can be placed on a row in one way.
struct TrialQuestion {
  const PodShape& shape;
  // With victims removed and pods added that are promised the node. Pods that reserve are gone or
  // there as the source has it, whatever the delta says of them: see DeltaFor.
  RowView view;
  RoomSource source = {};
};

// What a question's row looks like: its view with the pods that reserve as the source has it.
RowDelta DeltaFor(const TrialQuestion& question);

// What one provider finds for one question. Pure.
class HintTrial {
 public:
  virtual ~HintTrial() = default;

  struct Answer {
    Verdict verdict;  // anything but success: it cannot say, and the row is none for the pod
    // By ascending name of resource, see model::ProviderHints. None: it does not care.
    model::ProviderHints hints;
  };
  // For each resource that it is asked for: from which sets of NUMA nodes it could come. `all` are
  // the NUMA nodes of the machine. model::MarkPreferred prefers as all providers do.
  virtual Answer Hints(model::NumaPolicy policy, model::NumaMask all) const = 0;
  // Whether the pod could get what it asks for from these NUMA nodes (nothing: from anywhere); if
  // so and `into` is not null, it is put there.
  virtual Verdict Allocate(const std::optional<model::NumaMask>& from, Holdings* into) const = 0;
};

class HintProvider : public virtual Plugin {
 public:
  // Null: pods of the shape ask nothing of it there.
  virtual std::unique_ptr<HintTrial> Try(const TrialQuestion& question) = 0;
  // For people: what a pod of the shape would get there, and why not elsewhere on the machine. One
  // sentence a line; none if it asks nothing of this provider there.
  virtual std::vector<std::string> Explain(const TrialQuestion&) { return {}; }
};

// How providers are to agree on a row. NodeNUMAResource knows.
class NumaAligner {
 public:
  virtual ~NumaAligner() = default;

  struct Terms {
    Verdict verdict;  // anything but success: the row is none for the pod, whatever they agree on
    model::NumaPolicy policy = model::NumaPolicy::kNone;
    model::NumaMask all;  // NUMA nodes of the machine
    model::NumaExclusivity exclusivity;
  };
  virtual Terms TermsFor(const TrialQuestion& question) = 0;
};

// Which reservations are for a pod. The Reservation plugin knows.
class ReservedRooms {
 public:
  virtual ~ReservedRooms() = default;

  struct Found {
    std::vector<RoomSource> sources;  // of reservations, the most preferred one first
    bool must_use_one = false;        // otherwise what is free to all will do as well
  };
  virtual Found RoomsFor(const PodShape& shape, NodeRow row) = 0;
};

// The parties of a profile, and what they agree on. Plugins join when they are made, and are asked
// while their profile lives.
class ProfileTrials {
 public:
  ProfileTrials() = default;
  ProfileTrials(const ProfileTrials&) = delete;
  ProfileTrials& operator=(const ProfileTrials&) = delete;

  // The aligner's own hints count first, then those of others as they have joined.
  void Join(HintProvider& provider);
  void SetAligner(NumaAligner& aligner, HintProvider& first);
  void SetRooms(ReservedRooms& rooms) { rooms_ = &rooms; }

  struct Agreement {
    Verdict verdict;
    // What all must take from; nothing: from anywhere.
    std::optional<model::NumaMask> from = {};
    bool is_aligned = false;  // there is a policy, and so other providers had a say
  };
  // The NUMA nodes of one question. Does not say yet whether each provider can give its part.
  Agreement Agree(const TrialQuestion& question);
  // The whole trial: the NUMA nodes, and what each provider gives from them. The first refusal.
  Agreement Run(const TrialQuestion& question, Holdings* into = nullptr);

  // The ways in which a pod may be placed on a row, in order: by its reservations, each at first
  // with nothing but what that has left, and, unless it must use one, with what is free to all.
  struct Sources {
    std::vector<RoomSource> sources;
    bool must_use_one = false;
  };
  Sources SourcesFor(const PodShape& shape, NodeRow row);
  // The same for a pod that draws from the reservation that its holdings name.
  Sources SourcesFor(const Attempt& attempt);

  // The first way in which a pod can be placed, and what was agreed on; if there is none, the last.
  struct Settled {
    RoomSource source;
    Agreement agreement;
  };
  Settled Settle(const PodShape& shape, const RowView& view, const Sources& sources);
  // At Reserve: all providers of an attempt are told the same.
  Settled Settle(const Attempt& attempt) {
    return Settle(*attempt.shape, {attempt.row, nullptr}, SourcesFor(attempt));
  }

  // Whether anybody else has a part in what pods of the shape are given there.
  bool HasOthers(const HintProvider& than, const TrialQuestion& question);

 private:
  using Trials = std::vector<std::unique_ptr<HintTrial>>;

  ReservedRooms::Found RoomsFor(const PodShape& shape, NodeRow row) {
    return rooms_ == nullptr ? ReservedRooms::Found() : rooms_->RoomsFor(shape, row);
  }
  Trials TrialsFor(const TrialQuestion& question);
  Agreement AgreeAmong(const TrialQuestion& question, const Trials& trials);

  std::vector<HintProvider*> providers_;
  NumaAligner* aligner_ = nullptr;
  ReservedRooms* rooms_ = nullptr;
};

}  // namespace koord::scheduler
