#include "koordlet/hooks/server/unix_listener.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "base/asio_loop.h"
#include "base/log.h"

namespace koord::koordlet::hooks {
namespace {

constexpr mode_t kDirectoryMode = 0700;
constexpr mode_t kSocketMode = 0600;
constexpr int kBacklog = 16;
constexpr int kMaxAcceptsAtOnce = 64;

Status Problem(std::string_view what, const std::string& path) {
  return FailedPrecondition("{} {}: {}", what, path, std::generic_category().message(errno));
}

Status PrepareDirectory(const std::string& path) {
  const std::string directory = path.substr(0, path.rfind('/'));
  if (mkdir(directory.c_str(), kDirectoryMode) != 0 && errno != EEXIST) {
    return Problem("cannot make", directory);
  }
  struct stat info {};
  if (lstat(directory.c_str(), &info) != 0) return Problem("cannot look at", directory);
  if (!S_ISDIR(info.st_mode) || info.st_uid != geteuid() || (info.st_mode & S_ISVTX) != 0) {
    return FailedPrecondition("{} must be a directory of our own for the socket in it", directory);
  }
  if ((info.st_mode & 0077) != 0 && chmod(directory.c_str(), kDirectoryMode) != 0) {
    return Problem("cannot protect", directory);
  }
  return absl::OkStatus();
}

Status RemoveStaleSocket(const std::string& path) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0) {
    return errno == ENOENT ? absl::OkStatus() : Problem("cannot look at", path);
  }
  if (!S_ISSOCK(info.st_mode)) return FailedPrecondition("{} is there and is no socket", path);
  return unlink(path.c_str()) == 0 ? absl::OkStatus() : Problem("cannot replace", path);
}

StatusOr<int> Bind(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return InvalidArgument("socket path is too long, at most {} bytes: {}",
                           sizeof(address.sun_path) - 1, path);
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return Problem("cannot open a socket for", path);
  // Nobody else reaches into the directory between bind and chmod.
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      chmod(path.c_str(), kSocketMode) != 0 || listen(fd, kBacklog) != 0) {
    Status status = Problem("cannot listen on", path);
    close(fd);
    return status;
  }
  return fd;
}

}  // namespace

bool MayConnect(uid_t peer, uid_t own) { return peer == 0 || peer == own; }

class UnixListener::Impl : public std::enable_shared_from_this<Impl> {
 public:
  Impl(AsioLoop& loop, int fd, std::string path, Accept accept)
      : socket_(loop.context(), fd), path_(std::move(path)), accept_(std::move(accept)) {}

  void Wait() {
    socket_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                       [self = shared_from_this()](const boost::system::error_code& error) {
                         if (error || self->accept_ == nullptr) return;
                         self->AcceptAll();
                         self->Wait();
                       });
  }

  void Stop() {
    accept_ = nullptr;
    boost::system::error_code ignored;
    socket_.close(ignored);
    unlink(path_.c_str());
  }

 private:
  void AcceptAll() {
    for (int i = 0; i < kMaxAcceptsAtOnce; ++i) {
      const int fd =
          accept4(socket_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (fd < 0) return;
      ucred peer{};
      socklen_t size = sizeof(peer);
      if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
          !MayConnect(peer.uid, geteuid())) {
        LOG_WARNING("Refused a connection to the hook server", {"uid", peer.uid},
                    {"pid", peer.pid});
        close(fd);
        continue;
      }
      accept_(fd);
    }
  }

  boost::asio::posix::stream_descriptor socket_;
  const std::string path_;
  Accept accept_;
};

StatusOr<std::unique_ptr<UnixListener>> UnixListener::Listen(AsioLoop& loop,
                                                             const std::string& path,
                                                             Accept accept) {
  if (!path.starts_with('/') || path.ends_with('/')) {
    return InvalidArgument("socket path must be absolute: {}", Quote(path));
  }
  RETURN_IF_ERROR(PrepareDirectory(path));
  RETURN_IF_ERROR(RemoveStaleSocket(path));
  ASSIGN_OR_RETURN(const int fd, Bind(path));
  auto impl = std::make_shared<Impl>(loop, fd, path, std::move(accept));
  impl->Wait();
  return std::unique_ptr<UnixListener>(new UnixListener(std::move(impl)));
}

UnixListener::UnixListener(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
UnixListener::~UnixListener() { impl_->Stop(); }

}  // namespace koord::koordlet::hooks
