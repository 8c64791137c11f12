#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace koord::apiserver {

// What /metrics tells: requests by kind and outcome, how long they took, and open watches, under
// the names that a kube-apiserver uses.
class Metrics {
 public:
  struct RequestLabels {
    std::string_view verb, group, version, resource, subresource;
  };

  Metrics();
  ~Metrics();

  void CountRequest(const RequestLabels& labels, int code, Duration took);
  void WatchOpened();
  void WatchClosed();

  std::string Text() const;  // Prometheus exposition format

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace koord::apiserver
