#pragma once
#include <memory>
#include <string>

#include "api/device.h"
#include "base/event_loop.h"
#include "koordlet/host/file_tree.h"
#include "koordlet/informers/node_state.h"
#include "koordlet/metrics/node_info.h"
#include "koordlet/reporters/device_report.h"
#include "koordlet/reporters/object_writer.h"

namespace koord::koordlet {

// Keeps the node's Device object up to date.
class DeviceReporter {
 public:
  struct Options {
    Duration interval = std::chrono::seconds(3);
    bool gpus = false;
    bool rdma = false;
    bool only_files = false;  // do not ask the driver for GPUs
  };

  // `xpu_files` holds the lists of vendors' programs; null: there are none.
  DeviceReporter(EventLoop& loop, kube::Client& client, const std::string& node,
                 const NodeState& state, const NodeInfoCache& info, const FileTree& sys,
                 const FileTree* xpu_files, Options options);

  // As it is in the cluster; null: there is none.
  void SetObject(std::shared_ptr<const api::Device> object);
  void Start();
  void Stop();

 private:
  void Round();
  DeviceReport Build();

  EventLoop& loop_;
  const NodeState& state_;
  const NodeInfoCache& info_;
  const FileTree& sys_;
  const FileTree* const xpu_files_;
  const Options options_;
  ObjectWriter writer_;
  Timer timer_;
  bool known_ = false;  // whether there is an object
  std::shared_ptr<const api::Device> object_;
};

}  // namespace koord::koordlet
