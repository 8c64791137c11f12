#include "koordlet/informers/cgroup_watch.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cerrno>
#include <cstring>

#include "base/log.h"

namespace koord::koordlet {

std::optional<std::string> PodOfCgroupName(std::string_view name, CgroupDriver driver) {
  if (driver == CgroupDriver::kCgroupfs) {
    if (!name.starts_with("pod") || name.size() == 3) return std::nullopt;
    return std::string(name.substr(3));
  }
  constexpr std::string_view kSuffix = ".slice";
  if (!name.starts_with("kubepods-") || !name.ends_with(kSuffix)) return std::nullopt;
  name.remove_suffix(kSuffix.size());
  const size_t at = name.rfind("-pod");
  if (at == std::string_view::npos || at + 4 == name.size()) return std::nullopt;
  std::string uid(name.substr(at + 4));
  std::replace(uid.begin(), uid.end(), '_', '-');
  return uid;
}

class CgroupWatch::Impl {
 public:
  Impl(AsioLoop& loop, CgroupDriver driver, Listener listener)
      : driver_(driver), listener_(std::move(listener)), descriptor_(loop.context()) {}

  Status Open(const std::string& root, const CgroupLayout& layout) {
    const int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (fd < 0) return Unavailable("inotify: {}", std::strerror(errno));
    descriptor_.assign(fd);
    for (const kube::PodQos qos :
         {kube::PodQos::kGuaranteed, kube::PodQos::kBurstable, kube::PodQos::kBestEffort}) {
      const std::string dir = root + "/" + layout.QosDir(qos).path();
      if (inotify_add_watch(fd, dir.c_str(), IN_CREATE | IN_DELETE | IN_ONLYDIR) < 0) {
        return Unavailable("inotify {}: {}", dir, std::strerror(errno));
      }
    }
    Wait();
    return absl::OkStatus();
  }

 private:
  void Wait() {
    descriptor_.async_read_some(
        boost::asio::buffer(buffer_), [this](const boost::system::error_code& error, size_t size) {
          if (error == boost::asio::error::operation_aborted) return;
          if (error) {
            LOG_WARNING("Pods are looked for by polling only", {"err", error.message()});
            return;
          }
          Deliver(size);
          Wait();
        });
  }

  void Deliver(size_t size) {
    size_t at = 0;
    while (at + sizeof(inotify_event) <= size) {
      inotify_event event;
      std::memcpy(&event, buffer_.data() + at, sizeof(event));
      const char* name = buffer_.data() + at + sizeof(event);
      at += sizeof(event) + event.len;
      if (event.len == 0 || at > size) continue;
      const auto pod = PodOfCgroupName({name, strnlen(name, event.len)}, driver_);
      if (pod) listener_(*pod, (event.mask & IN_CREATE) != 0);
    }
  }

  const CgroupDriver driver_;
  const Listener listener_;
  boost::asio::posix::stream_descriptor descriptor_;
  alignas(inotify_event) std::array<char, 4096> buffer_;
};

CgroupWatch::CgroupWatch(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CgroupWatch::~CgroupWatch() = default;

StatusOr<std::unique_ptr<CgroupWatch>> CgroupWatch::Start(AsioLoop& loop, const std::string& root,
                                                          const CgroupLayout& layout,
                                                          Listener listener) {
  auto impl = std::make_unique<Impl>(loop, layout.driver, std::move(listener));
  RETURN_IF_ERROR(impl->Open(root, layout));
  return std::unique_ptr<CgroupWatch>(new CgroupWatch(std::move(impl)));
}

}  // namespace koord::koordlet
