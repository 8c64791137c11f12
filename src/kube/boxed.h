#pragma once
#include <memory>
#include <utility>

#include "kube/codec.h"

namespace koord::kube {

// An optional that costs one pointer while it is empty: for large members that few objects have.
// Copies are deep, as a value's are.
template <class T>
class Boxed {
 public:
  Boxed() = default;
  Boxed(T value) : value_(std::make_unique<T>(std::move(value))) {}  // NOLINT: as optional does
  Boxed(const Boxed& other) : value_(other ? std::make_unique<T>(*other) : nullptr) {}
  Boxed(Boxed&&) noexcept = default;
  Boxed& operator=(Boxed other) noexcept {
    value_ = std::move(other.value_);
    return *this;
  }

  bool has_value() const { return value_ != nullptr; }
  explicit operator bool() const { return has_value(); }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return value_.get(); }
  const T* operator->() const { return value_.get(); }

  T& emplace() { return *(value_ = std::make_unique<T>()); }
  void reset() { value_.reset(); }

  bool operator==(const Boxed& other) const {
    if (!has_value() || !other.has_value()) return has_value() == other.has_value();
    return *value_ == *other.value_;
  }

 private:
  std::unique_ptr<T> value_;
};

template <class T>
struct Codec<Boxed<T>> {
  static Status Read(JsonView in, Boxed<T>& out) { return Codec<T>::Read(in, out.emplace()); }
  static Json Write(const Boxed<T>& value) {
    return value ? Codec<T>::Write(*value) : Json(nullptr);
  }
};

}  // namespace koord::kube
