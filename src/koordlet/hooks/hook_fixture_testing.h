#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/virtual_loop.h"
#include "koordlet/config/koordlet_gates.h"
#include "koordlet/executor/resource_executor.h"
#include "koordlet/hooks/runtime_hooks.h"
#include "koordlet/informers/node_state.h"
#include "koordlet/informers/pod_book.h"
#include "koordlet/testing/test_host.h"
#include "koordlet/testing/test_pod.h"
#include "kube/json.h"
#include "kube/yaml.h"

namespace koord::koordlet::hooks {

// A node in memory with its hooks: tests say what is on it and what is wanted, and look at files.
struct HookNode {
  struct Options {
    TestHost::Options host = {};
    std::string gates = {};
    HookOptions hooks = {};
    HookTools tools = {};
    std::string undo = {};  // its file
  };

  explicit HookNode(Options options)
      : machine(options.host),
        executor(machine.host(), loop.clock(), nullptr, nullptr, {}),
        undo(options.undo),
        book(machine.host().cgroups().layout(), options.hooks.trust) {
    if (!gates.Set(options.gates).ok()) std::abort();
    hooks = std::make_unique<RuntimeHooks>(
        RuntimeHooks::Surroundings{
            .host = machine.host(),
            .executor = executor,
            .state = state,
            .loop = loop,
            .gates = gates,
            .registry = registry,
            .tools = options.tools,
            .undo = &undo,
            .record_event =
                [this](const HookPod& pod, std::string_view reason, std::string_view message) {
                  events.push_back(fmt::format("{} {}: {}", pod.key(), reason, message));
                },
            .recreate_directory =
                [this](const std::string& path) {
                  directories.push_back(path);
                  return absl::OkStatus();
                }},
        options.hooks);
    hooks->Start();
    executor.set_observer([this](const WriteRecord& write) {
      writes.push_back(fmt::format("{}={}", write.path, write.new_value));
    });
  }
  HookNode() : HookNode(Options()) {}

  void AddPod(std::string_view yaml) { AddPod(TestPod(yaml)); }
  void AddPod(std::shared_ptr<const kube::Pod> pod) {
    machine.AddPod(*pod);
    pods.push_back(std::move(pod));
  }
  // The kubelet answers, and hooks have done their work.
  void Sync() {
    state.SetPods(book.Update(pods));
    loop.RunReady();
  }
  void SetSlo(std::string_view yaml) {
    const auto document = kube::ParseYaml(yaml);
    if (!document.ok()) std::abort();
    auto spec = kube::Decode<api::NodeSloSpec>(*document);
    if (!spec.ok()) std::abort();
    state.SetSlo(std::make_shared<const api::NodeSloSpec>(*std::move(spec)));
    loop.RunReady();
  }
  void SetTopology(TopologyView topology) {
    state.SetTopology(std::make_shared<const TopologyView>(std::move(topology)));
    loop.RunReady();
  }
  void SetNode(std::string_view yaml) {
    state.SetNode(TestNode(yaml));
    loop.RunReady();
  }
  void SetDevices(std::string_view yaml) {
    const auto document = kube::ParseYaml(yaml);
    if (!document.ok()) std::abort();
    auto device = kube::Decode<api::Device>(*document);
    if (!device.ok()) std::abort();
    state.SetDevice(std::make_shared<const api::Device>(*std::move(device)));
  }
  const kube::Pod& pod(std::string_view name) const {
    for (const auto& each : pods) {
      if (each->metadata.name == name) return *each;
    }
    std::abort();
  }
  std::string OfPod(CgroupFile file, std::string_view name) const {
    return machine.Get(file, machine.PodDir(pod(name)));
  }
  std::string OfContainer(CgroupFile file, std::string_view name,
                          std::string_view container) const {
    return machine.Get(file, machine.ContainerDir(pod(name), container));
  }

  VirtualLoop loop;
  TestHost machine;
  metrics::Registry registry;
  FeatureGates gates = KoordletFeatureGates();
  ResourceExecutor executor;
  UndoFile undo;
  NodeState state;
  PodBook book;
  std::vector<std::shared_ptr<const kube::Pod>> pods;
  std::vector<std::string> events;
  std::vector<std::string> directories;
  std::vector<std::string> writes;
  std::unique_ptr<RuntimeHooks> hooks;
};

}  // namespace koord::koordlet::hooks
