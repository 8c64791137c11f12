// Puts load on an API server, and says how it bore it: the same request many times over, on a
// number of connections, while watchers wait for what comes of it.
//
//   kube_load --kubeconfig F --count 10000 POST /api/v1/namespaces/default/pods pod.json
//
// In the path and in the body, {i} stands for the number of the request and {m} for that number
// modulo --modulo. Prints one JSON object.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <iterator>

#include "base/asio_loop.h"
#include "base/strings.h"
#include "kube/json.h"
#include "kube/transport/http_transport.h"
#include "kube/transport/kubeconfig.h"

namespace koord::kube {
namespace {

struct Options {
  std::string kubeconfig, method, path, body_file, watch_path;
  int connections = 32;
  int count = 1;
  int first = 0;
  int modulo = 1;
  int watchers = 0;
  int deadline_seconds = 600;
};

std::string Replaced(std::string text, std::string_view placeholder, const std::string& value) {
  for (size_t at = 0; (at = text.find(placeholder, at)) != std::string::npos; at += value.size()) {
    text.replace(at, placeholder.size(), value);
  }
  return text;
}

class Load {
 public:
  Load(const Options& options, const ClientConfig& config, std::string body)
      : options_(options), body_(std::move(body)) {
    HttpTransport::Options transport;
    transport.http2 = false;  // as many connections as are asked for, whatever the server speaks
    // A watch holds its connection.
    transport.max_connections = static_cast<size_t>(options.connections + options.watchers);
    transport_ = *HttpTransport::Make(loop_, config, transport);
  }

  // Returns whether everything was answered well, and heard of, in time.
  bool Run() {
    loop_.Schedule(std::chrono::seconds(options_.deadline_seconds), [this] { loop_.Stop(); });
    for (int i = 0; i < options_.watchers; ++i) Watch();
    if (options_.watchers == 0) Start();
    loop_.Run();
    Print();
    return finished_ == options_.count && failed_ == 0 && heard_ >= ToHear();
  }

 private:
  int64_t ToHear() const { return int64_t{options_.watchers} * options_.count; }

  void Watch() {
    HttpRequest request;
    request.target = options_.watch_path;
    watches_.push_back(transport_->Open(
        std::move(request), {.head =
                                 [this](const HttpResponse&) {
                                   if (++open_ == options_.watchers) Start();
                                 },
                             .data =
                                 [this](std::string_view chunk) {
                                   heard_ += std::count(chunk.begin(), chunk.end(), '\n');
                                   StopWhenDone();
                                 },
                             .end = [](const Status&) {}}));
  }

  void Start() {
    start_ = loop_.clock().Steady();
    for (int i = 0; i < std::min(options_.connections, options_.count); ++i) Next();
  }

  void Next() {
    if (started_ == options_.count) return;
    const SteadyTime sent = loop_.clock().Steady();
    transport_->Send(
        Request(options_.first + started_++), std::chrono::seconds(options_.deadline_seconds),
        [this, sent](const StatusOr<HttpResponse>& answer) { Answered(sent, answer); });
  }

  HttpRequest Request(int number) const {
    const std::string index = std::to_string(number);
    const std::string modulo = std::to_string(number % options_.modulo);
    HttpRequest request;
    request.method = options_.method;
    request.target = Replaced(Replaced(options_.path, "{i}", index), "{m}", modulo);
    if (!body_.empty()) request.headers.Set("Content-Type", "application/json");
    request.body = Replaced(Replaced(body_, "{i}", index), "{m}", modulo);
    return request;
  }

  void Answered(SteadyTime sent, const StatusOr<HttpResponse>& answer) {
    const Duration elapsed = loop_.clock().Steady() - sent;
    milliseconds_.push_back(std::chrono::duration<double, std::milli>(elapsed).count());
    if (!answer.ok() || answer->status >= 300) {
      if (failed_++ == 0) {
        fmt::print(stderr, "kube_load: {}\n",
                   answer.ok() ? fmt::format("HTTP {} {}", answer->status, answer->body)
                               : Message(answer.status()));
      }
    }
    ++finished_;
    StopWhenDone();
    Next();
  }

  void StopWhenDone() {
    if (finished_ < options_.count || heard_ < ToHear()) return;
    end_ = loop_.clock().Steady();
    loop_.Stop();
  }

  double Percentile(int percent) {
    if (milliseconds_.empty()) return 0;
    std::sort(milliseconds_.begin(), milliseconds_.end());
    return milliseconds_[(milliseconds_.size() - 1) * static_cast<size_t>(percent) / 100];
  }

  void Print() {
    const double seconds = std::chrono::duration<double>(end_ - start_).count();
    fmt::print("{}\n", Serialize(Json{{"count", finished_},
                                      {"failed", failed_},
                                      {"events", heard_},
                                      {"seconds", seconds},
                                      {"p50_ms", Percentile(50)},
                                      {"p99_ms", Percentile(99)}}));
  }

  const Options options_;
  const std::string body_;
  AsioLoop loop_;
  std::shared_ptr<Transport> transport_;
  std::vector<std::unique_ptr<Transport::Stream>> watches_;
  std::vector<double> milliseconds_;
  SteadyTime start_{}, end_{};
  int open_ = 0, started_ = 0, finished_ = 0, failed_ = 0;
  int64_t heard_ = 0;
};

int Main(int argc, char** argv) {
  Options options;
  CLI::App app("Puts load on an API server.");
  app.add_option("--kubeconfig", options.kubeconfig)->required();
  app.add_option("--connections", options.connections)->check(CLI::Range(1, 1000));
  app.add_option("--count", options.count)->check(CLI::Range(1, 10'000'000));
  app.add_option("--first", options.first, "number of the first request");
  app.add_option("--modulo", options.modulo)->check(CLI::PositiveNumber);
  app.add_option("--watchers", options.watchers, "wait until each has heard of every request");
  app.add_option("--watch", options.watch_path, "what they watch");
  app.add_option("--deadline", options.deadline_seconds, "seconds");
  app.add_option("METHOD", options.method)->required();
  app.add_option("PATH", options.path)->required();
  app.add_option("BODY", options.body_file, "a file");
  CLI11_PARSE(app, argc, argv);
  const auto config = LoadClientConfig({.kubeconfig = options.kubeconfig});
  if (!config.ok()) {
    fmt::print(stderr, "kube_load: {}\n", Message(config.status()));
    return 2;
  }
  std::ifstream file(options.body_file);
  return Load(options, *config, {std::istreambuf_iterator<char>(file), {}}).Run() ? 0 : 1;
}

}  // namespace
}  // namespace koord::kube

int main(int argc, char** argv) { return koord::kube::Main(argc, argv); }
