#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "kube/json.h"

// koordlet's view of a pod. Authors may write a megabyte of environment, volumes and annotations
// into each, and koordlet runs in little memory: what it does not use never gets into it.
namespace koord::koordlet {

// Whether koordlet reads this annotation of a pod. A key that it begins to read must be added to
// the table in pod_filter.cc.
bool IsUsedAnnotation(std::string_view key);

struct PodBudget {
  static constexpr size_t kAnnotation = 16 << 10;   // bytes of one
  static constexpr size_t kAnnotations = 64 << 10;  // of all of a pod
  static constexpr size_t kText = 512;              // of any other text
  static constexpr size_t kElements = 64;           // of a list: containers, volumes, statuses
  // Of each of metadata, spec and status: a large spec must not hide the status. What the API
  // server lets pass stays below it.
  static constexpr size_t kSection = 512 << 10;
};

// Makes a small document of a large one that is told piece by piece, so that the large one is never
// in memory. What has the wrong type stays wrong: it is the decoder's to refuse.
class PodFilter {
 public:
  // For the next pod.
  void Reset();

  void BeginObject() { Begin(kube::json::object()); }
  void BeginArray() { Begin(kube::json::array()); }
  void End();  // of either
  // A key or a text may come in several parts.
  void Key(std::string_view part, bool is_last);
  void Text(std::string_view part, bool is_last);
  void Scalar(kube::Json value);  // a number, true, false, null
  // A whole document that somebody else has parsed.
  void Tell(kube::JsonView value);

  bool is_complete() const { return is_complete_; }
  // Once it is complete.
  kube::Json& document() { return document_; }
  // Used fields that were too large, or too many, by name.
  const std::vector<std::string>& left_out() const { return left_out_; }
  // What is held at the moment, about.
  size_t bytes() const { return kept_ + text_.capacity() + key_.capacity(); }

  struct Shape;  // what is used of a value

 private:
  struct Level {
    const Shape* shape;
    kube::Json value;
    std::string key;            // under which it is in the one above
    const Shape* next = {};     // of the member whose key has come; null: not used
    std::string next_key = {};  // of an object
  };

  void Begin(kube::Json container);
  // Of the value that comes; null: it is not used, or one too many.
  const Shape* NextShape();
  void Put(kube::Json value, size_t bytes);
  void LeaveOut();

  std::vector<Level> open_;
  int skipped_ = 0;  // levels below one that is not used
  std::string key_;
  std::string text_;
  bool is_too_long_ = false;  // the text that comes
  size_t kept_ = 0;           // bytes, of which in
  size_t section_ = 0;        // what comes of metadata, spec and status, and in
  size_t annotations_ = 0;    // these
  bool is_complete_ = false;
  kube::Json document_;
  std::vector<std::string> left_out_;
};

// The same of a whole document.
kube::Json Filtered(kube::JsonView pod);

}  // namespace koord::koordlet
