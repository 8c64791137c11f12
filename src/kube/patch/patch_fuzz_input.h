#pragma once
#include <optional>

#include "base/fuzz.h"
#include "kube/json.h"

namespace koord::kube::patch_internal {

// A document and a patch for it, written one after the other on two lines.
struct FuzzInput {
  Json document, patch;
};

inline std::optional<FuzzInput> ReadFuzzInput(const uint8_t* data, size_t size) {
  const std::string_view text = FuzzText(data, size);
  const size_t line = text.find('\n');
  if (line == std::string_view::npos) return {};
  auto document = ParseJson(text.substr(0, line));
  auto patch = ParseJson(text.substr(line + 1));
  if (!document.ok() || !patch.ok()) return {};
  return FuzzInput{*std::move(document), *std::move(patch)};
}

}  // namespace koord::kube::patch_internal
