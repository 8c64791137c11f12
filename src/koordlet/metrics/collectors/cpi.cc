#include "koordlet/metrics/collectors/cpi.h"

#include <algorithm>

#include "base/log.h"

namespace koord::koordlet {

CpiCollector::CpiCollector(CollectorContext context)
    : Collector(context),
      cpi_(context.external.AddGauges("koordlet_container_cpi",
                                      "Cycles and instructions of the last window.",
                                      {"node", "pod_namespace", "pod_name", "container_id",
                                       "container_name", "pod_uid", "cpi_field"})),
      window_(context.loop) {}

void CpiCollector::Collect() {
  if (!is_supported_ || window_.pending()) return;
  if (!context_.state.has_pods() || context_.info.cpu() == nullptr) return;
  pods_.Follow(context_.state);
  next_ = 0;
  StartWindow();
}

void CpiCollector::StartWindow() {
  const CpuSet& cpus = context_.info.cpu()->topology.cpus();
  size_t room = std::max<size_t>(1, kMaxCountersOnCpus / 2 / std::max<size_t>(1, cpus.size()));
  auto& entries = pods_.entries();
  for (; next_ < entries.size() && room > 0; ++next_) {
    Pods::Entry& entry = entries[next_];
    if (entry.container == nullptr) continue;
    auto counter = context_.host.kernel().CountCpi(entry.dir(), cpus);
    if (absl::IsUnimplemented(counter.status()) || (counter.ok() && *counter == nullptr)) {
      LOG_WARNING("Cycles and instructions cannot be counted on this machine",
                  {"err", counter.status()});
      is_supported_ = false;
      has_synced_ = true;
      return;
    }
    if (!counter.ok()) {
      Complain(entry.dir(), counter.status());
      continue;
    }
    entry.memory.counter = std::move(*counter);
    --room;
  }
  window_.Set(context_.options.cpi_window, [this] { FinishWindow(); });
}

void CpiCollector::FinishWindow() {
  for (Pods::Entry& entry : pods_.entries()) {
    if (entry.memory.counter == nullptr) continue;
    const auto count = entry.memory.counter->Read();
    entry.memory.counter.reset();
    entry.memory.count.reset();
    if (!count.ok()) {
      Complain(entry.dir(), count.status());
      continue;
    }
    entry.memory.count = *count;
    context_.store.Append({Metric::kContainerCycles, entry.subject()}, count->cycles);
    context_.store.Append({Metric::kContainerInstructions, entry.subject()}, count->instructions);
  }
  has_synced_ = true;
  Show();
  if (next_ < pods_.entries().size()) StartWindow();
}

void CpiCollector::Show() {
  cpi_.Clear();
  for (const Pods::Entry& entry : pods_.entries()) {
    if (!entry.memory.count.has_value()) continue;
    const auto show = [&](std::string_view field, double value) {
      cpi_.With({context_.options.node_name, entry.ns(), entry.pod_name(),
                 entry.full_container_id(), entry.container_name(), entry.pod->uid(), field})
          .Set(value);
    };
    show("cycles", entry.memory.count->cycles);
    show("instructions", entry.memory.count->instructions);
  }
}

}  // namespace koord::koordlet
