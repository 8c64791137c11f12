#pragma once
#include <cstddef>
#include <string>

#include "base/string_map.h"

namespace koord::kube {

// How many bytes of request bodies a server holds at a time, and how many of them for one peer.
class BodyBudget {
 public:
  BodyBudget(size_t total, size_t per_peer) : total_(total), per_peer_(per_peer) {}

  // False, and nothing is taken, if they do not fit. A peer without an address has no limit of its
  // own.
  bool Take(const std::string& peer, size_t bytes);
  void Give(const std::string& peer, size_t bytes);

  // Whether it is the peer's own share that leaves no room.
  bool ExceedsShare(const std::string& peer, size_t bytes) const;

  size_t used() const { return used_; }
  size_t most_used() const { return most_used_; }

 private:
  const size_t total_;
  const size_t per_peer_;
  size_t used_ = 0;
  size_t most_used_ = 0;
  StringMap<size_t> peers_;
};

}  // namespace koord::kube
