#pragma once
#include <map>
#include <memory>
#include <string_view>

#include "localcluster/apiserver/core/core.h"
#include "localcluster/apiserver/core/request.h"
#include "localcluster/apiserver/read/watch_frames.h"

namespace koord::apiserver {

// Streams changes to clients.
//
// A watch that starts at a revision gets every later change in order, or is told at once that
// history no longer reaches back so far. One that starts without gets the present state first. A
// reader that lets a thousand events pile up for five seconds is cut off: it resumes where it was.
class Watches {
 public:
  explicit Watches(Core& core);
  ~Watches();

  void Start(RequestPtr request);

  // Ends all watches, or those of one resource (by its name in the store).
  void EndAll();
  void EndResource(std::string_view stored_as);

 private:
  class Watch;
  void Remove(uint64_t id);

  Core& core_;
  FrameCache frames_;
  std::map<uint64_t, std::shared_ptr<Watch>> watches_;
  uint64_t next_id_ = 1;
};

}  // namespace koord::apiserver
