#include <algorithm>
#include <deque>
#include <memory>

#include "base/string_map.h"
#include "kube/schema/strict.h"

namespace koord::kube {
namespace {

// One pass over the text, which is known to be valid JSON: only quotes, brackets, braces, colons
// and commas mean anything.
class DuplicateFinder {
 public:
  explicit DuplicateFinder(std::string_view text) : text_(text) {}

  ReportedFields Run() {
    for (at_ = 0; at_ < text_.size(); ++at_) {
      switch (text_[at_]) {
        case '{':
        case '[':
          Open(text_[at_] == '{');
          break;
        case '}':
        case ']':
          Close();
          break;
        case ',':
          Next();
          break;
        case '"':
          String();
          break;
        default:
          break;
      }
    }
    return std::move(duplicates_);
  }

 private:
  // Objects are small; larger ones get a hash set.
  static constexpr size_t kFewKeys = 16;

  struct Level {
    bool is_object;
    bool expects_key;
    size_t first_key;  // in keys_
    size_t index = 0;  // of the current item of a list
    std::unique_ptr<StringSet> many_keys = nullptr;
    std::unique_ptr<StringSet> reported = nullptr;  // keys that occurred twice
  };

  void Open(bool is_object) { levels_.push_back({is_object, is_object, keys_.size()}); }

  void Close() {
    if (levels_.empty()) return;
    keys_.resize(levels_.back().first_key);
    levels_.pop_back();
  }

  void Next() {
    if (levels_.empty()) return;
    levels_.back().expects_key = levels_.back().is_object;
    ++levels_.back().index;
  }

  void String() {
    const size_t start = at_ + 1;
    bool escaped = false;
    for (at_ = start; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') {
        escaped = true;
        ++at_;
      }
    }
    if (levels_.empty() || !levels_.back().expects_key) return;
    levels_.back().expects_key = false;
    const size_t end = std::min(at_, text_.size());
    Key(escaped ? Unescaped(start, end) : text_.substr(start, end - start));
  }

  std::string_view Unescaped(size_t start, size_t end) {
    const StatusOr<Json> key = ParseJson(text_.substr(start - 1, end - start + 2));
    if (!key.ok() || !key->is_string()) return {};
    return unescaped_.emplace_back(key->get_string());
  }

  void Key(std::string_view key) {
    Level& level = levels_.back();
    const bool seen = level.many_keys ? level.many_keys->contains(key) : InKeys(level, key);
    if (seen) return Repeated(level, key);
    keys_.push_back(key);
    if (level.many_keys) {
      level.many_keys->emplace(key);
    } else if (keys_.size() - level.first_key > kFewKeys) {
      level.many_keys = std::make_unique<StringSet>(
          keys_.begin() + static_cast<ptrdiff_t>(level.first_key), keys_.end());
    }
  }

  bool InKeys(const Level& level, std::string_view key) const {
    return std::find(keys_.begin() + static_cast<ptrdiff_t>(level.first_key), keys_.end(), key) !=
           keys_.end();
  }

  // A member that occurs three times is reported once.
  void Repeated(Level& level, std::string_view key) {
    // What comes below it stands under its name.
    keys_.push_back(key);
    if (!level.reported) level.reported = std::make_unique<StringSet>();
    if (!level.reported->emplace(key).second) return;
    const std::string path = duplicates_.full() ? std::string() : PathOf(key);
    // Two objects of one name may have the same member twice each.
    if (std::find(duplicates_.begin(), duplicates_.end(), path) == duplicates_.end()) {
      duplicates_.Add(path);
    }
  }

  std::string PathOf(std::string_view key) const {
    std::string path;
    for (size_t i = 0; i < levels_.size(); ++i) {
      if (!levels_[i].is_object) {
        path += fmt::format("[{}]", levels_[i].index);
        continue;
      }
      // The member that is being read is the last one seen on its level.
      const bool innermost = i + 1 == levels_.size();
      const size_t seen = innermost ? 0 : levels_[i + 1].first_key;
      if (!path.empty()) path += '.';
      if (innermost) path += key;
      if (seen > levels_[i].first_key) path += keys_[seen - 1];
    }
    return path;
  }

  std::string_view text_;
  size_t at_ = 0;
  std::vector<Level> levels_;
  std::vector<std::string_view> keys_;  // of all open objects, one after the other
  std::deque<std::string> unescaped_;
  ReportedFields duplicates_;
};

}  // namespace

ReportedFields FindDuplicateFields(std::string_view text) { return DuplicateFinder(text).Run(); }

}  // namespace koord::kube
