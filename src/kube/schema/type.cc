#include "kube/schema/type.h"

#include <bit>
#include <cstring>

namespace koord::kube {
namespace {

// Field names differ in length and in their ends; that is enough to tell them apart cheaply.
size_t HashName(std::string_view name) {
  uint64_t head = 0;
  uint64_t tail = 0;
  const size_t length = name.size() < 8 ? name.size() : 8;
  std::memcpy(&head, name.data(), length);
  std::memcpy(&tail, name.data() + name.size() - length, length);
  const uint64_t mixed = (head ^ std::rotl(tail, 29) ^ name.size()) * 0x9e3779b97f4a7c15;
  return mixed >> 32;
}

}  // namespace

void Type::BuildIndex() {
  slots_.assign(std::bit_ceil(fields.size() * 2 + 1), 0);
  const size_t mask = slots_.size() - 1;
  for (size_t i = 0; i < fields.size(); ++i) {
    size_t slot = HashName(fields[i].name) & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = static_cast<uint16_t>(i + 1);
  }
}

const Type::Field* Type::Find(std::string_view field) const {
  if (slots_.empty() || field.empty()) return nullptr;
  const size_t mask = slots_.size() - 1;
  for (size_t slot = HashName(field) & mask; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const Field& candidate = fields[slots_[slot] - 1];
    if (candidate.name == field) return &candidate;
  }
  return nullptr;
}

}  // namespace koord::kube
