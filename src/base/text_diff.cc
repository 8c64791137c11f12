#include "base/text_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/strings.h"

namespace koord {
namespace {

constexpr std::string_view kRed = "\x1b[31m", kGreen = "\x1b[32m", kCyan = "\x1b[36m",
                           kPlain = "\x1b[0m";

std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> lines = Split(text, '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

struct Edit {
  char sign;  // ' ', '-' or '+'
  std::string_view line;
};

// The length of the longest common subsequence of what follows each pair of lines.
class CommonLengths {
 public:
  CommonLengths(const std::vector<std::string_view>& a, const std::vector<std::string_view>& b)
      : width_(b.size() + 1), lengths_((a.size() + 1) * width_, 0) {
    for (size_t i = a.size(); i-- > 0;) {
      for (size_t j = b.size(); j-- > 0;) {
        lengths_[i * width_ + j] =
            a[i] == b[j] ? At(i + 1, j + 1) + 1 : std::max(At(i + 1, j), At(i, j + 1));
      }
    }
  }
  uint32_t At(size_t i, size_t j) const { return lengths_[i * width_ + j]; }

 private:
  size_t width_;
  std::vector<uint32_t> lengths_;
};

std::vector<Edit> EditsOf(const std::vector<std::string_view>& a,
                          const std::vector<std::string_view>& b) {
  const CommonLengths common(a, b);
  std::vector<Edit> edits;
  size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      edits.push_back({' ', a[i]});
      ++i;
      ++j;
    } else if (j == b.size() || (i < a.size() && common.At(i + 1, j) >= common.At(i, j + 1))) {
      edits.push_back({'-', a[i++]});
    } else {
      edits.push_back({'+', b[j++]});
    }
  }
  return edits;
}

// A run of edits with the lines at which it starts, counted from 0.
struct Hunk {
  size_t begin, end;
};

std::vector<Hunk> HunksOf(const std::vector<Edit>& edits, size_t context) {
  std::vector<Hunk> hunks;
  for (size_t i = 0; i < edits.size(); ++i) {
    if (edits[i].sign == ' ') continue;
    const size_t begin = i > context ? i - context : 0;
    const size_t end = std::min(edits.size(), i + context + 1);
    if (!hunks.empty() && begin <= hunks.back().end) {
      hunks.back().end = end;
    } else {
      hunks.push_back({begin, end});
    }
  }
  return hunks;
}

std::string Painted(std::string text, std::string_view color, bool wanted) {
  return wanted ? fmt::format("{}{}{}\n", color, text, kPlain) : text + "\n";
}

std::string HunkText(const std::vector<Edit>& edits, const Hunk& hunk, bool color) {
  const auto count = [&](size_t begin, size_t end, char but) {
    return std::count_if(edits.begin() + static_cast<ptrdiff_t>(begin),
                         edits.begin() + static_cast<ptrdiff_t>(end),
                         [&](const Edit& edit) { return edit.sign != but; });
  };
  const auto range = [&](char but) {
    const auto before = count(0, hunk.begin, but);
    const auto inside = count(hunk.begin, hunk.end, but);
    return fmt::format("{},{}", inside > 0 ? before + 1 : before, inside);
  };
  std::string text = Painted(fmt::format("@@ -{} +{} @@", range('+'), range('-')), kCyan, color);
  for (size_t i = hunk.begin; i < hunk.end; ++i) {
    const std::string_view paint = edits[i].sign == '-' ? kRed : kGreen;
    text += Painted(fmt::format("{}{}", edits[i].sign, edits[i].line), paint,
                    color && edits[i].sign != ' ');
  }
  return text;
}

}  // namespace

std::string UnifiedDiff(std::string_view from, std::string_view to, const DiffOptions& options) {
  if (from == to) return {};
  const std::vector<Edit> edits = EditsOf(LinesOf(from), LinesOf(to));
  std::string text = fmt::format("--- {}\n+++ {}\n", options.from_name, options.to_name);
  for (const Hunk& hunk : HunksOf(edits, options.context)) {
    text += HunkText(edits, hunk, options.color);
  }
  return text;
}

}  // namespace koord
