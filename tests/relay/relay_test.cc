#include "tests/relay/relay.h"

#include <arpa/inet.h>
#include <glog/logging.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <string>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/base/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::Ge;
using ::testing::Lt;

sockaddr_in Loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// Sends back what it gets, a connection after the other.
class Echo {
 public:
  Echo() : listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = Loopback(0);
    socklen_t size = sizeof(address);
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    PCHECK(bind(listener_.get(), generic, size) == 0);
    PCHECK(listen(listener_.get(), SOMAXCONN) == 0);
    PCHECK(getsockname(listener_.get(), generic, &size) == 0);
    address_ = absl::StrCat("127.0.0.1:", ntohs(address.sin_port));
    thread_ = std::thread([this] { Run(); });
  }
  ~Echo() {
    shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }
  const std::string& address() const { return address_; }

 private:
  void Run() {
    while (true) {
      const FileDescriptor caller(accept(listener_.get(), nullptr, nullptr));
      if (!caller.is_open()) return;
      char bytes[4096];
      for (ssize_t size = 1; size > 0;) {
        size = recv(caller.get(), bytes, sizeof(bytes), 0);
        if (size > 0) size = send(caller.get(), bytes, size, MSG_NOSIGNAL);
      }
    }
  }

  const FileDescriptor listener_;
  std::string address_;
  std::thread thread_;
};

FileDescriptor Connect(const std::string& address) {
  int port = 0;
  PCHECK(absl::SimpleAtoi(address.substr(address.rfind(':') + 1), &port));
  FileDescriptor caller(socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in callee = Loopback(port);
  PCHECK(connect(caller.get(), reinterpret_cast<sockaddr*>(&callee),
                 sizeof(callee)) == 0);
  return caller;
}

// Sends `text` and waits until it is back.
std::string RoundTrip(int socket, const std::string& text) {
  std::thread sender([&] {
    EXPECT_EQ(send(socket, text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  });
  std::string back(text.size(), '\0');
  EXPECT_EQ(recv(socket, back.data(), back.size(), MSG_WAITALL),
            static_cast<ssize_t>(back.size()));
  sender.join();
  return back;
}

TEST(RelayTest, CarriesBytesLaterByTheLatency) {
  const Echo echo;
  const Relay relay("127.0.0.1:0", echo.address(),
                    {.latency = absl::Milliseconds(30)});
  const FileDescriptor caller = Connect(relay.address());
  const absl::Time start = MonotonicNow();
  EXPECT_EQ(RoundTrip(caller.get(), "there and back"), "there and back");
  EXPECT_THAT(MonotonicNow() - start,
              AllOf(Ge(absl::Milliseconds(60)), Lt(absl::Seconds(10))));
}

TEST(RelayTest, CarriesNoMoreThanItsRate) {
  const Echo echo;
  Relay relay("127.0.0.1:0", echo.address(), {.bytes_per_second = 10e6});
  const FileDescriptor caller = Connect(relay.address());
  const std::string text(2'000'000, 'x');
  absl::Time start = MonotonicNow();
  EXPECT_EQ(RoundTrip(caller.get(), text), text);
  EXPECT_THAT(MonotonicNow() - start,
              AllOf(Ge(absl::Milliseconds(190)), Lt(absl::Seconds(10))));
  relay.set_speed({.bytes_per_second = 5e6});
  start = MonotonicNow();
  EXPECT_EQ(RoundTrip(caller.get(), text), text);
  EXPECT_GE(MonotonicNow() - start, absl::Milliseconds(390));
}

TEST(RelayTest, TheConnectionsOfALinkShareItsRate) {
  const Echo echo;
  const Relay relay("127.0.0.1:0", echo.address(), {.bytes_per_second = 10e6});
  const FileDescriptor first = Connect(relay.address());
  const std::string text(1'000'000, 'x');
  EXPECT_EQ(RoundTrip(first.get(), "a"), "a");
  // The echo takes one connection after the other, but the kernel takes the
  // bytes of the second before.
  const FileDescriptor second = Connect(relay.address());
  const absl::Time start = MonotonicNow();
  std::thread sender([&] {
    EXPECT_EQ(send(second.get(), text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  });
  EXPECT_EQ(RoundTrip(first.get(), text), text);
  shutdown(first.get(), SHUT_RDWR);
  std::string back(text.size(), '\0');
  EXPECT_EQ(recv(second.get(), back.data(), back.size(), MSG_WAITALL),
            static_cast<ssize_t>(back.size()));
  sender.join();
  EXPECT_GE(MonotonicNow() - start, absl::Milliseconds(190));
}

}  // namespace
}  // namespace paceline
