#pragma once
#include <memory>
#include <utility>

namespace koord::model {

// A shared object that is copied at the first change, if there is one.
template <class T>
class CopyOnWrite {
 public:
  explicit CopyOnWrite(std::shared_ptr<const T> original) : current_(std::move(original)) {}

  const T& operator*() const { return *current_; }
  const T* operator->() const { return current_.get(); }

  T& Edit() {
    if (copy_ == nullptr) current_ = copy_ = std::make_shared<T>(*current_);
    return *copy_;
  }

  std::shared_ptr<const T> Take() { return std::move(current_); }

 private:
  std::shared_ptr<const T> current_;
  std::shared_ptr<T> copy_;  // what current_ is once it may be changed
};

}  // namespace koord::model
