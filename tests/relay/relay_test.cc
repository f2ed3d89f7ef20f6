#include "tests/relay/relay.h"

#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/base/clock.h"
#include "common/net/listener.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/connect_to.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::Ge;
using ::testing::Lt;

// Sends back what it gets, a connection after the other.
class Echo {
 public:
  Echo() : listener_(*Listener::Open("127.0.0.1:0")) {
    thread_ = std::thread([this] { Run(); });
  }
  ~Echo() {
    is_stopping_ = true;
    thread_.join();
  }
  std::string address() const {
    return absl::StrCat("127.0.0.1:", listener_.port());
  }

 private:
  void Run() {
    while (!is_stopping_) {
      pollfd polled = {listener_.socket(), POLLIN, 0};
      poll(&polled, 1, /*timeout=*/20);
      const absl::StatusOr<FileDescriptor> caller = listener_.Accept();
      if (!caller.ok()) continue;
      char bytes[4096];
      for (ssize_t size = 1; size > 0;) {
        size = recv(caller->get(), bytes, sizeof(bytes), 0);
        if (size > 0) size = send(caller->get(), bytes, size, MSG_NOSIGNAL);
      }
    }
  }

  const Listener listener_;
  std::atomic<bool> is_stopping_ = false;
  std::thread thread_;
};

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
  const FileDescriptor caller = ConnectTo(relay.address());
  const absl::Time start = MonotonicNow();
  EXPECT_EQ(RoundTrip(caller.get(), "there and back"), "there and back");
  EXPECT_THAT(MonotonicNow() - start,
              AllOf(Ge(absl::Milliseconds(60)), Lt(absl::Seconds(10))));
}

TEST(RelayTest, CarriesNoMoreThanItsRate) {
  const Echo echo;
  Relay relay("127.0.0.1:0", echo.address(), {.bytes_per_second = 10e6});
  const FileDescriptor caller = ConnectTo(relay.address());
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
  const FileDescriptor first = ConnectTo(relay.address());
  const std::string text(1'000'000, 'x');
  EXPECT_EQ(RoundTrip(first.get(), "a"), "a");
  // The echo takes one connection after the other, but the kernel takes the
  // bytes of the second before.
  const FileDescriptor second = ConnectTo(relay.address());
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
