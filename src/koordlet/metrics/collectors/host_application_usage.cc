#include "koordlet/metrics/collectors/host_application_usage.h"

#include <algorithm>

#include "base/strings.h"
#include "koordlet/host/kernel_text.h"

namespace koord::koordlet {

HostApplicationCollector::HostApplicationCollector(CollectorContext context)
    : Collector(context),
      usage_(context.internal.AddGauges(
          "koordlet_host_application_resource_usage",
          "What applications outside of Kubernetes use.",
          {"node", "host_application_name", "resource", "priority_class", "qos"})) {}

void HostApplicationCollector::Follow() {
  if (slo_ == context_.state.slo()) return;
  slo_ = context_.state.slo();
  usage_.Clear();
  std::vector<Application> before = std::move(applications_);
  applications_.clear();
  for (const api::HostApplication& spec : slo_->host_applications) {
    const auto dir = context_.host.cgroups().layout().HostApplicationDir(spec);
    if (!dir.ok()) {
      Complain(spec.name, dir.status());
      continue;
    }
    const auto known = std::ranges::find(before, *dir, &Application::dir);
    Application application = known != before.end() ? std::move(*known) : Application{};
    if (known != before.end()) before.erase(known);
    application.spec = spec;
    application.dir = *dir;
    applications_.push_back(std::move(application));
  }
}

void HostApplicationCollector::Show(const Application& application, std::string_view resource,
                                    double value) {
  usage_
      .With({context_.options.node_name, application.spec.name, resource, application.spec.priority,
             application.spec.qos})
      .Set(value);
}

void HostApplicationCollector::CollectOne(Application& application, UsageSum& sum) {
  const Cgroups& cgroups = context_.host.cgroups();
  const auto cpu = application.cpu.Read(cgroups, application.dir, CgroupCpu::Throttling::kIgnored,
                                        Now(), MaxAge(), buffer_);
  if (!cpu.ok()) return Complain(application.spec.name, cpu.status());
  const auto memory = application.memory.Read(cgroups, application.dir, buffer_);
  if (!memory.ok()) return Complain(application.spec.name, memory.status());
  const auto text =
      application.memory_usage.Read(cgroups, CgroupFile::kMemoryUsage, application.dir, buffer_);
  const auto with_page_cache = text.ok() ? NumberOf<int64_t>(Trim(*text)) : std::nullopt;
  if (!with_page_cache || !cpu->cores.has_value()) return;
  context_.store.Append({Metric::kHostAppCpu, application.spec.name}, *cpu->cores);
  context_.store.Append({Metric::kHostAppMemory, application.spec.name}, memory->used);
  if (context_.options.page_cache) {
    context_.store.Append({Metric::kHostAppMemoryWithPageCache, application.spec.name},
                          static_cast<double>(*with_page_cache));
  }
  sum.cores += *cpu->cores;
  sum.bytes += memory->used;
  Show(application, kube::kCpu, *cpu->cores);
  Show(application, kube::kMemory, memory->used);
}

void HostApplicationCollector::Collect() {
  UsageSum sum;
  if (context_.state.slo() != nullptr) {
    Follow();
    for (Application& application : applications_) CollectOne(application, sum);
  }
  sum.at = Now();
  sum.is_known = true;
  context_.usage.host_applications = sum;
  has_synced_ = true;
}

}  // namespace koord::koordlet
