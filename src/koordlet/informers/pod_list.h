#pragma once
#include <absl/functional/function_ref.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/known_problems.h"
#include "base/metrics/metrics.h"
#include "base/status.h"
#include "base/string_map.h"
#include "koordlet/informers/pod_filter.h"
#include "kube/objects/pod.h"

// The kubelet's list of pods, read as it comes.
namespace koord::koordlet {

// Cuts a list into pods while its text comes in pieces of any size. At no time there is more than
// one pod in memory, and of that only what koordlet uses.
class PodListDecoder {
 public:
  using OnPod = absl::FunctionRef<void(PodFilter& pod)>;

  PodListDecoder();
  ~PodListDecoder();

  // Each pod whose end is in `piece`. After an error nothing more can be fed.
  Status Feed(std::string_view piece, OnPod on_pod);
  // Whether that was all of a list.
  Status Finish(OnPod on_pod);

  size_t peak_bytes() const;  // held at any time

 private:
  class Handler;
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

// What a node's list says.
struct PodList {
  using Pods = std::vector<std::shared_ptr<const kube::Pod>>;
  Pods pods;
  // Also those that have ended, of which nothing is kept: they pile up until somebody deletes them.
  size_t listed = 0;
};

// Reads lists of pods one after the other. What has not changed since the last list is not decoded
// again; a pod that cannot be read is left out (or stays as it was) and harms no other.
class PodListReader {
 public:
  // More that have not ended no kubelet runs; they are not looked at.
  static constexpr size_t kMaxPods = 4096;

  // `registry` may be null.
  explicit PodListReader(metrics::Registry* registry = nullptr);

  // Of a new list; what was fed of another is forgotten.
  void Begin();
  Status Feed(std::string_view piece);
  StatusOr<PodList> Finish();
  // All of it at once.
  StatusOr<PodList> Read(std::string_view text);

  size_t peak_bytes() const { return decoder_ == nullptr ? 0 : decoder_->peak_bytes(); }

 private:
  struct Entry {
    size_t hash = 0;
    std::shared_ptr<const kube::Pod> pod;
  };

  void OnPod(PodFilter& filter);
  std::shared_ptr<const kube::Pod> ReadOne(const kube::Json& item);
  void ReportLeftOut(const kube::Json& item, const std::vector<std::string>& fields);

  metrics::Counters* refused_ = nullptr;
  std::unique_ptr<PodListDecoder> decoder_;  // of the list that is being read
  PodList list_;
  StringMap<Entry> entries_;  // of that list, by uid
  StringMap<Entry> before_;   // of the last one
  KnownProblems known_problems_;
};

}  // namespace koord::koordlet
