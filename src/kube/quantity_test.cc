#include "kube/quantity.h"

#include <gtest/gtest.h>

#include <limits>

namespace koord::kube::quantity_test {
namespace {

using Format = Quantity::Format;

Quantity Q(std::string_view text) {
  StatusOr<Quantity> parsed = Quantity::Parse(text);
  EXPECT_TRUE(parsed.ok()) << text << ": " << parsed.status();
  return parsed.ok() ? *parsed : Quantity();
}

struct PrintCase {
  const char* input;
  const char* output;
};

TEST(Quantity, PrintsCanonically) {
  const PrintCase cases[] = {
      {"0", "0"},
      {"0Ki", "0"},
      {"-0", "0"},
      {"1.5", "1500m"},
      {"0.5", "500m"},
      {".5", "500m"},
      {"1000M", "1G"},
      {"1024Mi", "1Gi"},
      {"1.5Gi", "1536Mi"},
      {"0.5Mi", "512Ki"},
      {".001Ki", "1024m"},
      {"100.035Ki", "102435840m"},
      {"100m", "100m"},
      {"1000m", "1"},
      {"1000", "1k"},
      {"1100", "1100"},
      {"110", "110"},
      {"4", "4"},
      {"1Gi", "1Gi"},
      {"8Gi", "8Gi"},
      {"128Gi", "128Gi"},
      {"1e3", "1e3"},
      {"1e4", "10e3"},
      {"1e0", "1e0"},
      {"10e-1", "1"},
      {"1e-10", "1e-9"},
      {"12E", "12E"},
      {"1000E", "1000E"},
      {"1500000E", "1500000E"},
      {"-1.5", "-1500m"},
      {"-5", "-5"},
      {"100n", "100n"},
      {"1000n", "1u"},
      {"1024Ki", "1Mi"},
      {"1024", "1024"},
      {"0.0000000001", "1n"},
      {"-0.0000000001", "-1n"},
      {"1.0000000001", "1000000001n"},
      {"1.0000000000000000000000000000000000000000000000000001", "1000000001n"},
      {"1e-100", "1e-9"},
      {"9Ei", "9223372036854775807"},
      {"100000000000000000000Ki", "9223372036854775807"},
      {"-9Ei", "-9223372036854775807"},
      {"7.5Ei", "7680Pi"},
      {"0.0001Ki", "102400u"},
  };
  for (const PrintCase& c : cases) EXPECT_EQ(Q(c.input).ToString(), c.output) << c.input;
}

TEST(Quantity, KeepsTheTextOfOddSpellingsThatPassTheCheapTest) {
  for (const char* text :
       {"1.500", "1.", "1.G", "+5", "00100m", "1E-3", "+5Gi", "5e0", "1.234k", "012", "1e+3"}) {
    EXPECT_EQ(Q(text).ToString(), text);
  }
  const PrintCase cases[] = {
      {"+5Pi", "5Pi"},
      {"+8Gi", "8Gi"},
      {"05Ti", "05Ti"},
      {"0100Ti", "100Ti"},  // three digits are too many for Ti
      {"1.000", "1"},       // ends with 000
      {"1.50", "1500m"},    // two fraction digits are no power of a thousand
      {"0.500", "500m"},    // starts with 0
      {"+0.5Gi", "512Mi"},  // binary with a fraction
      {"+1234567890123456789", "1234567890123456789"},  // nineteen digits
  };
  for (const PrintCase& c : cases) EXPECT_EQ(Q(c.input).ToString(), c.output) << c.input;
}

// Beyond a thousand places nothing is taken, whichever way it is spelt: else what is taken in one
// spelling would be refused as it is printed.
TEST(Quantity, HasALimitThatDoesNotDependOnTheSpelling) {
  for (const char* text : {"448500E994", "4485E996", "4.485E999"}) {
    EXPECT_EQ(Q(Q(text).ToString()), Q("4485E996")) << text;
  }
  for (const char* text : {"448500E995", "4485E997", "4.485E1000", "448500E1000"}) {
    EXPECT_FALSE(Quantity::Parse(text).ok()) << text;
  }
  EXPECT_TRUE(Q("0E5000").IsZero());
}

TEST(Quantity, ArithmeticDropsTheText) {
  EXPECT_EQ((Q("1.500") + Q("0")).ToString(), "1500m");
  Quantity copy = Q("+5");
  const Quantity kept = copy;
  copy *= 1;
  EXPECT_EQ(copy.ToString(), "5");
  EXPECT_EQ(kept.ToString(), "+5");
}

TEST(Quantity, RemembersItsFormat) {
  EXPECT_EQ(Q("1").format(), Format::kDecimalSi);
  EXPECT_EQ(Q("1m").format(), Format::kDecimalSi);
  EXPECT_EQ(Q("1E").format(), Format::kDecimalSi);
  EXPECT_EQ(Q("1Ki").format(), Format::kBinarySi);
  EXPECT_EQ(Q("0Ki").format(), Format::kBinarySi);
  EXPECT_EQ(Q("1E3").format(), Format::kDecimalExponent);
  EXPECT_EQ(Q("0.0005Ki").format(), Format::kDecimalSi);  // less than one
  EXPECT_EQ(Q("1.0005Ki").format(), Format::kBinarySi);
}

TEST(Quantity, MissingNumbersAreZero) {
  for (const char* text : {".", "+", "-", "m", "Gi", "Ti", "e3", "e-9"}) {
    EXPECT_TRUE(Q(text).IsZero()) << text;
  }
}

struct ErrorCase {
  const char* input;
  const char* error;
};

TEST(Quantity, RefusesWhatIsNoQuantity) {
  constexpr char kForm[] =
      "quantities must match the regular expression "
      "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  constexpr char kNumber[] = "unable to parse numeric part of quantity";
  constexpr char kSuffix[] = "unable to parse quantity's suffix";
  const ErrorCase cases[] = {
      {"", kForm},         {" 1", kForm},
      {"1 ", kForm},       {"1.2.3", kForm},
      {"1,5", kForm},      {"abc", kForm},
      {"1Gib", kForm},     {"0x10", kForm},
      {"\xc2\xb5", kForm}, {"Pi", kNumber},
      {"Ei", kNumber},     {".Pi", kNumber},
      {"e-10", kNumber},   {"1K", kSuffix},
      {"1mi", kSuffix},    {"1ki", kSuffix},
      {"1e", kSuffix},     {"1MiMi", kSuffix},
      {"1-5", kSuffix},    {"1ee3", kSuffix},
      {"1i", kSuffix},     {"1e99999999999", kSuffix},
      {"1e5000", kNumber}, {"12345678901234567890123456789012345678901", kNumber},
  };
  for (const ErrorCase& c : cases) {
    const StatusOr<Quantity> parsed = Quantity::Parse(c.input);
    ASSERT_FALSE(parsed.ok()) << c.input;
    EXPECT_EQ(Message(parsed.status()), c.error) << c.input;
  }
}

struct ViewCase {
  const char* input;
  int64_t value;
  int64_t milli;
};

TEST(Quantity, IntegerViewsRoundAwayFromZero) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  const ViewCase cases[] = {
      {"0", 0, 0},           {"1", 1, 1000},         {"100m", 1, 100},
      {"1n", 1, 1},          {"0.1m", 1, 1},         {"1001m", 2, 1001},
      {"-9.01", -10, -9010}, {"1Ki", 1024, 1024000}, {"9Pi", 10133099161583616, kMax},
      {"12E", kMax, kMax},   {"-12E", kMin, kMin},   {"1e900", kMax, kMax},
      {"1e-900", 1, 1},
  };
  for (const ViewCase& c : cases) {
    EXPECT_EQ(Q(c.input).Value(), c.value) << c.input;
    EXPECT_EQ(Q(c.input).MilliValue(), c.milli) << c.input;
  }
  EXPECT_EQ(Quantity::FromMilli(1500).ToString(), "1500m");
  EXPECT_EQ(Quantity::FromMilli(2000).ToString(), "2");
  EXPECT_EQ(Quantity(2048, Format::kBinarySi).ToString(), "2Ki");
  EXPECT_EQ(Quantity(1025, Format::kBinarySi).ToString(), "1025");
  EXPECT_DOUBLE_EQ(Q("1500m").ToDouble(), 1.5);
}

TEST(Quantity, ComparesByValue) {
  EXPECT_EQ(Q("1000m"), Q("1"));
  EXPECT_EQ(Q("1Gi"), Q("1073741824"));
  EXPECT_EQ(Q("0Ki"), Q("-0.0"));
  EXPECT_LT(Q("999m"), Q("1"));
  EXPECT_GT(Q("1Gi"), Q("1G"));
  EXPECT_LT(Q("-1"), Q("1n"));
  EXPECT_GT(Q("1e900"), Q("1n"));
  EXPECT_LT(Q("-1e900"), Q("1n"));
  EXPECT_GT(Q("1n"), Q("-1e900"));
  EXPECT_LT(Q("1n"), Q("1e900"));
  EXPECT_EQ(Q("0e900"), Q("0n"));
}

TEST(Quantity, AddsSubtractsAndMultipliesExactly) {
  EXPECT_EQ((Q("100m") + Q("900m")).ToString(), "1");
  EXPECT_EQ((Q("1") - Q("1n")).ToString(), "999999999n");
  EXPECT_EQ((Q("1Gi") + Q("1")).ToString(), "1073741825");
  EXPECT_EQ((Q("1Gi") + Q("1Gi")).ToString(), "2Gi");
  EXPECT_EQ((Q("100m") * 15).ToString(), "1500m");
  EXPECT_EQ((Q("12E") + Q("12E")).ToString(), "24E");
  EXPECT_EQ((Q("12E") + Q("1n")).ToString(), "12000000000000000000000000001n");
  EXPECT_EQ((-Q("1Gi")).ToString(), "-1Gi");
}

TEST(Quantity, TheLeftSideKeepsItsFormatUnlessItIsZero) {
  EXPECT_EQ((Q("0") + Q("1Gi")).ToString(), "1Gi");
  EXPECT_EQ((Q("0") - Q("1Gi")).ToString(), "-1Gi");
  EXPECT_EQ((Q("1Ki") + Q("1024")).ToString(), "2Ki");
  EXPECT_EQ((Q("1024") + Q("1Ki")).ToString(), "2048");
}

TEST(Quantity, HugeSumsStayHuge) {
  Quantity sum = Q("1e900") + Q("1");
  EXPECT_GE(sum, Q("1e900"));
  EXPECT_EQ(sum.Value(), std::numeric_limits<int64_t>::max());
  Quantity product = Q("170141183460469231731687303715884105727");
  for (int i = 0; i < 10; ++i) product *= std::numeric_limits<int64_t>::max();
  EXPECT_GT(product, Q("1e200"));
  EXPECT_LT(-product, Q("-1e200"));
}

TEST(Quantity, ReadsStringsAndNumbersFromJson) {
  const PrintCase cases[] = {
      {R"("1")", "1"},
      {R"(" 0.5\n")", "500m"},
      {"2", "2"},
      {"0.5", "500m"},
      {"18446744073709551615", "18446744073709551615"},
      {"1500", "1500"},
      {"1.5", "1500m"},
  };
  for (const PrintCase& c : cases) {
    const StatusOr<Quantity> read = Decode<Quantity>(*ParseJson(c.input));
    ASSERT_TRUE(read.ok()) << c.input << read.status();
    EXPECT_EQ(Encode(*read), Json(c.output)) << c.input;
  }
  EXPECT_EQ(Message(Decode<Quantity>(Json(true)).status()),
            ": expected a quantity, found a boolean");
  EXPECT_EQ(Message(Decode<Quantity>(Json("1K")).status()), ": unable to parse quantity's suffix");
}

}  // namespace
}  // namespace koord::kube::quantity_test
