#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace koord {

// The candidate that a user most likely meant, if any is near enough to be worth asking about.
std::optional<std::string> Suggest(std::string_view typed, std::span<const std::string> candidates);

}  // namespace koord
