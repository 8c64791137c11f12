#include "kube/client/watch_decoder.h"

#include "base/strings.h"
#include "kube/api_error.h"
#include "kube/watched_json.h"

namespace koord::kube {

Status WatchDecoder::Feed(std::string_view data, OnEvent on_event) {
  bool go_on = true;
  while (go_on) {
    const size_t end = data.find('\n');
    if (end == std::string_view::npos) break;
    const std::string_view line = data.substr(0, end);
    data.remove_prefix(end + 1);
    if (partial_.empty()) {
      RETURN_IF_ERROR(Line(line, on_event, go_on));
    } else {
      const std::string whole = std::exchange(partial_, {}).append(line);
      RETURN_IF_ERROR(Line(whole, on_event, go_on));
    }
  }
  if (!go_on) return absl::OkStatus();
  if (partial_.size() + data.size() > kMaxLine) {
    return Internal("the server sent a watch event of more than {} MiB", kMaxLine >> 20);
  }
  partial_ += data;
  return absl::OkStatus();
}

Status WatchDecoder::Line(std::string_view line, OnEvent on_event, bool& go_on) {
  if (Trim(line).empty()) return absl::OkStatus();
  WatchedJson frame(2 * line.size());  // what most objects take
  if (!frame.Parse(line).ok()) {
    return Internal("the server sent a watch event that is not JSON: {}", Quote(line, 128));
  }
  const std::optional<JsonView> object = Find(frame.view(), {"object"});
  const std::string_view type = FindString(frame.view(), {"type"});
  if (!object || type.empty()) {
    return Internal("the server sent a watch event without type or object: {}", Quote(line, 128));
  }
  if (type == "ERROR") return ToStatus(ApiError::FromJson(500, object->Copy()));
  go_on = on_event(type, *object);
  return absl::OkStatus();
}

}  // namespace koord::kube
