#pragma once
#include <memory>
#include <utility>

namespace koord {

// Guards callbacks against their owner's end: a function wrapped by a Scope does nothing once the
// Scope is gone. Keep it as the last member, so that it dies first.
class Scope {
 public:
  Scope() = default;
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  template <class F>
  auto Wrap(F function) const {
    return [alive = std::weak_ptr<const char>(alive_),
            function = std::move(function)]<class... Args>(Args&&... args) mutable {
      if (!alive.expired()) function(std::forward<Args>(args)...);
    };
  }

 private:
  std::shared_ptr<const char> alive_ = std::make_shared<const char>();
};

}  // namespace koord
