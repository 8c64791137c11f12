#include "koordlet/informers/pod_list.h"

#include <fmt/format.h>

#include <boost/json/basic_parser_impl.hpp>
#include <utility>

#include "base/log.h"
#include "base/strings.h"
#include "kube/codec.h"
#include "kube/json.h"

namespace koord::koordlet {
namespace {

using kube::json::error_code;

std::string NameOf(const kube::Json& item) {
  return fmt::format("{}/{}", kube::FindString(item, {"metadata", "namespace"}),
                     kube::FindString(item, {"metadata", "name"}));
}

}  // namespace

// What the parser tells of. Outside of "items" nothing is of interest.
class PodListDecoder::Handler {
 public:
  static constexpr size_t max_object_size = size_t(-1);
  static constexpr size_t max_array_size = size_t(-1);
  static constexpr size_t max_key_size = size_t(-1);
  static constexpr size_t max_string_size = size_t(-1);

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_object_begin(error_code& error) {
    return OnBegin(false, error, [this] { pod_.BeginObject(); });
  }
  bool on_array_begin(error_code& error) {
    return OnBegin(true, error, [this] { pod_.BeginArray(); });
  }
  bool on_object_end(size_t, error_code&) { return OnEnd(); }
  bool on_array_end(size_t, error_code&) { return OnEnd(); }
  bool on_key_part(kube::json::string_view part, size_t, error_code&) { return OnKey(part, false); }
  bool on_key(kube::json::string_view part, size_t, error_code&) { return OnKey(part, true); }
  bool on_string_part(kube::json::string_view part, size_t, error_code&) {
    if (pod_depth_ > 0) pod_.Text(part, false);
    Measure();
    return true;
  }
  bool on_string(kube::json::string_view part, size_t, error_code& error) {
    if (pod_depth_ == 0) return OnScalar(nullptr, error, false);
    pod_.Text(part, true);
    Measure();
    return true;
  }
  bool on_number_part(kube::json::string_view, error_code&) { return true; }
  bool on_int64(int64_t value, kube::json::string_view, error_code& error) {
    return OnScalar(value, error, false);
  }
  bool on_uint64(uint64_t value, kube::json::string_view, error_code& error) {
    return OnScalar(value, error, false);
  }
  bool on_double(double value, kube::json::string_view, error_code& error) {
    return OnScalar(value, error, false);
  }
  bool on_bool(bool value, error_code& error) { return OnScalar(value, error, false); }
  bool on_null(error_code& error) { return OnScalar(nullptr, error, true); }
  bool on_comment_part(kube::json::string_view, error_code&) { return true; }
  bool on_comment(kube::json::string_view, error_code&) { return true; }

  const OnPod* on_pod = nullptr;  // while something is fed
  bool has_items = false;
  size_t peak_bytes = 0;

 private:
  bool IsItems() const { return depth_ == 1 && key_ == "items"; }
  bool IsElement() const { return depth_ == 2 && in_items_; }

  bool Refuse(error_code& error) {
    error = make_error_code(boost::system::errc::invalid_argument);
    return false;
  }

  template <class BeginInPod>
  bool OnBegin(bool is_array, error_code& error, BeginInPod begin) {
    if (pod_depth_ > 0 || IsElement()) {
      if (pod_depth_++ == 0) pod_.Reset();
      begin();
      return true;
    }
    if (depth_ == 0 ? is_array : (IsItems() && !is_array)) return Refuse(error);
    if (IsItems()) in_items_ = has_items = true;
    ++depth_;
    return true;
  }

  bool OnEnd() {
    if (pod_depth_ > 0) {
      pod_.End();
      Measure();
      if (--pod_depth_ == 0) (*on_pod)(pod_);
      return true;
    }
    if (--depth_ == 1) in_items_ = false;
    return true;
  }

  bool OnKey(std::string_view part, bool is_last) {
    if (pod_depth_ > 0) {
      pod_.Key(part, is_last);
    } else if (depth_ == 1) {
      if (std::exchange(is_new_key_, is_last)) key_.clear();
      if (key_.size() < 16) key_ += part.substr(0, 16);
    }
    return true;
  }

  // Of a text in the list itself only that it is one counts.
  bool OnScalar(kube::Json value, error_code& error, bool is_null) {
    if (pod_depth_ > 0) {
      pod_.Scalar(std::move(value));
    } else if (IsElement()) {
      pod_.Reset();
      pod_.Scalar(std::move(value));
      (*on_pod)(pod_);
    } else if (depth_ == 0 || (IsItems() && !is_null)) {
      return Refuse(error);
    } else if (IsItems()) {
      has_items = true;
    }
    return true;
  }

  void Measure() { peak_bytes = std::max(peak_bytes, pod_.bytes()); }

  int depth_ = 0;      // of the list itself
  int pod_depth_ = 0;  // of the element that comes
  bool in_items_ = false;
  bool is_new_key_ = true;
  std::string key_;  // of the list's member
  PodFilter pod_;
};

struct PodListDecoder::Parser {
  static kube::json::parse_options Options() {
    kube::json::parse_options options;
    options.max_depth = kube::kMaxJsonDepth;
    return options;
  }

