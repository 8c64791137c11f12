#include "scheduler/plugins/device_share/device_share.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "api/device_annotations.h"
#include "api/keys.h"
#include "base/log.h"
#include "kube/resources.h"
#include "model/device/resource_type.h"
#include "scheduler/plugins/device_share/device_description.h"
#include "scheduler/plugins/device_share/device_plugin_adaption.h"
#include "scheduler/scoring/percent.h"

namespace koord::scheduler {
namespace {

using model::DeviceResource;
using model::DeviceType;
using enum model::DeviceResource;

constexpr size_t kMostShapes = 256;
constexpr size_t kNoLimit = std::numeric_limits<size_t>::max();
constexpr std::string_view kTemplatesKey = "data.yaml";
constexpr std::string_view kAdaptionGate = "DevicePluginAdaption";

model::DeviceScoring ScoringOf(const ScoringStrategy& strategy) {
  model::DeviceScoring scoring{.most_allocated = strategy.type == kMostAllocated, .weights = {}};
  for (const ResourceWeight& each : strategy.resources) {
    if (const auto resource = model::ParseDeviceResource(each.name)) {
      scoring.weights.push_back({*resource, each.weight});
    }
  }
  return scoring;
}

// How many cards have so much left. Some ratio is asked for always, and places without a card have
// none: all of them are looked at, without a branch.
int64_t CountOf(const DeviceBook::FreeCards& cards, uint8_t core, uint8_t ratio) {
  int count = 0;
  for (size_t i = 0; i < DeviceBook::FreeCards::kMost; ++i) {
    count += static_cast<int>(cards.core[i] >= core) & static_cast<int>(cards.ratio[i] >= ratio);
  }
  return count;
}

bool HoldsRoomForOthers(const PodInfo* pod) { return pod->held != nullptr && pod->held->reserves; }

}  // namespace

struct DeviceShare::Given final : AttemptState {
  api::DeviceAllocations allocations;  // without the ids of devices
};

DeviceShare::DeviceShare(const PluginContext& context, DeviceShareArgs args)
    : context_(context),
      book_(context.books.devices),
      args_([&] {
        args.SetDefaults();
        return std::move(args);
      }()),
      scoring_(ScoringOf(*args_.scoring_strategy)),
      reader_(context.ledger.resources(), args_) {
  const NodeTable& nodes = context_.nodes();
  for (NodeRow row{0}; row < nodes.rows(); ++row) {
    if (nodes.IsLive(row)) OnNodeAdded(row);
  }
  context_.ledger.AddListener(*this);
  context_.trials->Join(*this);
  context_.objects.devices.Need();
  if (context_.metrics != nullptr) {
    not_well_planned_ = &context_.metrics->AddGauges(
        "scheduler_secondary_device_not_well_planned",
        "1 for nodes whose Device says that its secondary devices do not always fit.",
        {"node_name"}, kNoLimit);
  }
  context_.objects.devices.AddWatcher([this](const auto& before, const auto& after) {
    if (not_well_planned_ == nullptr) return;
    const kube::ObjectMeta& meta = (after ? after : before)->metadata;
    if (after && api::IsSecondaryDeviceWellPlanned(meta.labels) == false) {
      not_well_planned_->With({meta.name}).Set(1);
    } else {
      not_well_planned_->Remove({meta.name});
    }
  });
  const GpuSharedResourceTemplates& templates = *args_.gpu_shared_resource_templates_config;
  const kube::ObjectKey key{templates.config_map_namespace, templates.config_map_name};
  if (key.name.empty()) return;  // there are none
  context_.objects.needed_config_maps.insert(key);
  context_.objects.config_maps.AddWatcher([this, key](const auto& before, const auto& after) {
    if (KeyOf((after ? after : before)->metadata) == key) OnTemplates(after.get());
  });
  OnTemplates(context_.objects.config_maps.Find(key));
}

DeviceShare::~DeviceShare() = default;

void DeviceShare::OnTemplates(const kube::ConfigMap* config) {
  model::GpuTemplates templates;
  if (config != nullptr) {
    const auto text = config->data.find(kTemplatesKey);
    auto read = model::ParseGpuTemplates(text == config->data.end() ? "" : text->second);
    if (!read.ok()) {
      LOG_WARNING("Kept the previous templates of GPU shares",
                  {"configMap", KeyOf(config->metadata).ToString()}, {"err", read.status()});
      return;
    }
    templates = std::move(*read);
  }
  reader_.SetTemplates(std::move(templates));
  by_shape_.clear();
  ++templates_version_;
}

// ---- What nodes say

void DeviceShare::OnNodeAdded(NodeRow row) {
  cards_.resize(std::max(cards_.size(), context_.nodes().rows()));
  honors_partitions_.resize(cards_.size());
  SetCards(row);
}

void DeviceShare::OnNodeChanged(NodeRow row, const NodeChanges& changes) {
  if (changes.labels) SetCards(row);
}

void DeviceShare::SetCards(NodeRow row) {
  const kube::Labels& labels = context_.nodes().node(row).metadata.labels;
  NodeCards& cards = cards_[row];
  cards.gpu = {.vendor = std::string(kube::ValueOf(labels, api::kLabelGpuVendor)),
               .model = std::string(kube::ValueOf(labels, api::kLabelGpuModel)),
               .honors_partitions = api::HonorsGpuPartitions(labels)};
  honors_partitions_[row] = cards.gpu.honors_partitions ? 1 : 0;
  cards.isolation_provider = kube::ValueOf(labels, api::kLabelGpuIsolationProvider);
  cards.refuses_shares = std::ranges::find(args_.gpu_share_unsupported_models,
                                           GpuKind{cards.gpu.vendor, cards.gpu.model}) !=
                         args_.gpu_share_unsupported_models.end();
}

Verdict DeviceShare::Refusal(const PodDevices& pod, NodeRow row) const {
  if (!pod.requests.is_shared) return Verdict::Success();
  const NodeCards& cards = cards_[row];
  if (!pod.isolation_provider.empty() && pod.isolation_provider != cards.isolation_provider) {
    return Verdict::Unresolvable("GPUIsolationProviderHAMICore not found on the node");
  }
  if (cards.refuses_shares) {
    return Verdict::Unresolvable(
        fmt::format("model \"{}\" of vendor \"{}\" does not support GPU Share", cards.gpu.model,
                    cards.gpu.vendor));
  }
  return Verdict::Success();
}

// ---- Filters

std::unique_ptr<PluginState> DeviceShare::Compile(const PodShape& shape) {
  return reader_.Read(shape);
}

const PodDevices* DeviceShare::PodOfShape(const PodShape& shape) {
  if (!reader_.AsksForDevices(shape)) return nullptr;
  if (by_shape_.size() >= kMostShapes && !by_shape_.contains(shape.id)) by_shape_.clear();
  std::unique_ptr<PodDevices>& pod = by_shape_[shape.id];
  if (pod == nullptr) pod = reader_.Read(shape);
  return pod.get();
}

PodDevices* DeviceShare::PodOf(const PodQuery& query) const {
  if (!query.has_state(slot())) return nullptr;
  PodDevices& pod = query.state<PodDevices>(slot());
  return pod.verdict.ok() ? &pod : nullptr;
}

PreFilterResult DeviceShare::PreFilter(PodQuery& query) {
  if (!query.has_state(slot())) return PreFilterResult::Skip();
  const PodDevices& pod = query.state<PodDevices>(slot());
  if (!pod.verdict.ok()) return {pod.verdict};
  return PreFilterResult::Success();
}

DeviceTrial DeviceShare::TrialFor(const PodDevices& pod, const TrialQuestion& question) const {
  return {pod, cards_[question.view.row], book_,
          DeviceTrial::Rules{scoring_, !args_.disable_device_numa_topology_alignment}, question};
}

bool DeviceShare::Passes(const PodDevices& pod, const PodShape& shape, NodeRow row) const {
  if (pod.may_be_refused && !Refusal(pod, row).ok()) return false;
  const DeviceBook::FreeCards& cards = book_.free_cards()[row];
  const bool by_partitions = cards.honors_partitions || honors_partitions_[row] != 0;
  if (cards.is_complete && (pod.quick == PodDevices::Quick::kShares ||
                            (pod.quick == PodDevices::Quick::kWholeCards && !by_partitions))) {
    return CountOf(cards, pod.core, pod.ratio) >= pod.of(DeviceType::kGpu)->count;
  }
  const DeviceTrial trial = TrialFor(pod, {shape, {row, nullptr}});
  return trial.nothing_known() || trial.Run({}, false).ok();
}

void DeviceShare::Filter(const PodQuery& query, RowRange rows, uint8_t* keep) {
  const PodDevices* const pod = PodOf(query);
  if (pod == nullptr) return;
  const uint8_t* live = query.nodes().live();
  for (NodeRow row = rows.begin; row < rows.end; ++row) {
    uint8_t& kept = keep[row - rows.begin];
    if (kept != 0 && live[row] != 0) kept = Passes(*pod, query.shape(), row) ? 1 : 0;
  }
}

Verdict DeviceShare::AskReservations(const PodDevices& pod, const PodShape& shape,
                                     const RowView& view) {
  const ProfileTrials::Sources sources = context_.trials->SourcesFor(shape, view.row);
  Verdict last;
  std::vector<std::string> reasons;
  for (const RoomSource& source : sources.sources) {
    last = TrialFor(pod, {shape, view, source}).Allocate({}, nullptr);
    if (last.ok()) return last;
    for (const std::string& reason : last.reasons) {
      std::string text = fmt::format("Reservation(s) {}", reason);
      if (std::ranges::find(reasons, text) == reasons.end()) reasons.push_back(std::move(text));
    }
  }
  if (sources.must_use_one) return {Code::kUnschedulable, std::move(reasons)};
  return last;
}

Verdict DeviceShare::Ask(const PodDevices& pod, const PodShape& shape, const RowView& view) {
  Verdict refused = Refusal(pod, view.row);
  if (!refused.ok()) return refused;
  const bool may_draw =
      view.delta != nullptr && std::ranges::any_of(view.delta->removed, HoldsRoomForOthers);
  if (may_draw) return AskReservations(pod, shape, view);
  return TrialFor(pod, {shape, view}).Allocate({}, nullptr);
}

RowVerdict DeviceShare::ToRowVerdict(PodDevices& pod, const Verdict& verdict) {
  if (verdict.ok()) return {};
  return {verdict.code, {context_.reasons.InternAll(verdict.reasons, pod.texts)}};
}

// Where NUMA nodes must be agreed on, NodeNUMAResource asks all who have a part in it.
RowVerdict DeviceShare::Check(const PodQuery& query, const RowView& view) {
  PodDevices* const pod = PodOf(query);
  if (pod == nullptr) return {};
  return ToRowVerdict(*pod, Ask(*pod, query.shape(), view));
}

std::unique_ptr<HintTrial> DeviceShare::Try(const TrialQuestion& question) {
  const PodDevices* const pod = PodOfShape(question.shape);
  if (pod == nullptr || !pod->verdict.ok()) return nullptr;
  return std::make_unique<DeviceTrial>(TrialFor(*pod, question));
}

std::vector<std::string> DeviceShare::Explain(const TrialQuestion& question) {
  const PodDevices* const pod = PodOfShape(question.shape);
  if (pod == nullptr || !pod->verdict.ok()) return {};
  const Verdict refused = Refusal(*pod, question.view.row);
  if (!refused.ok()) return {refused.Message()};
  return ExplainDevices(*pod, TrialFor(*pod, question), context_.trials->Agree(question).from);
}

// ---- Scores

Verdict DeviceShare::PreScore(PodQuery& query, std::span<const uint8_t>) {
  return PodOf(query) == nullptr ? Verdict::Skip() : Verdict::Success();
}

std::optional<int64_t> DeviceShare::SameForAll(const PodQuery& query) {
  if (PodOf(query) == nullptr) return 0;
  return {};
}

void DeviceShare::Score(const PodQuery& query, RowRange rows, int64_t* scores) {
  std::fill_n(scores, rows.size(), 0);
  const PodDevices* const pod = PodOf(query);
  if (pod == nullptr) return;
  std::array<int64_t, kScoreBlock> of_type;
  for (const DeviceType type : model::kAllDeviceTypes) {
    const model::DeviceRequest* const request = pod->of(type);
    if (request == nullptr) continue;
    absl::InlinedVector<ShareTerm, 4> terms;
    for (const model::DeviceScoring::Weight& each : scoring_.weights) {
      if (TypeOf(each.resource) != type) continue;
      terms.push_back({.allocatable = book_.totals(each.resource),
                       .used = book_.used(each.resource),
                       .more = request->per_device.Get(each.resource),
                       .share = scoring_.most_allocated ? Share::kUsed : Share::kFree,
                       .weight = each.weight});
    }
    ForEachBlock(rows, [&](RowRange block) {
      WeightedPercents({terms.data(), terms.size()}, Absent::kLeftOut, 0, block, of_type.data());
      int64_t* const into = scores + (block.begin - rows.begin);
      for (size_t i = 0; i < block.size(); ++i) into[i] += of_type[i];
    });
  }
}

int64_t DeviceShare::ScoreRow(const PodQuery& query, const RowView& view) {
  const PodDevices* const pod = PodOf(query);
  if (pod == nullptr) return 0;
  const DeviceTrial trial =
      TrialFor(*pod, {query.shape(), view, RoomSource{.is_everything = true}});
  int64_t score = 0;
  for (const DeviceType type : model::kAllDeviceTypes) {
    const model::DeviceRequest* const request = pod->of(type);
    if (request == nullptr) continue;
    model::DeviceAmounts total, free;
    for (const model::DeviceCard& card : trial.devices().of(type)) {
      total.Add(card.total());
      free.Add(card.free);
    }
    model::DeviceScoring scoring = scoring_;
    std::erase_if(scoring.weights, [&](const auto& each) { return TypeOf(each.resource) != type; });
    score += DeviceScore(scoring, request->per_device, total, free);
  }
  return score;
}

void DeviceShare::Normalize(const PodQuery&, ScoreRange range, std::span<int64_t> scores) {
  if (range.max == 0) return;
  for (int64_t& score : scores) score = score * kMaxScore / range.max;
}

// ---- One pod

Verdict DeviceShare::Reserve(Attempt& attempt) {
  const PodDevices* const pod = PodOfShape(*attempt.shape);
  if (pod == nullptr) return Verdict::Success();
  if (!pod->verdict.ok()) return pod->verdict;
  const ProfileTrials::Settled settled = context_.trials->Settle(attempt);
  if (!settled.agreement.verdict.ok()) return settled.agreement.verdict;
  const DeviceTrial trial =
      TrialFor(*pod, {*attempt.shape, {attempt.row, nullptr}, settled.source});
  if (trial.nothing_known()) return Verdict::Success();
  model::DeviceResult result = trial.Run(settled.agreement.from, true);
  // What rates best may lead nowhere where types are taken together: then what was promised.
  if (!result.ok()) result = trial.Run(settled.agreement.from, false);
  if (!result.ok()) return VerdictOf(result);
  for (model::DeviceGrant& grant : result.grants) {
    if (grant.type != DeviceType::kGpu || CompleteGpuShare(trial.devices(), grant)) continue;
    return Verdict::Error(
        fmt::format("fillGPUTotalMem failed: no healthy gpu device with minor {} "
                    "of allocation, node: {}",
                    grant.minor, attempt.node));
  }
  auto given = std::make_unique<Given>();
  for (const model::DeviceGrant& grant : result.grants) {
    api::DeviceAllocation& into =
        given->allocations[std::string(ToString(grant.type))].emplace_back();
    into.minor = grant.minor;
    into.resources = ToResourceList(grant.amounts);
    if (grant.function == nullptr && grant.gpu_template == nullptr) continue;
    into.extension.emplace();
    if (grant.function != nullptr) {
      into.extension->vfs.push_back(
          {.minor = grant.function->minor, .bus_id = grant.function->bus_id});
    }
    if (grant.gpu_template != nullptr) {
      into.extension->gpu_shared_resource_template = *grant.gpu_template;
    }
  }
  attempt.SetState(slot(), std::move(given));
  if (attempt.held == nullptr) attempt.held = std::make_unique<Holdings>();
  attempt.held->devices = ToHoldings(result.grants, book_.ids());
  return Verdict::Success();
}

StatusOr<api::DeviceAllocations> DeviceShare::AllocationsOf(const Attempt& attempt,
                                                            const Given& given) const {
  const api::Device* const object = context_.objects.devices.Find(attempt.node);
  if (object == nullptr) {
    return NotFound("there is no Device object of node {} any more", attempt.node);
  }
  api::DeviceAllocations allocations = given.allocations;
  for (auto& [type, list] : allocations) {
    for (api::DeviceAllocation& each : list) {
      const auto info =
          std::ranges::find_if(object->spec.devices, [&, &of_type = type](const auto& device) {
            return device.type == of_type && device.minor == each.minor;
          });
      if (info != object->spec.devices.end()) each.id = info->id;
    }
  }
  return allocations;
}

void DeviceShare::PreBind(Attempt& attempt, VerdictDone done) {
  const Given* const given = attempt.state<Given>(slot());
  if (given == nullptr) return done(Verdict::Success());
  const auto allocations = AllocationsOf(attempt, *given);
  if (!allocations.ok()) return done(Verdict::Error(std::string(Message(allocations.status()))));
  attempt.annotations[std::string(api::kAnnotationDeviceAllocated)] =
      api::EncodeDeviceAllocations(*allocations);
  if (!context_.Enabled(kAdaptionGate)) return done(Verdict::Success());
  Adapt(attempt, *allocations, std::move(done));
}

void DeviceShare::Adapt(Attempt& attempt, const api::DeviceAllocations& allocations,
                        VerdictDone done) {
  const kube::Labels& labels = context_.objects.devices.Find(attempt.node)->metadata.labels;
  const std::string vendor(kube::ValueOf(labels, api::kLabelGpuVendor));
  const auto notes =
      NotesForDevicePlugin(*attempt.pod, attempt.node, allocations, vendor,
                           kube::ValueOf(labels, api::kLabelGpuModel), context_.loop.clock().Now());
  if (!notes.ok()) return done(Verdict::Error(std::string(Message(notes.status()))));
  for (const auto& [key, value] : notes->annotations) attempt.annotations[key] = value;
  for (const auto& [key, value] : notes->labels) attempt.labels[key] = value;
  if (notes->lock.empty()) return done(Verdict::Success());
  LockNode(attempt, vendor, notes->lock, std::move(done));
}

void DeviceShare::LockNode(const Attempt& attempt, std::string_view vendor, const std::string& key,
                           VerdictDone done) {
  const kube::ObjectMeta& node = context_.nodes().node(attempt.row).metadata;
  const kube::ObjectMeta& pod = attempt.pod->metadata;
  const WallTime now = context_.loop.clock().Now();
  const auto fail = [&](std::string_view what) {
    done(Verdict::Error(std::string(Message(AdaptionError(vendor, what)))));
  };
  const std::string* const present = kube::FindValue(node.annotations, key);
  if (present != nullptr) {
    const auto lock = ParseNodeLock(*present);
    if (!lock.ok()) return fail(Message(lock.status()));
    const bool is_held =
        std::ranges::any_of(context_.nodes().pods(attempt.row), [&](const PodInfo* other) {
          return other->pod->metadata.ns == lock->ns && other->pod->metadata.name == lock->pod;
        });
    const bool is_own = lock->ns == pod.ns && lock->pod == pod.name;
    if (is_held && !is_own && now - lock->at < kNodeLockLasts) {
      return fail(fmt::format("failed to lock node: node \"{}\" has been locked", attempt.node));
    }
  }
  if (context_.client == nullptr) return done(Verdict::Success());
  const kube::Json patch = {
      {"metadata",
       {{"resourceVersion", node.resource_version},
        {"annotations", {{key, ToString(NodeLock{now, pod.ns, pod.name})}}}}}};
  context_.client->Patch(
      kube::kNodes, {"", attempt.node}, kube::PatchType::kMerge, patch, {},
      scope_.Wrap([vendor = std::string(vendor), done = std::make_shared<VerdictDone>(std::move(
                                                     done))](const StatusOr<kube::Json>& answer) {
        if (answer.ok()) return (*done)(Verdict::Success());
        const std::string what = fmt::format("failed to lock node: {}", Message(answer.status()));
        (*done)(Verdict::Error(std::string(Message(AdaptionError(vendor, what)))));
      }));
}

// ---- Waking

bool DeviceShare::Wants(EventKind kind) const {
  switch (kind) {
    case EventKind::kAssignedPodRemoved:
    case EventKind::kDeviceChanged:
    case EventKind::kNodeAdded:
    case EventKind::kNodeUpdated:
      return true;
    default:
      return false;
  }
}

bool DeviceShare::MightCure(const kube::Pod&, const ClusterEvent& event) {
  if (event.kind != EventKind::kNodeUpdated) return Wants(event.kind);
  return event.node_changes.allocatable || event.node_changes.labels;
}

// ---- For people

std::vector<ServicePlugin::Endpoint> DeviceShare::Endpoints() {
  const auto one = [this](const Params& params) -> StatusOr<kube::Json> {
    const std::string& node = params.at("node");
    const auto row = context_.nodes().Find(node);
    if (!row || !context_.nodes().IsLive(*row) || book_.row(*row).empty()) {
      return NotFound("cannot find node {}", node);
    }
    return DescribeDevices(*row, book_);
  };
  const auto all = [this](const Params&) -> StatusOr<kube::Json> {
    kube::json::object nodes;
    const NodeTable& table = context_.nodes();
    for (NodeRow row{0}; row < table.rows(); ++row) {
      if (!table.IsLive(row) || book_.row(row).empty()) continue;
      nodes[table.name(row)] = DescribeDevices(row, book_);
    }
    return kube::Json(std::move(nodes));
  };
  return {{"nodeDeviceSummaries", all}, {"nodeDeviceSummaries/{node}", one}};
}

}  // namespace koord::scheduler
