#include "koordlet/config/koordlet_gates.h"

namespace koord::koordlet {
namespace {

constexpr FeatureGate kStrategiesAndCollectors[] = {
    {"BECPUSuppress", FeatureStage::kBeta, true},
    {"CPUBurst", FeatureStage::kBeta, true},
    {"RdtResctrl", FeatureStage::kBeta, true},
    {"NodeTopologyReport", FeatureStage::kBeta, true},
    {"AuditEvents", FeatureStage::kAlpha, false},
    {"AuditEventsHTTPHandler", FeatureStage::kAlpha, false},
    {"CgroupReconcile", FeatureStage::kAlpha, false},
    {"BECPUEvict", FeatureStage::kAlpha, false},
    {"BEMemoryEvict", FeatureStage::kAlpha, false},
    {"Accelerators", FeatureStage::kAlpha, false},
    {"CPICollector", FeatureStage::kAlpha, false},
    {"PSICollector", FeatureStage::kAlpha, false},
    {"SystemConfig", FeatureStage::kAlpha, false},
    {"BlkIOReconcile", FeatureStage::kAlpha, false},
    {"ColdPageCollector", FeatureStage::kAlpha, false},
    {"BECPUManager", FeatureStage::kAlpha, false},
    {"HugePageReport", FeatureStage::kAlpha, false},
    {"RDMADevices", FeatureStage::kAlpha, false},
    {"PodResourcesProxy", FeatureStage::kAlpha, false},
    {"ResctrlCollector", FeatureStage::kAlpha, false},
    {"CPUEvict", FeatureStage::kAlpha, false},
    {"MemoryEvict", FeatureStage::kAlpha, false},
    {"HamiCoreVGPUMonitor", FeatureStage::kAlpha, false},
    {"CPUAllocatableEvict", FeatureStage::kAlpha, false},
    {"MemoryAllocatableEvict", FeatureStage::kAlpha, false},
    {"PerCPUMetric", FeatureStage::kAlpha, false},
};

constexpr FeatureGate kHooks[] = {
    {"GroupIdentity", FeatureStage::kBeta, true},
    {"CPUSetAllocator", FeatureStage::kBeta, true},
    {"BatchResource", FeatureStage::kBeta, true},
    {"GPUEnvInject", FeatureStage::kAlpha, false},
    {"CPUNormalization", FeatureStage::kAlpha, false},
    {"CoreSched", FeatureStage::kAlpha, false},
    {"TerwayQoS", FeatureStage::kAlpha, false},
    {"TCNetworkQoS", FeatureStage::kAlpha, false},
    {"Resctrl", FeatureStage::kAlpha, false},
    {"RDMADeviceInject", FeatureStage::kAlpha, false},
    {"OOMScoreAdj", FeatureStage::kAlpha, false},
};

// What nothing reads: setting one of these is said to have no effect.
constexpr FeatureGate kIdle[] = {
    {"Libpfm4", FeatureStage::kAlpha, false},
    {"NodeMetricPromMetrics", FeatureStage::kAlpha, false},
};

}  // namespace

FeatureGates KoordletFeatureGates() {
  return FeatureGates({kStrategiesAndCollectors, kHooks}, {kIdle});
}

}  // namespace koord::koordlet
