#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/event_loop.h"
#include "koordlet/runtime/container_stopper.h"

namespace koord::koordlet {

// Stops containers through the interface that the kubelet uses (CRI), over the runtime's socket.
// Nothing waits on the loop: answers come from the library's threads.
class CriContainerStopper final : public ContainerStopper {
 public:
  // The address of a runtime ("containerd"), for example "unix:///run/containerd/containerd.sock".
  // Asked once for each runtime that is met, and again as long as it fails.
  using AddressOf = std::function<StatusOr<std::string>(std::string_view runtime)>;

  CriContainerStopper(EventLoop& loop, AddressOf address_of);
  // Cancels what is under way.
  ~CriContainerStopper() override;

  void Stop(std::string_view container_id, Duration grace, Done done) override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace koord::koordlet
