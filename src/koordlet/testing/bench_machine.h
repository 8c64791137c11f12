#pragma once
#include <memory>
#include <optional>
#include <span>

#include "base/temp_dir.h"
#include "koordlet/testing/large_machine.h"
#include "koordlet/testing/real_kubepods.h"

namespace koord::koordlet {

// A machine on which the cost of koordlet is measured, with all kernel features that it can use.
class BenchMachine {
 public:
  enum class Where : uint8_t {
    kMemory,   // a large machine without any system call
    kTmpfs,    // the same as a directory
    kCgroups,  // this machine's cgroups; proc and sys, whose settings are left alone, a directory
  };
  using Pods = std::vector<std::shared_ptr<const kube::Pod>>;

  BenchMachine(Where where, CgroupVersion version);

  // Once. An error says why this machine cannot have them.
  Status AddPods(const Pods& pods);

  Host& host() const { return host_ != nullptr ? *host_ : image_->host(); }
  int cpus() const { return cpus_; }

 private:
  // Of the sandbox and of the containers.
  std::vector<CgroupDir> DirsIn(const kube::Pod& pod) const;
  Status MakeImage(const Pods& pods);
  Status WriteImage(const Pods& pods);
  Status AddCgroups(const Pods& pods);
  Status AddCgroup(const CgroupDir& dir);

  const Where where_;
  const CgroupVersion version_;
  int cpus_ = kLargeCpus;
  std::unique_ptr<TestHost> image_;
  std::optional<TempDir> directory_;
  RealKubepods kubepods_;
  std::unique_ptr<Host> host_;  // null: it is in memory
};

}  // namespace koord::koordlet
