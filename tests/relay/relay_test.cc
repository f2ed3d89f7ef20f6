#include "tests/relay/relay.h"

#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/base/clock.h"
#include "common/net/listener.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/connect_to.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::Ge;
using ::testing::HasSubstr;
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

// Receives `size` bytes; fewer if none come for 20 s, or the connection ends.
std::string Receive(int socket, size_t size) {
  const timeval timeout = absl::ToTimeval(absl::Seconds(20));
  EXPECT_EQ(
      setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)),
      0);
  std::string bytes(size, '\0');
  size_t received = 0;
  while (received < size) {
    const ssize_t more =
        recv(socket, bytes.data() + received, size - received, 0);
    if (more <= 0) break;
    received += more;
  }
  bytes.resize(received);
  return bytes;
}

// Sends `text` and waits until it is back.
std::string RoundTrip(int socket, const std::string& text) {
  std::thread sender([&] {
    EXPECT_EQ(send(socket, text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  });
  std::string back = Receive(socket, text.size());
  // Ends a sender whose bytes nobody takes.
  if (back.size() < text.size()) shutdown(socket, SHUT_RDWR);
  sender.join();
  return back;
}

size_t EntriesOf(const char* folder) {
  return std::distance(std::filesystem::directory_iterator(folder), {});
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
  EXPECT_EQ(Receive(second.get(), text.size()), text);
  shutdown(second.get(), SHUT_RDWR);
  sender.join();
  EXPECT_GE(MonotonicNow() - start, absl::Milliseconds(190));
}

TEST(RelayTest, ConnectionsThatHaveEndedLeaveNothingBehind) {
  const Echo echo;
  const Relay relay("127.0.0.1:0", echo.address(), {});
  const size_t threads = EntriesOf("/proc/self/task");
  const size_t descriptors = EntriesOf("/proc/self/fd");
  for (int i = 0; i < 20; ++i) {
    const FileDescriptor caller = ConnectTo(relay.address());
    EXPECT_EQ(RoundTrip(caller.get(), "a"), "a");
  }
  const absl::Time deadline = MonotonicNow() + absl::Seconds(20);
  while ((EntriesOf("/proc/self/task") > threads ||
          EntriesOf("/proc/self/fd") > descriptors) &&
         MonotonicNow() < deadline) {
    absl::SleepFor(absl::Milliseconds(10));
  }
  EXPECT_EQ(EntriesOf("/proc/self/task"), threads);
  EXPECT_EQ(EntriesOf("/proc/self/fd"), descriptors);
}

// A callee whose queue of connections is full does not answer.
TEST(RelayTest, ACalleeThatDoesNotAnswerEndsTheConnection) {
  const LoopbackSocket callee(SOCK_STREAM);
  ASSERT_EQ(listen(callee.socket.get(), /*backlog=*/0), 0);
  const std::string name = absl::StrCat("127.0.0.1:", callee.port);
  std::vector<FileDescriptor> queue;
  do {
    ASSERT_LT(queue.size(), 100u);
    queue.push_back(ConnectTo(name, /*from=*/0, absl::Milliseconds(200)));
  } while (queue.back().is_open());

  const Relay relay("127.0.0.1:0", name, {});
  const FileDescriptor caller = ConnectTo(relay.address());
  const absl::Time start = MonotonicNow();
  EXPECT_EQ(Receive(caller.get(), 1), "");
  EXPECT_LT(MonotonicNow() - start, absl::Seconds(15));
}

TEST(RelayTest, ABrokenReceiverBreaksTheSender) {
  absl::StatusOr<Listener> listener = Listener::Open("127.0.0.1:0");
  ASSERT_TRUE(listener.ok()) << listener.status();
  const Relay relay("127.0.0.1:0", absl::StrCat("127.0.0.1:", listener->port()),
                    {});
  const FileDescriptor caller = ConnectTo(relay.address());
  pollfd polled = {listener->socket(), POLLIN, 0};
  ASSERT_EQ(poll(&polled, 1, /*timeout=*/20'000), 1);
  // With bytes that nobody read, so that the end is a reset.
  ASSERT_EQ(send(caller.get(), "a", 1, MSG_NOSIGNAL), 1);
  {
    const auto callee = listener->Accept();
    ASSERT_TRUE(callee.ok()) << callee.status();
    polled.fd = callee->get();
    ASSERT_EQ(poll(&polled, 1, /*timeout=*/20'000), 1);
  }
  const absl::Time deadline = MonotonicNow() + absl::Seconds(20);
  while (send(caller.get(), "a", 1, MSG_NOSIGNAL) == 1 &&
         MonotonicNow() < deadline) {
    absl::SleepFor(absl::Milliseconds(10));
  }
  EXPECT_LT(MonotonicNow(), deadline);
}

TEST(ReadLinkSpeedTest, TakesMegabitsAndMilliseconds) {
  const absl::StatusOr<LinkSpeed> speed = ReadLinkSpeed("1000", "0.5");
  ASSERT_TRUE(speed.ok()) << speed.status();
  EXPECT_EQ(speed->bytes_per_second, 125e6);
  EXPECT_EQ(speed->latency, absl::Microseconds(500));
}

TEST(ReadLinkSpeedTest, AnErrorNamesTheArgumentItsValueAndWhatIsExpected) {
  for (const char* rate : {"", "fast", "10x", "0", "-1", "nan"}) {
    const absl::Status status = ReadLinkSpeed(rate, "0").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(status.message(),
              absl::StrCat("MEGABITS_PER_SECOND: got \"", rate,
                           "\"; expected a number above 0"));
  }
  for (const char* latency : {"", "none", "1ms", "-1", "inf", "nan"}) {
    EXPECT_THAT(std::string(ReadLinkSpeed("1", latency).status().message()),
                HasSubstr(absl::StrCat("LATENCY_MS: got \"", latency,
                                       "\"; expected a finite number")));
  }
}

}  // namespace
}  // namespace paceline
