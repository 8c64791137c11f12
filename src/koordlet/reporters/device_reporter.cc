#include "koordlet/reporters/device_reporter.h"

#include "api/resources.h"

namespace koord::koordlet {

DeviceReporter::DeviceReporter(EventLoop& loop, kube::Client& client, const std::string& node,
                               const NodeState& state, const NodeInfoCache& info,
                               const FileTree& sys, const FileTree* xpu_files, Options options)
    : loop_(loop),
      state_(state),
      info_(info),
      sys_(sys),
      xpu_files_(xpu_files),
      options_(options),
      writer_(client, api::kDevices, node),
      timer_(loop) {}

void DeviceReporter::SetObject(std::shared_ptr<const api::Device> object) {
  object_ = std::move(object);
  known_ = true;
}

void DeviceReporter::Start() { Round(); }
void DeviceReporter::Stop() { timer_.Cancel(); }

DeviceReport DeviceReporter::Build() {
  DeviceReport report;
  if (options_.gpus) {
    if (xpu_files_ != nullptr) report = ReadXpuFiles(*xpu_files_, "");
    const bool ask_driver = report.devices.empty() && !options_.only_files;
    if (ask_driver && info_.gpus() != nullptr) report = DevicesOfGpus(*info_.gpus());
  }
  if (options_.rdma) {
    for (api::DeviceInfo& card : ReadRdmaDevices(sys_)) report.devices.push_back(std::move(card));
  }
  SortDevices(report.devices);
  return report;
}

void DeviceReporter::Round() {
  timer_.Set(options_.interval, [this] { Round(); });
  if (!known_ || state_.node() == nullptr || writer_.busy()) return;
  const DeviceReport report = Build();
  const WallTime now = loop_.clock().Now();
  if (object_ == nullptr) return writer_.Create(NewDeviceObject(report, *state_.node(), now));
  const kube::Json patch = DevicePatch(report, *object_, now);
  if (!patch.is_null()) writer_.Patch(patch);
}

}  // namespace koord::koordlet
