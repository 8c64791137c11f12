#include "kube/watched_json.h"

#include <array>
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>
#include <cmath>
#include <vector>

namespace koord::kube {
namespace {

using json::error_code;
using Piece = json::string_view;

// What a parser tells of a document becomes a value, piece by piece; what is left out is only
// counted, to know where it ends.
class Builder {
 public:
  static constexpr size_t max_object_size = json::object::max_size();
  static constexpr size_t max_array_size = json::array::max_size();
  static constexpr size_t max_key_size = json::string::max_size();
  static constexpr size_t max_string_size = json::string::max_size();

  Builder(json::storage_ptr memory, unsigned char* scratch, size_t scratch_size)
      : values_(json::storage_ptr(), scratch, scratch_size) {
    values_.reset(std::move(memory));
  }
  Json Take() { return values_.release(); }

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_object_begin(error_code&) {
    if (left_out_ > 0) return ++left_out_;
    levels_.push_back({.is_metadata = next_is_metadata_});
    next_is_metadata_ = false;
    return true;
  }
  bool on_object_end(size_t members, error_code&) {
    if (left_out_ > 0) return LeaveNested();
    values_.push_object(members - levels_.back().members_left_out);
    levels_.pop_back();
    return true;
  }
  bool on_array_begin(error_code&) {
    if (left_out_ > 0) return ++left_out_;
    levels_.push_back({});
    next_is_metadata_ = false;
    return true;
  }
  bool on_array_end(size_t items, error_code&) {
    if (left_out_ > 0) return LeaveNested();
    values_.push_array(items);
    levels_.pop_back();
    return true;
  }
  bool on_key_part(Piece part, size_t, error_code&) {
    key_in_parts_ = true;
    if (left_out_ == 0) values_.push_chars(part);
    return true;
  }
  bool on_key(Piece last_part, size_t, error_code&) {
    const bool whole = !std::exchange(key_in_parts_, false);
    if (left_out_ > 0) return true;
    if (whole && levels_.back().is_metadata && last_part == "managedFields") {
      ++levels_.back().members_left_out;
      left_out_ = 1;
      return true;
    }
    next_is_metadata_ = whole && last_part == "metadata";
    values_.push_key(last_part);
    return true;
  }
  bool on_string_part(Piece part, size_t, error_code&) {
    if (left_out_ == 0) values_.push_chars(part);
    return true;
  }
  bool on_string(Piece last_part, size_t, error_code&) {
    return Scalar([&] { values_.push_string(last_part); });
  }
  bool on_number_part(Piece, error_code&) { return true; }
  bool on_int64(int64_t number, Piece, error_code&) {
    return Scalar([&] { values_.push_int64(number); });
  }
  bool on_uint64(uint64_t number, Piece, error_code&) {
    return Scalar([&] { values_.push_uint64(number); });
  }
  bool on_double(double number, Piece, error_code& error) {
    if (std::isinf(number)) error = json::error::not_number;
    return std::isfinite(number) && Scalar([&] { values_.push_double(number); });
  }
  bool on_bool(bool value, error_code&) {
    return Scalar([&] { values_.push_bool(value); });
  }
  bool on_null(error_code&) {
    return Scalar([&] { values_.push_null(); });
  }
  bool on_comment_part(Piece, error_code&) { return true; }
  bool on_comment(Piece, error_code&) { return true; }

 private:
  struct Level {
    bool is_metadata = false;
    uint32_t members_left_out = 0;
  };

  template <class Push>
  bool Scalar(Push push) {
    if (left_out_ == 0) {
      push();
    } else if (left_out_ == 1) {
      left_out_ = 0;  // it was the whole of what is left out
    }
    next_is_metadata_ = false;
    return true;
  }

  // The value that is left out counts as one level, and is over when only that remains.
  bool LeaveNested() {
    if (--left_out_ == 1) left_out_ = 0;
    return true;
  }

  json::value_stack values_;
  std::vector<Level> levels_;
  bool next_is_metadata_ = false;  // the value that comes next
  bool key_in_parts_ = false;
  int left_out_ = 0;  // levels of what is left out that are open
};

}  // namespace

Status WatchedJson::Parse(std::string_view text) {
  constexpr size_t kScratch = 16 << 10;
  std::array<unsigned char, kScratch> scratch;
  json::parse_options options;
  options.max_depth = kMaxJsonDepth;
  json::basic_parser<Builder> parser(options, &memory_, scratch.data(), scratch.size());
  error_code error;
  const size_t read = parser.write_some(false, text.data(), text.size(), error);
  if (!error && read < text.size()) error = json::error::extra_data;
  if (error) return InvalidArgument("invalid JSON: {}", error.message());
  value_ = parser.handler().Take();
  return absl::OkStatus();
}

}  // namespace koord::kube
