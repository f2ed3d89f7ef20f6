#include "tests/http_server/http_server.h"

#include <glog/logging.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"

namespace paceline {
namespace {

constexpr absl::Duration kLookInterval = absl::Milliseconds(10);

Listener OpenListener() {
  absl::StatusOr<Listener> listener = Listener::Open("127.0.0.1:0");
  CHECK(listener.ok()) << listener.status();
  return *std::move(listener);
}

bool HasInput(int socket) {
  pollfd wanted = {socket, POLLIN, 0};
  const int milliseconds =
      static_cast<int>(kLookInterval / absl::Milliseconds(1));
  return poll(&wanted, 1, milliseconds) == 1;
}

std::shared_ptr<SSL_CTX> MakeTls(const TlsFiles& files) {
  if (files.empty()) return nullptr;
  // Clients that refuse the certificate close the connection.
  signal(SIGPIPE, SIG_IGN);
  std::shared_ptr<SSL_CTX> tls(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  CHECK_EQ(
      SSL_CTX_use_certificate_chain_file(tls.get(), files.certificate.c_str()),
      1);
  CHECK_EQ(SSL_CTX_use_PrivateKey_file(tls.get(), files.key.c_str(),
                                       SSL_FILETYPE_PEM),
           1);
  return tls;
}

// Plain, or with TLS.
class Connection {
 public:
  Connection(FileDescriptor socket, SSL_CTX* tls)
      : socket_(std::move(socket)),
        ssl_(tls == nullptr ? nullptr : SSL_new(tls), SSL_free) {
    if (ssl_ == nullptr) return;
    SSL_set_fd(ssl_.get(), socket_.get());
    is_open_ = SSL_accept(ssl_.get()) == 1;
  }

  bool is_open() const { return is_open_; }

  // More bytes; "" at the end.
  std::string Receive() {
    char buffer[4096];
    const ssize_t size = ssl_ != nullptr
                             ? SSL_read(ssl_.get(), buffer, sizeof(buffer))
                             : recv(socket_.get(), buffer, sizeof(buffer), 0);
    return size <= 0 ? "" : std::string(buffer, static_cast<size_t>(size));
  }

  void Send(absl::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent =
          ssl_ != nullptr
              ? SSL_write(ssl_.get(), bytes.data(),
                          static_cast<int>(bytes.size()))
              : send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<size_t>(sent));
    }
  }

 private:
  const FileDescriptor socket_;
  const std::unique_ptr<SSL, void (*)(SSL*)> ssl_;
  bool is_open_ = true;
};

TestRequest ParseRequest(absl::string_view text) {
  const std::vector<std::string> lines = absl::StrSplit(text, "\r\n");
  const std::vector<std::string> words = absl::StrSplit(lines[0], ' ');
  CHECK_EQ(words.size(), 3) << lines[0];
  TestRequest request;
  request.target = words[1];
  for (size_t i = 1; i < lines.size(); ++i) {
    const std::pair<std::string, std::string> header =
        absl::StrSplit(lines[i], absl::MaxSplits(':', 1));
    request.headers[absl::AsciiStrToLower(header.first)] =
        std::string(absl::StripAsciiWhitespace(header.second));
  }
  return request;
}

std::string HeadOf(const TestReply& reply) {
  std::string head = absl::StrCat("HTTP/1.1 ", reply.status,
                                  " Whatever\r\nConnection: close\r\n");
  for (const auto& [name, value] : reply.headers) {
    absl::StrAppend(&head, name, ": ", value, "\r\n");
  }
  const int64_t length =
      reply.said_length.value_or(static_cast<int64_t>(reply.body.size()));
  if (length >= 0) absl::StrAppend(&head, "Content-Length: ", length, "\r\n");
  return head + "\r\n";
}

}  // namespace

std::string TestRequest::Header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

TestReply Refuse(int status) {
  TestReply reply;
  reply.status = status;
  return reply;
}

TestReply ServeFile(const TestRequest& request, const std::string& content,
                    const std::string& etag) {
  TestReply reply;
  reply.headers["ETag"] = etag;
  if (request.Header("if-none-match") == etag) {
    reply.status = 304;
    return reply;
  }
  reply.body = content;
  std::string range = request.Header("range");
  const std::string condition = request.Header("if-range");
  if (range.empty() || (!condition.empty() && condition != etag)) return reply;
  uint64_t first = 0;
  CHECK(absl::SimpleAtoi(
      absl::StripSuffix(absl::StripPrefix(range, "bytes="), "-"), &first))
      << range;
  reply.status = 206;
  reply.headers["Content-Range"] = absl::StrCat(
      "bytes ", first, "-", content.size() - 1, "/", content.size());
  reply.body = content.substr(first);
  return reply;
}

HttpServer::HttpServer(Handler handler, const TlsFiles& tls)
    : handler_(std::move(handler)),
      tls_(MakeTls(tls)),
      listener_(OpenListener()),
      acceptor_([this] { Accept(); }) {}

HttpServer::~HttpServer() {
  ends_ = true;
  acceptor_.join();
  std::vector<std::thread> connections;
  {
    MutexLock lock(mutex_);
    connections = std::move(connections_);
  }
  for (std::thread& connection : connections) connection.join();
}

std::string HttpServer::address() const {
  return absl::StrCat("127.0.0.1:", listener_.port());
}

std::string HttpServer::Url(const std::string& path) const {
  return absl::StrCat(tls_ == nullptr ? "http://" : "https://", address(),
                      path);
}

std::vector<TestRequest> HttpServer::requests() {
  MutexLock lock(mutex_);
  return requests_;
}

void HttpServer::Accept() {
  while (!ends_) {
    if (!HasInput(listener_.socket())) continue;
    absl::StatusOr<FileDescriptor> connection = listener_.Accept();
    if (!connection.ok()) continue;
    MutexLock lock(mutex_);
    connections_.emplace_back(
        [this, socket = std::make_shared<FileDescriptor>(
                   *std::move(connection))] { Serve(std::move(*socket)); });
  }
}

void HttpServer::Serve(FileDescriptor socket) {
  while (!HasInput(socket.get())) {
    if (ends_) return;
  }
  Connection connection(std::move(socket), tls_.get());
  std::string text;
  while (text.find("\r\n\r\n") == std::string::npos) {
    const std::string more = connection.is_open() ? connection.Receive() : "";
    if (more.empty()) return;
    text += more;
  }
  const size_t head_size = text.find("\r\n\r\n");
  TestRequest request =
      ParseRequest(absl::string_view(text).substr(0, head_size));
  request.body = text.substr(head_size + 4);
  size_t body_size = 0;
  (void)absl::SimpleAtoi(request.Header("content-length"), &body_size);
  while (request.body.size() < body_size) {
    const std::string more = connection.Receive();
    if (more.empty()) return;
    request.body += more;
  }
  {
    MutexLock lock(mutex_);
    requests_.push_back(request);
  }
  const TestReply reply = handler_(request);
  connection.Send(HeadOf(reply));
  const absl::Time end = absl::Now() + reply.pause;
  while (!ends_ && absl::Now() < end) absl::SleepFor(kLookInterval);
  if (reply.status != 304) {
    connection.Send(absl::string_view(reply.body).substr(0, reply.sent_bytes));
  }
}

}  // namespace paceline
