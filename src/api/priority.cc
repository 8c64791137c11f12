#include "api/priority.h"

#include <limits>

#include "api/keys.h"
#include "api/numbers.h"
#include "base/strings.h"

namespace koord::api {
namespace {

constexpr int32_t kBandWidth = 1000;

// The lowest priority of a band.
int32_t Floor(PriorityBand band) {
  switch (band) {
    case PriorityBand::kNone:
      break;
    case PriorityBand::kProd:
      return 9000;
    case PriorityBand::kMid:
      return 7000;
    case PriorityBand::kBatch:
      return 5000;
    case PriorityBand::kFree:
      return 3000;
  }
  return 0;
}

struct Literal {
  int base = 10;
  std::string_view digits;
  bool prefixed = false;
};

Literal TakePrefix(std::string_view text) {
  if (text.size() < 2 || text[0] != '0') return {10, text};
  switch (text[1]) {
    case 'x':
    case 'X':
      return {16, text.substr(2), true};
    case 'b':
    case 'B':
      return {2, text.substr(2), true};
    case 'o':
    case 'O':
      return {8, text.substr(2), true};
    default:
      return {8, text.substr(1), true};
  }
}

int DigitValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::numeric_limits<int>::max();
}

// A number as a programmer writes it: with the base in front and underscores between digits.
std::optional<int64_t> ParseLiteral(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const Literal literal = TakePrefix(text);
  int64_t value = 0;
  bool after_digit = literal.prefixed;
  for (const char c : literal.digits) {
    if (c == '_') {
      if (!after_digit) return std::nullopt;
      after_digit = false;
      continue;
    }
    const int digit = DigitValue(c);
    if (digit >= literal.base) return std::nullopt;
    value = value * literal.base + digit;
    if (value > std::numeric_limits<uint32_t>::max()) return std::nullopt;
    after_digit = true;
  }
  if (literal.digits.empty() || !after_digit) return std::nullopt;
  return negative ? -value : value;
}

}  // namespace

std::string_view ToString(PriorityBand band) {
  switch (band) {
    case PriorityBand::kNone:
      return "";
    case PriorityBand::kProd:
      return "koord-prod";
    case PriorityBand::kMid:
      return "koord-mid";
    case PriorityBand::kBatch:
      return "koord-batch";
    case PriorityBand::kFree:
      return "koord-free";
  }
  return "";
}

PriorityBand ParsePriorityBand(std::string_view text) {
  for (const PriorityBand band : kPriorityBands) {
    if (text == ToString(band)) return band;
  }
  return PriorityBand::kNone;
}

PriorityBand BandOfPriority(int32_t priority) {
  for (const PriorityBand band : kPriorityBands) {
    if (band == PriorityBand::kNone) continue;
    if (priority >= Floor(band) && priority < Floor(band) + kBandWidth) return band;
  }
  return PriorityBand::kNone;
}

int32_t DefaultPriority(PriorityBand band) {
  return band == PriorityBand::kNone ? 0 : Floor(band) + kBandWidth / 2;
}

PriorityBand RawPriorityBand(const kube::Pod& pod) {
  if (const std::string* label = kube::FindValue(pod.metadata.labels, kLabelPriorityClass)) {
    return ParsePriorityBand(*label);
  }
  return pod.spec.priority ? BandOfPriority(*pod.spec.priority) : PriorityBand::kNone;
}

PriorityBand PriorityBandOf(const kube::Pod& pod) {
  if (const PriorityBand raw = RawPriorityBand(pod); raw != PriorityBand::kNone) return raw;
  switch (QosClassOf(pod)) {
    case QosClass::kSystem:
    case QosClass::kLse:
    case QosClass::kLsr:
    case QosClass::kLs:
      return PriorityBand::kProd;
    case QosClass::kBe:
      return PriorityBand::kBatch;
    case QosClass::kNone:
      break;
  }
  return PriorityBand::kNone;
}

int32_t PriorityValueOf(const kube::Pod& pod) {
  if (const int32_t priority = pod.spec.priority.value_or(0); priority != 0) return priority;
  return DefaultPriority(PriorityBandOf(pod));
}

StatusOr<int32_t> SubPriority(const kube::Labels& pod_labels) {
  const std::string_view text = kube::ValueOf(pod_labels, kLabelPriority);
  if (text.empty()) return 0;
  const std::optional<int32_t> value = ToInt32(ParseLiteral(text));
  if (!value) {
    return InvalidArgument("label {}: expected a 32-bit integer, found {}", kLabelPriority,
                           Quote(text, 64));
  }
  return *value;
}

std::string_view PreemptionPolicyOf(const kube::Labels& pod_labels) {
  const std::string_view policy = kube::ValueOf(pod_labels, kLabelPreemptionPolicy);
  return policy == "Never" || policy == "PreemptLowerPriority" ? policy : std::string_view();
}

bool MayCombine(QosClass qos, PriorityBand band) {
  switch (qos) {
    case QosClass::kBe:
      return band != PriorityBand::kNone && band != PriorityBand::kProd;
    case QosClass::kLsr:
      return band == PriorityBand::kProd;
    case QosClass::kLse:
    case QosClass::kLs:
    case QosClass::kSystem:
    case QosClass::kNone:
      break;
  }
  return true;
}

}  // namespace koord::api
