#include "koordlet/prediction/usage_model.h"

#include <utility>

#include "base/strings.h"
#include "kube/time.h"

namespace koord::koordlet {

void UsageModel::Add(double cores, double bytes, WallTime time) {
  cpu_.Add(cores, time);
  memory_.Add(bytes, time);
  last_update_ = time;
}

CpuAndMemory UsageModel::Peak() const {
  return {MilliCpu::OfCores(cpu_.Percentile(0.95)), static_cast<int64_t>(memory_.Percentile(0.98))};
}

std::string UsageModel::ToCheckpoint(std::string_view key) const {
  kube::json::object checkpoint;
  checkpoint["UID"] = key;
  checkpoint["CPU"] = cpu_.ToCheckpoint();
  checkpoint["Memory"] = memory_.ToCheckpoint();
  checkpoint["LastUpdated"] = kube::FormatTime(last_update_);
  return kube::Serialize(kube::Json(std::move(checkpoint)));
}

StatusOr<UsageModel> UsageModel::FromCheckpoint(const UsageShapes& shapes, std::string_view key,
                                                std::string_view text, WallTime now) {
  ASSIGN_OR_RETURN(const kube::Json json, kube::ParseJson(text));
  if (kube::FindString(json, {"UID"}) != key) {
    return InvalidArgument("UID: expected {}", Quote(key));
  }
  const auto updated = kube::ParseTime(kube::FindString(json, {"LastUpdated"}));
  const kube::Json* const cpu = kube::Find(json, {"CPU"});
  const kube::Json* const memory = kube::Find(json, {"Memory"});
  if (!updated.has_value() || cpu == nullptr || memory == nullptr) {
    return InvalidArgument("expected CPU, Memory and LastUpdated");
  }
  UsageModel model(shapes);
  ASSIGN_OR_RETURN(model.cpu_, DecayingHistogram::FromCheckpoint(shapes.cpu, *cpu, now));
  ASSIGN_OR_RETURN(model.memory_, DecayingHistogram::FromCheckpoint(shapes.memory, *memory, now));
  model.last_update_ = *updated;
  return model;
}

}  // namespace koord::koordlet
