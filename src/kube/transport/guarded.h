#pragma once
#include <concepts>
#include <memory>
#include <utility>

namespace koord::kube {

// For what waits for a socket: operations that are under way keep it alive until they have ended,
// and their end is hidden once it is closed.
template <class T>
class Guarded : public std::enable_shared_from_this<T> {
 protected:
  template <class F>
  auto Guard(F function) {
    return [ self = this->shared_from_this(), function = std::move(function) ]<class... Args>(
        Args && ... args) mutable requires std::invocable<F&, Args...> {
      if (!self->Guarded::closed_) function(std::forward<Args>(args)...);
    };
  }

  bool closed_ = false;
};

}  // namespace koord::kube