  kube::json::basic_parser<Handler> parser{Options()};

  Status Write(bool more, std::string_view piece, OnPod on_pod) {
    Handler& handler = parser.handler();
    handler.on_pod = &on_pod;
    error_code error;
    const size_t read = parser.write_some(more, piece.data(), piece.size(), error);
    handler.on_pod = nullptr;
    if (error == boost::system::errc::invalid_argument) {
      return InvalidArgument("items: expected a list of pods");
    }
    if (error) return InvalidArgument("not JSON: {}", error.message());
    if (read < piece.size() && !Trim(piece.substr(read)).empty()) {
      return InvalidArgument("not JSON: something follows the list");
    }
    return absl::OkStatus();
  }
};

PodListDecoder::PodListDecoder() : parser_(std::make_unique<Parser>()) {}
PodListDecoder::~PodListDecoder() = default;

Status PodListDecoder::Feed(std::string_view piece, OnPod on_pod) {
  return parser_->Write(true, piece, on_pod);
}

Status PodListDecoder::Finish(OnPod on_pod) {
  RETURN_IF_ERROR(parser_->Write(false, "", on_pod));
  if (!parser_->parser.handler().has_items) {
    return InvalidArgument("items: expected a list of pods");
  }
  return absl::OkStatus();
}

size_t PodListDecoder::peak_bytes() const { return parser_->parser.handler().peak_bytes; }

PodListReader::PodListReader(metrics::Registry* registry) {
  if (registry == nullptr) return;
  refused_ =
      &registry->AddCounters("koordlet_pod_annotation_refused_total",
                             "Wishes of pods that were refused or cut down, by key.", {"key"});
}

void PodListReader::Begin() {
  if (decoder_ == nullptr) std::swap(before_, entries_);
  decoder_ = std::make_unique<PodListDecoder>();
  entries_.clear();
  list_ = {};
}

Status PodListReader::Feed(std::string_view piece) {
  return decoder_->Feed(piece, [this](PodFilter& filter) { OnPod(filter); });
}

StatusOr<PodList> PodListReader::Finish() {
  const auto on_pod = [this](PodFilter& filter) { OnPod(filter); };
  RETURN_IF_ERROR(decoder_->Finish(on_pod));
  decoder_.reset();
  before_.clear();
  return std::exchange(list_, {});
}

StatusOr<PodList> PodListReader::Read(std::string_view text) {
  Begin();
  RETURN_IF_ERROR(Feed(text));
  return Finish();
}

void PodListReader::OnPod(PodFilter& filter) {
  const kube::Json& item = filter.document();
  ++list_.listed;
  const std::string_view phase = kube::FindString(item, {"status", "phase"});
  if (phase == "Succeeded" || phase == "Failed") return;
  if (list_.pods.size() >= kMaxPods) {
    if (known_problems_.IsNew({.object = "kubelet", .kind = "pods"}, "")) {
      LOG_ERROR("The kubelet tells of more pods than are looked at", {"limit", kMaxPods});
    }
    return;
  }
  ReportLeftOut(item, filter.left_out());
  if (auto pod = ReadOne(item)) list_.pods.push_back(std::move(pod));
}

std::shared_ptr<const kube::Pod> PodListReader::ReadOne(const kube::Json& item) {
  const std::string uid(kube::FindString(item, {"metadata", "uid"}));
  if (entries_.contains(uid)) return nullptr;  // no two pods have the same: the first counts
  const size_t hash = std::hash<kube::Json>{}(item);
  const auto before = before_.find(uid);
  if (before != before_.end() && before->second.hash == hash) {
    return entries_.emplace(uid, before->second).first->second.pod;
  }
  StatusOr<kube::Pod> pod = kube::Decode<kube::Pod>(item);
  if (pod.ok()) {
    auto shared = std::make_shared<const kube::Pod>(*std::move(pod));
    entries_[uid] = {hash, shared};
    return shared;
  }
  const std::string name = NameOf(item);
  if (known_problems_.IsNew({.object = name, .kind = "decode"}, Message(pod.status()))) {
    LOG_ERROR("The kubelet tells of a pod that cannot be read", {"pod", name},
              {"err", pod.status()});
  }
  if (before == before_.end()) return nullptr;
  return entries_.emplace(uid, before->second).first->second.pod;
}

void PodListReader::ReportLeftOut(const kube::Json& item, const std::vector<std::string>& fields) {
  if (fields.empty()) return;
  const std::string name = NameOf(item);
  for (const std::string& field : fields) {
    if (!known_problems_.IsNew({.object = name, .kind = field}, "left out")) continue;
    LOG_WARNING("A pod has more of something than is looked at", {"pod", name}, {"field", field});
    if (refused_ != nullptr) refused_->With({field}).Increment();
  }
}

}  // namespace koord::koordlet
