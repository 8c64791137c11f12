#pragma once
#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>

#include "base/status.h"

namespace koord {
class AsioLoop;
}

namespace koord::koordlet::hooks {

// Listens on a Unix socket that only root and the program's own user can reach: whoever talks to
// koordlet decides what runs how on the node.
//
// The socket has mode 0600 in a directory of mode 0700, which is made if it is missing and must
// belong to us. A socket that an earlier run left behind is replaced; anything else in its place is
// an error. Other users' connections are closed at once, whatever the modes say.
class UnixListener {
 public:
  using Accept = std::function<void(int fd)>;  // non-blocking; the callee closes it

  static StatusOr<std::unique_ptr<UnixListener>> Listen(AsioLoop& loop, const std::string& path,
                                                        Accept accept);
  ~UnixListener();  // removes the socket

 private:
  class Impl;
  explicit UnixListener(std::shared_ptr<Impl> impl);

  std::shared_ptr<Impl> impl_;
};

// Whether a user may talk to us.
bool MayConnect(uid_t peer, uid_t own);

}  // namespace koord::koordlet::hooks
