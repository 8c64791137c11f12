#include "kube/quantity.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "base/strings.h"

namespace koord::kube {
namespace {

using Wide = __int128;
using Format = Quantity::Format;

constexpr int kFinest = -9;      // the smallest power of ten that is remembered
constexpr int kCoarsest = 1000;  // places before the point: keeps texts and loops bounded
constexpr int kMaxDigits = 38;   // of a Wide
constexpr size_t kMaxCanonicalDigits = 18;
constexpr Wide kMaxInt64 = std::numeric_limits<int64_t>::max();
constexpr Wide kMinInt64 = std::numeric_limits<int64_t>::min();

constexpr std::array<Wide, kMaxDigits + 1> MakePowers() {
  std::array<Wide, kMaxDigits + 1> powers{};
  powers[0] = 1;
  for (size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}
constexpr std::array<Wide, kMaxDigits + 1> kPowers = MakePowers();

// value * 10^power; false if it does not fit.
bool ScaleUp(Wide value, int power, Wide& out) {
  if (power > kMaxDigits) {
    out = 0;
    return value == 0;
  }
  return !__builtin_mul_overflow(value, kPowers[power], &out);
}

Wide ScaleDownAwayFromZero(Wide value, int power) {
  if (power > kMaxDigits) return value > 0 ? 1 : value < 0 ? -1 : 0;
  const Wide quotient = value / kPowers[power];
  const Wide remainder = value % kPowers[power];
  return remainder == 0 ? quotient : quotient + (value > 0 ? 1 : -1);
}

int CountDigits(Wide value) {
  return static_cast<int>(std::upper_bound(kPowers.begin(), kPowers.end(), value) -
                          kPowers.begin());
}

std::string WideToString(Wide value) {
  std::string text;
  unsigned __int128 rest = value < 0 ? -static_cast<unsigned __int128>(value) : value;
  do {
    text += static_cast<char>('0' + static_cast<int>(rest % 10));
    rest /= 10;
  } while (rest != 0);
  if (value < 0) text += '-';
  std::reverse(text.begin(), text.end());
  return text;
}

bool AppendDigit(Wide& number, int digit) {
  return !__builtin_mul_overflow(number, Wide{10}, &number) &&
         !__builtin_add_overflow(number, Wide{digit}, &number);
}

std::string_view SiSuffix(int exponent) {
  constexpr std::string_view kSuffixes[] = {"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
  return kSuffixes[(exponent - kFinest) / 3];
}

// Empty if the value is printed better as a decimal: small, or not whole.
std::string BinaryText(Wide mantissa, int exponent) {
  constexpr std::string_view kSuffixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  Wide value = mantissa;
  if (exponent < 0) {
    value = mantissa / kPowers[-exponent];
    if (value * kPowers[-exponent] != mantissa) return {};
  } else if (!ScaleUp(mantissa, exponent, value)) {
    return {};
  }
  if (value > -1024 && value < 1024) return {};
  size_t unit = 0;
  while (unit + 1 < std::size(kSuffixes) && value % 1024 == 0) {
    value /= 1024;
    ++unit;
  }
  return WideToString(value) + std::string(kSuffixes[unit]);
}

Status Malformed() {
  return InvalidArgument(
      "quantities must match the regular expression "
      "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
}
Status BadNumber() { return InvalidArgument("unable to parse numeric part of quantity"); }
Status BadSuffix() { return InvalidArgument("unable to parse quantity's suffix"); }

// The pieces of a quantity's text.
struct Pieces {
  bool negative = false;
  bool has_digits = false;
  bool plain = true;         // nothing in the number that canonical output would not have
  std::string_view integer;  // without leading zeros
  std::string_view fraction;
  std::string_view suffix;
};

std::string_view TakeDigits(std::string_view& text) {
  size_t count = 0;
  while (count < text.size() && IsDigit(text[count])) ++count;
  const std::string_view digits = text.substr(0, count);
  text.remove_prefix(count);
  return digits;
}

bool IsSuffixText(std::string_view text) {
  while (!text.empty() && std::string_view("eEinumkKMGTP").find(text[0]) != text.npos) {
    text.remove_prefix(1);
  }
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) text.remove_prefix(1);
  TakeDigits(text);
  return text.empty();
}

std::optional<Pieces> SplitText(std::string_view text) {
  if (text.empty()) return {};
  Pieces pieces;
  if (text[0] == '+' || text[0] == '-') {
    pieces.negative = text[0] == '-';
    pieces.plain = pieces.negative;
    text.remove_prefix(1);
  }
  pieces.integer = TakeDigits(text);
  pieces.has_digits = !pieces.integer.empty();
  const size_t zeros = std::min(pieces.integer.find_first_not_of('0'), pieces.integer.size());
  if (zeros > 0) pieces.plain = false;
  pieces.integer.remove_prefix(zeros);
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    pieces.fraction = TakeDigits(text);
    pieces.has_digits |= !pieces.fraction.empty();
    pieces.plain = false;
  }
  pieces.suffix = text;
  if (!IsSuffixText(text)) return {};
  return pieces;
}

struct Unit {
  Format format = Format::kDecimalSi;
  int exponent = 0;  // of ten, or of two for binary units
};

std::optional<Unit> ParseUnit(std::string_view suffix) {
  if (suffix.empty()) return Unit{};
  if (suffix.size() == 1) {
    constexpr std::string_view kSuffixes = "num kMGTPE";
    const size_t position = kSuffixes.find(suffix[0]);
    if (position == std::string_view::npos || suffix[0] == ' ') return {};
    return Unit{Format::kDecimalSi, kFinest + 3 * static_cast<int>(position)};
  }
  if (suffix.size() == 2 && suffix[1] == 'i') {
    constexpr std::string_view kSuffixes = "KMGTPE";
    const size_t position = kSuffixes.find(suffix[0]);
    if (position == std::string_view::npos) return {};
    return Unit{Format::kBinarySi, 10 * static_cast<int>(position + 1)};
  }
  if (suffix[0] != 'e' && suffix[0] != 'E') return {};
  suffix.remove_prefix(suffix[1] == '+' ? 2 : 1);
  int exponent = 0;
  const auto [end, error] = std::from_chars(suffix.data(), suffix.data() + suffix.size(), exponent);
  if (error != std::errc{} || end != suffix.data() + suffix.size()) return {};
  return Unit{Format::kDecimalExponent, exponent};
}

// Whether the digits of a number, without its point, end with "000".
bool EndsWithThousand(const Pieces& pieces) {
  const size_t in_fraction = std::min<size_t>(pieces.fraction.size(), 3);
  return pieces.integer.size() + in_fraction >= 3 &&
         pieces.fraction.ends_with(std::string_view("000").substr(0, in_fraction)) &&
         pieces.integer.ends_with(std::string_view("000").substr(in_fraction));
}

// Whether Kubernetes would keep the text as it was written; a cheap test that lets some texts
// through which are not canonical.
bool KeepsText(const Pieces& pieces, const Unit& unit) {
  if (pieces.integer.empty()) return false;  // the digits would start with 0
  if (unit.format == Format::kBinarySi) {
    constexpr size_t kMaxIntegerDigits[] = {11, 8, 5, 2, 0, 0};
    return pieces.fraction.empty() &&
           pieces.integer.size() <= kMaxIntegerDigits[unit.exponent / 10 - 1] &&
           *ParseInt(pieces.integer) % 8 != 0;
  }
  if (pieces.integer.size() + pieces.fraction.size() > kMaxCanonicalDigits) return false;
  const int exponent = unit.exponent - static_cast<int>(pieces.fraction.size());
  return exponent % 3 == 0 && exponent >= kFinest && !EndsWithThousand(pieces);
}

struct Number {
  Wide mantissa = 0;
  int exponent = 0;
};

// Digits finer than 10^-9 are rounded away from zero.
std::optional<Number> ReadDecimal(const Pieces& pieces, int64_t exponent) {
  std::string_view integer = pieces.integer;
  std::string_view fraction = pieces.fraction;
  while (fraction.ends_with('0')) fraction.remove_suffix(1);
  if (fraction.empty() && integer.size() > kMaxCanonicalDigits) {
    while (integer.ends_with('0')) {
      integer.remove_suffix(1);
      ++exponent;
    }
  }
  const auto places = static_cast<int64_t>(fraction.size());
  const int64_t dropped = std::max<int64_t>(0, kFinest - (exponent - places));
  const int64_t kept = static_cast<int64_t>(integer.size()) + places - dropped;
  Number number;
  bool inexact = false;
  int64_t position = 0;
  for (const std::string_view part : {integer, fraction}) {
    for (const char c : part) {
      if (position++ >= kept) {
        inexact |= c != '0';
      } else if (!AppendDigit(number.mantissa, c - '0')) {
        return {};
      }
    }
  }
  if (inexact && __builtin_add_overflow(number.mantissa, Wide{1}, &number.mantissa)) return {};
  if (number.mantissa == 0) return Number{};
  exponent = dropped > 0 ? kFinest : exponent - places;
  // However it is spelt: a value that is taken can be taken again as it is printed.
  if (exponent + CountDigits(number.mantissa) > kCoarsest) return {};
  number.exponent = static_cast<int>(exponent);
  return number;
}

// The fraction times 2^shift in units of 10^-9, rounded up. Twenty places are exact; further ones
// only round.
Wide ReadBinaryFraction(std::string_view fraction, int shift) {
  constexpr size_t kPlaces = 20;
  unsigned __int128 digits = 0;
  for (size_t i = 0; i < kPlaces; ++i) {
    digits = digits * 10 + static_cast<unsigned>(i < fraction.size() ? fraction[i] - '0' : 0);
  }
  bool inexact = fraction.size() > kPlaces &&
                 fraction.find_first_not_of('0', kPlaces) != std::string_view::npos;
  const auto divisor = static_cast<unsigned __int128>(kPowers[kPlaces + kFinest]);
  digits <<= shift;
  inexact |= digits % divisor != 0;
  return static_cast<Wide>(digits / divisor) + (inexact ? 1 : 0);
}

// Never more than 2^63 - 1.
Number ReadBinary(const Pieces& pieces, int shift) {
  const std::optional<int64_t> integer = pieces.integer.empty() ? 0 : ParseInt(pieces.integer);
  if (!integer || *integer > kMaxInt64 >> shift) return {kMaxInt64, 0};
  const Wide units = Wide{*integer} << shift;
  const Wide fraction = ReadBinaryFraction(pieces.fraction, shift);
  if (fraction == 0) return {units, 0};
  const Wide nanos = units * kPowers[-kFinest] + fraction;
  if (nanos > kMaxInt64 * kPowers[-kFinest]) return {kMaxInt64, 0};
  return {nanos, kFinest};
}

// Brings both to the same power of ten, the finer of the two unless that does not fit.
int Align(Wide& a, int a_exponent, Wide& b, int b_exponent) {
  if (a_exponent == b_exponent) return a_exponent;
  if (a_exponent < b_exponent) return Align(b, b_exponent, a, a_exponent);
  int exponent = b_exponent;
  Wide scaled = 0;
  while (!ScaleUp(a, a_exponent - exponent, scaled)) ++exponent;
  a = scaled;
  b = ScaleDownAwayFromZero(b, exponent - b_exponent);
  return exponent;
}

}  // namespace

Quantity Quantity::FromMilli(int64_t milli, Format format) {
  Quantity quantity(milli, format);
  quantity.exponent_ = -3;
  return quantity;
}

StatusOr<Quantity> Quantity::Parse(std::string_view text) {
  const std::optional<Pieces> pieces = SplitText(text);
  if (!pieces) return Malformed();
  const std::optional<Unit> unit = ParseUnit(pieces->suffix);
  if (!unit) return BadSuffix();
  const bool binary = unit->format == Format::kBinarySi;
  if (!pieces->has_digits && (binary ? unit->exponent >= 50 : unit->exponent < kFinest)) {
    return BadNumber();
  }

  const std::optional<Number> number =
      binary ? ReadBinary(*pieces, unit->exponent)
             : ReadDecimal(*pieces, std::max(unit->exponent, -kCoarsest));
  if (!number) return BadNumber();
  Quantity quantity;
  quantity.mantissa_ = pieces->negative ? -number->mantissa : number->mantissa;
  quantity.exponent_ = static_cast<int16_t>(number->exponent);
  quantity.format_ = unit->format;
  if (binary && number->exponent < 0 && number->mantissa < kPowers[-kFinest]) {
    quantity.format_ = Format::kDecimalSi;
  }
  const bool may_differ = !pieces->plain || unit->format == Format::kDecimalExponent;
  if (may_differ && KeepsText(*pieces, *unit) && quantity.CanonicalText() != text) {
    quantity.text_ = std::make_unique<const std::string>(text);
  }
  return quantity;
}

Quantity& Quantity::operator=(const Quantity& other) {
  if (this == &other) return *this;
  mantissa_ = other.mantissa_;
  exponent_ = other.exponent_;
  format_ = other.format_;
  text_ = other.text_ ? std::make_unique<const std::string>(*other.text_) : nullptr;
  return *this;
}

int64_t Quantity::Scaled(int power_of_ten) const {
  const int up = exponent_ - power_of_ten;
  Wide scaled = mantissa_;
  if (up < 0) {
    scaled = ScaleDownAwayFromZero(mantissa_, -up);
  } else if (!ScaleUp(mantissa_, up, scaled)) {
    scaled = mantissa_ > 0 ? kMaxInt64 : kMinInt64;
  }
  return static_cast<int64_t>(std::clamp(scaled, kMinInt64, kMaxInt64));
}

double Quantity::ToDouble() const {
  return static_cast<double>(mantissa_) * std::pow(10.0, exponent_);
}

std::string Quantity::ToString() const { return text_ ? *text_ : CanonicalText(); }

std::string Quantity::CanonicalText() const {
  if (mantissa_ == 0) return "0";
  if (format_ == Format::kBinarySi) {
    if (std::string text = BinaryText(mantissa_, exponent_); !text.empty()) return text;
  }
  Wide digits = mantissa_;
  int exponent = exponent_;
  while (digits % 10 == 0) {
    digits /= 10;
    ++exponent;
  }
  const int remainder = ((exponent % 3) + 3) % 3;
  int unit = exponent - remainder;
  if (format_ != Format::kDecimalExponent) unit = std::min(unit, 18);
  std::string text = WideToString(digits);
  text.append(static_cast<size_t>(exponent - unit), '0');
  if (format_ != Format::kDecimalExponent) return text += SiSuffix(unit);
  return unit == 0 ? text : text + fmt::format("e{}", unit);
}

Quantity& Quantity::operator+=(const Quantity& other) {
  if (mantissa_ == 0) format_ = other.format_;
  text_.reset();
  Wide addend = other.mantissa_;
  int exponent = Align(mantissa_, exponent_, addend, other.exponent_);
  Wide sum = 0;
  while (__builtin_add_overflow(mantissa_, addend, &sum)) {
    mantissa_ = ScaleDownAwayFromZero(mantissa_, 1);
    addend = ScaleDownAwayFromZero(addend, 1);
    ++exponent;
  }
  mantissa_ = sum;
  exponent_ = static_cast<int16_t>(exponent);
  return *this;
}

Quantity& Quantity::operator-=(const Quantity& other) { return *this += -other; }

Quantity& Quantity::operator*=(int64_t factor) {
  text_.reset();
  Wide product = 0;
  while (__builtin_mul_overflow(mantissa_, Wide{factor}, &product)) {
    mantissa_ = ScaleDownAwayFromZero(mantissa_, 1);
    ++exponent_;
  }
  mantissa_ = product;
  return *this;
}

Quantity Quantity::operator-() const {
  Quantity negated = *this;
  negated.text_.reset();
  if (__builtin_sub_overflow(Wide{0}, mantissa_, &negated.mantissa_)) {
    negated.mantissa_ = -ScaleDownAwayFromZero(mantissa_, 1);
    ++negated.exponent_;
  }
  return negated;
}

std::strong_ordering operator<=>(const Quantity& a, const Quantity& b) {
  Wide left = a.mantissa_;
  Wide right = b.mantissa_;
  if (a.exponent_ > b.exponent_) {
    // If it does not fit, it is farther from zero than any number that does.
    if (!ScaleUp(left, a.exponent_ - b.exponent_, left)) return a.Sign() <=> 0;
  } else if (!ScaleUp(right, b.exponent_ - a.exponent_, right)) {
    return 0 <=> b.Sign();
  }
  return left < right   ? std::strong_ordering::less
         : left > right ? std::strong_ordering::greater
                        : std::strong_ordering::equal;
}

Status Codec<Quantity>::Read(JsonView in, Quantity& out) {
  std::string number;
  std::string_view text;
  if (in.is_string()) {
    text = Trim(in.get_string());
  } else if (in.is_number()) {
    number = in.is_double() ? fmt::format("{}", in.get_double()) : Serialize(in.Copy());
    text = number;
  } else {
    return codec_internal::WrongType("a quantity", in);
  }
  StatusOr<Quantity> parsed = Quantity::Parse(text);
  if (!parsed.ok()) return InvalidArgument(": {}", Message(parsed.status()));
  out = *std::move(parsed);
  return absl::OkStatus();
}

}  // namespace koord::kube
