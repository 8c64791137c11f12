#pragma once
#include <array>
#include <cstddef>
#include <string_view>

namespace koord::scheduler {

// Where plugins take part in placing a pod, in the order in which they are reached.
enum class ExtensionPoint {
  kPreEnqueue,
  kQueueSort,
  kPreFilter,
  kFilter,
  kPostFilter,
  kPreScore,
  kScore,
  kReserve,
  kPermit,
  kPreBind,
  kBind,
  kPostBind,
};

inline constexpr std::array kExtensionPoints{
    ExtensionPoint::kPreEnqueue, ExtensionPoint::kQueueSort,  ExtensionPoint::kPreFilter,
    ExtensionPoint::kFilter,     ExtensionPoint::kPostFilter, ExtensionPoint::kPreScore,
    ExtensionPoint::kScore,      ExtensionPoint::kReserve,    ExtensionPoint::kPermit,
    ExtensionPoint::kPreBind,    ExtensionPoint::kBind,       ExtensionPoint::kPostBind,
};

inline constexpr size_t IndexOf(ExtensionPoint point) { return static_cast<size_t>(point); }

// As profiles spell it: "preFilter".
constexpr std::string_view ToString(ExtensionPoint point) {
  switch (point) {
    case ExtensionPoint::kPreEnqueue:
      return "preEnqueue";
    case ExtensionPoint::kQueueSort:
      return "queueSort";
    case ExtensionPoint::kPreFilter:
      return "preFilter";
    case ExtensionPoint::kFilter:
      return "filter";
    case ExtensionPoint::kPostFilter:
      return "postFilter";
    case ExtensionPoint::kPreScore:
      return "preScore";
    case ExtensionPoint::kScore:
      return "score";
    case ExtensionPoint::kReserve:
      return "reserve";
    case ExtensionPoint::kPermit:
      return "permit";
    case ExtensionPoint::kPreBind:
      return "preBind";
    case ExtensionPoint::kBind:
      return "bind";
    case ExtensionPoint::kPostBind:
      return "postBind";
  }
  return "";
}

}  // namespace koord::scheduler
