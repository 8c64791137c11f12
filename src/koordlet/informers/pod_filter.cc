#include "koordlet/informers/pod_filter.h"

#include <algorithm>
#include <span>
#include <utility>

#include "api/extended_resources.h"
#include "api/keys.h"
#include "kube/objects/resource_list.h"

namespace koord::koordlet {

// Elements of a list have the shape of the list. Without members: a scalar.
struct PodFilter::Shape {
  struct Member {
    std::string_view name;
    const Shape* shape;
  };

  std::span<const Member> members = {};
  size_t max_text = PodBudget::kText;
};

namespace {

using Shape = PodFilter::Shape;
using Member = Shape::Member;

constexpr Shape kScalar;
constexpr Shape kAnnotationText{{}, PodBudget::kAnnotation};

// Of the kubelet: which file a static pod comes from.
constexpr std::string_view kMirrorAnnotation = "kubernetes.io/config.mirror";
// Of its way to Docker: that it is Docker.
constexpr std::string_view kDockerTypeAnnotation = "io.kubernetes.docker.type";

constexpr Member kAnnotationMembers[] = {
    {api::kAnnotationResourceStatus, &kAnnotationText},
    {api::kAnnotationDeviceAllocated, &kAnnotationText},
    {api::kAnnotationCpuBurst, &kAnnotationText},
    {api::kAnnotationCpuQos, &kAnnotationText},
    {api::kAnnotationMemoryQos, &kAnnotationText},
    {api::kAnnotationBlkioQos, &kAnnotationText},
    {api::kAnnotationNetworkQos, &kAnnotationText},
    {api::kAnnotationOomScoreAdj, &kAnnotationText},
    {api::kAnnotationOomScoreAdjSpec, &kAnnotationText},
    {api::kAnnotationResctrl, &kAnnotationText},
    {api::kAnnotationEvictionPolicy, &kAnnotationText},
    {api::kAnnotationEvictionPriority, &kAnnotationText},
    {kMirrorAnnotation, &kAnnotationText},
    {kDockerTypeAnnotation, &kAnnotationText},
};
constexpr Shape kAnnotations{kAnnotationMembers};

constexpr Member kLabelMembers[] = {
    {api::kLabelQosClass, &kScalar},
    {api::kLabelPriorityClass, &kScalar},
    {api::kLabelPriority, &kScalar},
    {api::kLabelEvictionEnabled, &kScalar},
    {api::kLabelCoreSchedGroupId, &kScalar},
    {api::kLabelCoreSchedPolicy, &kScalar},
    {api::kLabelGpuIsolationProvider, &kScalar},
};
constexpr Shape kLabels{kLabelMembers};

constexpr Member kOwnerMembers[] = {{"kind", &kScalar}};
constexpr Shape kOwners{kOwnerMembers};

constexpr Member kMetadataMembers[] = {
    {"name", &kScalar},
    {"namespace", &kScalar},
    {"uid", &kScalar},
    {"resourceVersion", &kScalar},
    {"creationTimestamp", &kScalar},
    {"deletionTimestamp", &kScalar},
    {"labels", &kLabels},
    {"annotations", &kAnnotations},
    {"ownerReferences", &kOwners},
};
constexpr Shape kMetadata{kMetadataMembers};

constexpr Member kAmountMembers[] = {
    {kube::kCpu, &kScalar},        {kube::kMemory, &kScalar}, {api::kBatchCpu, &kScalar},
    {api::kBatchMemory, &kScalar}, {api::kMidCpu, &kScalar},  {api::kMidMemory, &kScalar},
};
constexpr Shape kAmounts{kAmountMembers};
constexpr Member kResourceMembers[] = {{"requests", &kAmounts}, {"limits", &kAmounts}};
constexpr Shape kResources{kResourceMembers};

constexpr Member kContainerMembers[] = {
    {"name", &kScalar}, {"resources", &kResources}, {"restartPolicy", &kScalar}};
constexpr Shape kContainers{kContainerMembers};

constexpr Member kClaimMembers[] = {{"claimName", &kScalar}};
constexpr Shape kClaim{kClaimMembers};
constexpr Member kCsiMembers[] = {{"driver", &kScalar}};
constexpr Shape kCsi{kCsiMembers};
constexpr Member kVolumeMembers[] = {
    {"name", &kScalar}, {"persistentVolumeClaim", &kClaim}, {"csi", &kCsi}};
constexpr Shape kVolumes{kVolumeMembers};

constexpr Member kSpecMembers[] = {
    {"nodeName", &kScalar},         {"priority", &kScalar},       {"hostNetwork", &kScalar},
    {"runtimeClassName", &kScalar}, {"containers", &kContainers}, {"initContainers", &kContainers},
    {"overhead", &kAmounts},        {"resources", &kResources},   {"volumes", &kVolumes},
};
constexpr Shape kSpec{kSpecMembers};

constexpr Member kRunningMembers[] = {{"startedAt", &kScalar}};
constexpr Shape kRunning{kRunningMembers};
constexpr Member kStateMembers[] = {{"running", &kRunning}};
constexpr Shape kState{kStateMembers};
constexpr Member kContainerStatusMembers[] = {
    {"name", &kScalar}, {"containerID", &kScalar}, {"state", &kState}};
constexpr Shape kContainerStatuses{kContainerStatusMembers};

constexpr Member kStatusMembers[] = {
    {"phase", &kScalar},
    {"qosClass", &kScalar},
    {"podIP", &kScalar},
    {"containerStatuses", &kContainerStatuses},
    {"initContainerStatuses", &kContainerStatuses},
};
constexpr Shape kStatus{kStatusMembers};

constexpr Member kPodMembers[] = {{"metadata", &kMetadata}, {"spec", &kSpec}, {"status", &kStatus}};
constexpr Shape kPod{kPodMembers};

constexpr size_t kLongestKey = 128;  // of those that are used
constexpr size_t kValueBytes = 64;   // what a value takes beside its text, about

const Shape* FindMember(const Shape& shape, std::string_view name) {
  const auto found = std::ranges::find(shape.members, name, &Member::name);
  return found == shape.members.end() ? nullptr : found->shape;
}

}  // namespace

bool IsUsedAnnotation(std::string_view key) { return FindMember(kAnnotations, key) != nullptr; }

void PodFilter::Reset() {
  open_.clear();
  skipped_ = 0;
  key_.clear();
  text_.clear();
  is_too_long_ = false;
  kept_ = section_ = annotations_ = 0;
  is_complete_ = false;
  document_ = nullptr;
  left_out_.clear();
}

const Shape* PodFilter::NextShape() {
  if (open_.empty()) return &kPod;
  const Level& level = open_.back();
  const auto* const list = level.value.if_array();
  if (list == nullptr) return level.next;
  if (list->size() < PodBudget::kElements) return level.shape;
  LeaveOut();
  return nullptr;
}

void PodFilter::Begin(kube::Json container) {
  const Shape* const shape = skipped_ > 0 ? nullptr : NextShape();
  if (shape == nullptr || shape->members.empty()) {
    ++skipped_;
    return;
  }
  std::string key = open_.empty() ? std::string() : open_.back().next_key;
  open_.push_back({shape, std::move(container), std::move(key)});
}

void PodFilter::End() {
  if (skipped_ > 0) {
    --skipped_;
    return;
  }
  kube::Json value = std::move(open_.back().value);
  open_.pop_back();
  Put(std::move(value), 0);
}

void PodFilter::Key(std::string_view part, bool is_last) {
  if (skipped_ > 0) return;
  // A longer one is none of those that are used, whatever comes.
  key_ += part.substr(0, kLongestKey - std::min(kLongestKey, key_.size()) + 1);
  if (!is_last) return;
  Level& level = open_.back();
  level.next = FindMember(*level.shape, key_);
  if (level.next != nullptr) level.next_key = key_;
  if (open_.size() == 1) section_ = 0;
  key_.clear();
}

void PodFilter::Text(std::string_view part, bool is_last) {
  const Shape* const shape = skipped_ > 0 ? nullptr : NextShape();
  if (shape == nullptr) return;
  is_too_long_ |= text_.size() + part.size() > shape->max_text;
  if (!is_too_long_) text_ += part;
  if (!is_last) return;
  const bool is_annotation = shape == &kAnnotationText;
  if (is_annotation && annotations_ + text_.size() > PodBudget::kAnnotations) is_too_long_ = true;
  if (std::exchange(is_too_long_, false)) {
    LeaveOut();
  } else {
    if (is_annotation) annotations_ += text_.size();
    Put(kube::json::string(text_), text_.size());
  }
  text_.clear();
}

void PodFilter::Scalar(kube::Json value) {
  if (skipped_ == 0 && NextShape() != nullptr) Put(std::move(value), 0);
}

void PodFilter::Put(kube::Json value, size_t bytes) {
  if (open_.empty()) {
    document_ = std::move(value);
    is_complete_ = true;
    return;
  }
  Level& level = open_.back();
  bytes += kValueBytes + level.next_key.size();
  if (section_ + bytes > PodBudget::kSection) return LeaveOut();
  section_ += bytes;
  kept_ += bytes;
  if (auto* const list = level.value.if_array()) {
    list->push_back(std::move(value));
  } else {
    level.value.as_object()[level.next_key] = std::move(value);
  }
}

// Of a list only its name: it is told once, however much of it there is.
void PodFilter::LeaveOut() {
  const Level& level = open_.back();
  const std::string& name = level.value.is_array() ? level.key : level.next_key;
  if (std::ranges::find(left_out_, name) == left_out_.end()) left_out_.push_back(name);
}

void PodFilter::Tell(kube::JsonView value) {
  if (const auto members = value.if_object()) {
    BeginObject();
    for (const auto& [key, member] : *members) {
      Key(key, true);
      Tell(member);
    }
    End();
  } else if (const auto items = value.if_array()) {
    BeginArray();
    for (const kube::JsonView item : *items) Tell(item);
    End();
  } else if (value.is_string()) {
    Text(value.get_string(), true);
  } else {
    Scalar(value.Copy());
  }
}

kube::Json Filtered(kube::JsonView pod) {
  PodFilter filter;
  filter.Tell(pod);
  return std::move(filter.document());
}

}  // namespace koord::koordlet
