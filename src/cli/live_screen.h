#pragma once
#include <string>
#include <vector>

#include "base/event_loop.h"
#include "localcluster/assembly/local_cluster.h"

namespace koord::cli {

// What the cluster is doing: a few lines that are redrawn in place on a terminal, or a plain line
// when something has changed where nobody watches.
class LiveScreen {
 public:
  LiveScreen(EventLoop& loop, localcluster::LocalCluster& cluster, bool live);

 private:
  void WaitUntilReady();
  void Refresh();
  void Redraw(const std::vector<std::string>& lines);

  EventLoop& loop_;
  localcluster::LocalCluster& cluster_;
  const bool live_;
  const SteadyTime start_;
  size_t drawn_ = 0;  // lines on the screen
  std::string last_;  // plain line
  Timer timer_;
};

}  // namespace koord::cli
