#pragma once
#include <fmt/core.h>

#include <array>
#include <atomic>
#include <functional>
#include <initializer_list>
#include <memory>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>

#include "kube/codec.h"

namespace koord::kube {

// A list or map that many objects have in common: the pods of a template have the same containers
// and tolerations, nodes of one shape the same resources. Costs one pointer; equal ones that are
// decoded one soon after the other are stored once.
//
// It is read as the container that it stands for, replaced by assignment, and changed in no way but
// through Mutable().
template <class C>
class Shared {
 public:
  static constexpr bool kIsText = std::is_same_v<C, std::string>;
  using container = C;
  using value_type = typename C::value_type;
  using size_type = typename C::size_type;
  using difference_type = typename C::difference_type;
  using reference = typename C::const_reference;
  using const_reference = typename C::const_reference;
  using iterator = typename C::const_iterator;
  using const_iterator = typename C::const_iterator;

  Shared() = default;
  Shared(C items) : block_(items.empty() ? nullptr : new Block(std::move(items))) {}  // NOLINT
  Shared(std::initializer_list<value_type> items) : Shared(C(items)) {}
  Shared(const Shared& other) : block_(Join(other.block_)) {}
  Shared(Shared&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  Shared& operator=(Shared other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~Shared() { Leave(block_); }

  operator const C&() const { return get(); }  // NOLINT: that is what it stands for
  const C& get() const { return block_ == nullptr ? kNone : block_->items; }
  // The private copy to change, which is made if others have the same. What was read of it before
  // (references, iterators) may be the others' from then on. Since the caller may keep the
  // reference, a later copy of this has items of its own at once.
  C& Mutable() {
    if (block_ == nullptr) {
      block_ = new Block(C());
    } else if (block_->users.load(std::memory_order_acquire) > 1) {
      Leave(std::exchange(block_, new Block(block_->items)));
    }
    block_->exposed = true;
    return block_->items;
  }
  void clear() { *this = Shared(); }

  bool empty() const { return get().empty(); }
  size_type size() const { return get().size(); }
  const_iterator begin() const { return get().begin(); }
  const_iterator end() const { return get().end(); }
  decltype(auto) front() const { return get().front(); }
  decltype(auto) back() const { return get().back(); }
  const_reference operator[](size_type index) const { return get()[index]; }
  template <class K>
  decltype(auto) at(const K& key) const {
    return get().at(key);
  }
  template <class K>
  const_iterator find(const K& key) const {
    return get().find(key);
  }
  template <class K>
  bool contains(const K& key) const {
    return get().contains(key);
  }
  template <class K>
  size_type count(const K& key) const {
    return get().count(key);
  }

  bool operator==(const Shared& other) const {
    return block_ == other.block_ || get() == other.get();
  }
  bool operator==(const C& other) const requires(!kIsText) { return get() == other; }

  // As a text.
  Shared(const char* text)  // NOLINT
      requires kIsText : Shared(C(text)) {}
  Shared(std::string_view text)  // NOLINT
      requires kIsText : Shared(C(text)) {}
  operator std::string_view() const  // NOLINT
      requires kIsText {
    return get();
  }
  template <class T>
  bool operator==(const T& other) const
      requires(kIsText&& std::is_convertible_v<const T&, std::string_view>) {
    return std::string_view(get()) == std::string_view(other);
  }
  auto operator<=>(const Shared& other) const requires kIsText { return get() <=> other.get(); }
  bool starts_with(std::string_view start) const requires kIsText {
    return get().starts_with(start);
  }
  friend std::string operator+(const Shared& a, std::string_view b) requires kIsText {
    return a.get() + std::string(b);
  }
  friend std::string operator+(std::string_view a, const Shared& b) requires kIsText {
    return std::string(a) + b.get();
  }
  friend void PrintTo(const Shared& text, std::ostream* out) requires kIsText {
    *out << '"' << text.get() << '"';
  }

 private:
  struct Block {
    explicit Block(C items) : items(std::move(items)) {}
    std::atomic<uint32_t> users{1};
    bool exposed = false;
    C items;
  };

  static Block* Join(Block* block) {
    if (block == nullptr) return nullptr;
    if (block->exposed) return new Block(block->items);
    block->users.fetch_add(1, std::memory_order_relaxed);
    return block;
  }
  static void Leave(Block* block) {
    if (block != nullptr && block->users.fetch_sub(1, std::memory_order_acq_rel) == 1) delete block;
  }

  inline static const C kNone{};
  Block* block_ = nullptr;
};

// A text that many objects have in common.
using Text = Shared<std::string>;

namespace codec_internal {

// A cheap guess whether two containers may be equal: a mix of the texts in them.
struct TextMix {
  size_t hash = 0;

  void Add(size_t more) { hash = (hash ^ more) * 0x9e3779b97f4a7c15u; }
  template <class T>
  void operator()(const T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
      Add(std::hash<std::string>{}(value));
    } else if constexpr (Described<T>) {
      T::Fields(value, [this](std::string_view, const auto& field) { (*this)(field); });
    } else if constexpr (requires { value.first; }) {
      (*this)(value.first);
      (*this)(value.second);
    } else if constexpr (requires { value.begin(); }) {
      for (const auto& item : value) (*this)(item);
    }
  }
  template <class T>
  void operator()(const AlwaysField<T>& field) {
    (*this)(static_cast<const T&>(field.value));
  }
};

// The one that was decoded before, if it is still known; otherwise this one, for those to come.
template <class C>
Shared<C> Pooled(C items) {
  constexpr size_t kSlots = 512;
  // Items, or characters. Such have little chance to be met twice.
  constexpr size_t kLarge = Shared<C>::kIsText ? 128 : 32;
  thread_local std::array<Shared<C>, kSlots> pool;
  if (items.empty() || items.size() > kLarge) return items;
  TextMix mix;
  mix(items);
  Shared<C>& known = pool[(mix.hash >> 32) % kSlots];
  if (known.get() != items) known = std::move(items);
  return known;
}

}  // namespace codec_internal

template <class C>
struct Codec<Shared<C>> {
  static Status Read(JsonView in, Shared<C>& out) {
    C items;
    Status status = Codec<C>::Read(in, items);
    out = codec_internal::Pooled(std::move(items));
    return status;
  }
  static Json Write(const Shared<C>& value) { return Codec<C>::Write(value.get()); }
};

}  // namespace koord::kube

template <>
struct fmt::formatter<koord::kube::Text> : fmt::formatter<std::string_view> {
  auto format(const koord::kube::Text& text, auto& context) const {
    return fmt::formatter<std::string_view>::format(text.get(), context);
  }
};
