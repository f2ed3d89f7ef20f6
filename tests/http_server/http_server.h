// A server of HTTP on loopback, which answers as a test wants.
#ifndef PACELINE_TESTS_HTTP_SERVER_HTTP_SERVER_H_
#define PACELINE_TESTS_HTTP_SERVER_HTTP_SERVER_H_

#include <openssl/ssl.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/time.h"
#include "common/base/mutex.h"
#include "common/net/listener.h"
#include "common/tls/tls_files.h"

namespace paceline {

struct TestRequest {
  // The path and the query, as they came.
  std::string target;
  // By name in lower case.
  std::map<std::string, std::string> headers;
  // As long as Content-Length says.
  std::string body;

  std::string Header(const std::string& name) const;
};

struct TestReply {
  int status = 200;
  std::map<std::string, std::string> headers;
  std::string body;
  // Instead of the body's size; -1: none is said.
  std::optional<int64_t> said_length;
  // Of the body; then the connection is closed.
  size_t sent_bytes = SIZE_MAX;
  // Before the body.
  absl::Duration pause;
};

// An answer without a body.
TestReply Refuse(int status);

// What a good server answers for a file: it has `etag`, ranges, If-Range and
// If-None-Match.
TestReply ServeFile(const TestRequest& request, const std::string& content,
                    const std::string& etag = "\"1\"");

// Thread-safe. Calls `handler` for each request, on the connection's thread.
class HttpServer {
 public:
  using Handler = std::function<TestReply(const TestRequest& request)>;

  // `tls`: the certificate and key of a server of https.
  explicit HttpServer(Handler handler, const TlsFiles& tls = {});
  ~HttpServer();

  // "127.0.0.1:12345"
  std::string address() const;
  // http://ADDRESS or https://ADDRESS, and `path`.
  std::string Url(const std::string& path) const;
  // All that have come.
  std::vector<TestRequest> requests();

 private:
  void Accept();
  void Serve(FileDescriptor socket);

  const Handler handler_;
  // Null: plain.
  const std::shared_ptr<SSL_CTX> tls_;
  const Listener listener_;
  std::atomic<bool> ends_ = false;
  Mutex mutex_;
  std::vector<TestRequest> requests_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> connections_ ABSL_GUARDED_BY(mutex_);
  std::thread acceptor_;
};

}  // namespace paceline

#endif  // PACELINE_TESTS_HTTP_SERVER_HTTP_SERVER_H_
