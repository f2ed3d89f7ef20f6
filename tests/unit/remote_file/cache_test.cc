// The cache on disk.
#include <sys/inotify.h>
#include <unistd.h>

#include <set>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/remote_file/cache_entry.h"
#include "common/remote_file/cache_room.h"
#include "tests/unit/remote_file/fetch_fixture.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CacheTest : public FetchTest {
 protected:
  CacheTest() { options_.limit_bytes = 250'000; }

  // How often the server sent the file, and did not only say it is the same.
  int Downloads(const std::string& target) {
    int count = 0;
    for (const TestRequest& request : server_.requests()) {
      if (request.target == target && request.Header("if-none-match").empty()) {
        ++count;
      }
    }
    return count;
  }

  HttpServer server_{[](const TestRequest& request) {
    const size_t size = request.target == "/large" ? 250'001 : 100'000;
    return ServeFile(request, std::string(size, request.target.back()));
  }};
};

// The names of what was made in the folder, or had its mode changed, since
// `watch` (inotify) was told to look.
std::vector<std::string> Changes(int watch) {
  alignas(inotify_event) char buffer[4096];
  const ssize_t size = read(watch, buffer, sizeof(buffer));
  std::vector<std::string> changes;
  for (ssize_t at = 0; at < size;) {
    const auto& event = *reinterpret_cast<const inotify_event*>(&buffer[at]);
    changes.push_back(absl::StrCat(
        (event.mask & IN_ATTRIB) != 0 ? "changed " : "made ", event.name));
    at += sizeof(event) + event.len;
  }
  return changes;
}

TEST_F(CacheTest, ANewCacheIsItsOwnersFromTheFirstMoment) {
  const std::string parent = options_.folder;
  const FileDescriptor watch(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  ASSERT_GE(inotify_add_watch(watch.get(), parent.c_str(),
                              IN_CREATE | IN_ATTRIB | IN_ONLYDIR),
            0);
  options_.folder = parent + "/cache/";
  EXPECT_TRUE(Fetch(server_.Url("/a")).ok());
  EXPECT_THAT(Changes(watch.get()), ElementsAre("made cache"));
  EXPECT_EQ(std::filesystem::status(options_.folder).permissions(),
            std::filesystem::perms::owner_all);
  options_.folder = parent;
}

TEST_F(CacheTest, TheLeastRecentlyUsedGoes) {
  ASSERT_TRUE(Fetch(server_.Url("/a")).ok());
  ASSERT_TRUE(Fetch(server_.Url("/b")).ok());
  ASSERT_TRUE(Fetch(server_.Url("/a")).ok());
  ASSERT_TRUE(Fetch(server_.Url("/c")).ok());
  ASSERT_TRUE(Fetch(server_.Url("/a")).ok());
  EXPECT_EQ(Downloads("/a"), 1);
  ASSERT_TRUE(Fetch(server_.Url("/b")).ok());
  EXPECT_EQ(Downloads("/b"), 2);
}

TEST_F(CacheTest, WhatIsInUseStays) {
  const auto a = Fetch(server_.Url("/a"));
  ASSERT_TRUE(a.ok()) << a.status();
  {
    const auto b = Fetch(server_.Url("/b"));
    ASSERT_TRUE(b.ok()) << b.status();
    EXPECT_THAT(ContentOf(server_.Url("/c")),
                AllOf(HasSubstr("RESOURCE_EXHAUSTED"),
                      HasSubstr("100000 bytes, and 200000 of the 250000")));
  }
  EXPECT_TRUE(Fetch(server_.Url("/c")).ok());
  EXPECT_EQ(ReadFile(a->path(), 100'000)->size(), 100'000);
}

// Its process may be about to put another file in its place.
TEST_F(CacheTest, WhatIsInALockedEntryStays) {
  const std::string path = Fetch(server_.Url("/a"))->path();
  {
    const auto entry =
        CacheEntry::Open(options_.folder, server_.Url("/a"), "a",
                         options_.network.patience, [](bool /*goes_on*/) {});
    ASSERT_TRUE(entry.ok()) << entry.status();
    EXPECT_TRUE(Fetch(server_.Url("/b")).ok());
    EXPECT_TRUE(Fetch(server_.Url("/c")).ok());
    EXPECT_TRUE(std::filesystem::exists(path));
  }
  EXPECT_TRUE(Fetch(server_.Url("/b")).ok());
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(CacheTest, ANewVersionTakesTheRoomOfTheOldOne) {
  int version = 0;
  HttpServer server([&](const TestRequest& request) {
    ++version;
    return ServeFile(request, std::string(200'000, static_cast<char>(version)),
                     absl::StrCat("\"", version, "\""));
  });
  EXPECT_TRUE(Fetch(server.Url("/a")).ok());
  EXPECT_EQ(ContentOf(server.Url("/a")), Brief(std::string(200'000, 2)));
}

TEST_F(CacheTest, AFileAboveTheLimitIsRefused) {
  EXPECT_THAT(ContentOf(server_.Url("/large")),
              AllOf(HasSubstr("RESOURCE_EXHAUSTED"), HasSubstr("250001 bytes"),
                    HasSubstr("limit of 250000")));
  EXPECT_EQ(server_.requests().size(), 1);
}

TEST_F(CacheTest, AFileOfUnknownSizeIsRefusedWhenItIsAboveTheLimit) {
  HttpServer server([](const TestRequest& /*request*/) {
    TestReply reply;
    reply.body = std::string(300'000, 'x');
    reply.said_length = -1;
    return reply;
  });
  EXPECT_THAT(ContentOf(server.Url("/a")), HasSubstr("RESOURCE_EXHAUSTED"));
}

TEST_F(CacheTest, AFileOfUnknownSizeTakesTheRoomThatIsLeft) {
  const auto a = Fetch(server_.Url("/a"));
  const auto b = Fetch(server_.Url("/b"));
  ASSERT_TRUE(a.ok() && b.ok());
  HttpServer server([](const TestRequest& request) {
    TestReply reply;
    reply.body = std::string(request.target == "/small" ? 40'000 : 60'000, 'x');
    reply.said_length = -1;
    return reply;
  });
  EXPECT_EQ(ContentOf(server.Url("/small")), Brief(std::string(40'000, 'x')));
  EXPECT_THAT(ContentOf(server.Url("/large")), HasSubstr("RESOURCE_EXHAUSTED"));
}

TEST_F(CacheTest, WhatOthersArePromisedIsTaken) {
  const auto other =
      CacheEntry::Open(options_.folder, "other", "other",
                       options_.network.patience, [](bool /*goes_on*/) {});
  ASSERT_TRUE(other.ok()) << other.status();
  const auto promise = [&](int64_t bytes) {
    return MakeRoom(options_.folder, other->folder(), bytes,
                    options_.limit_bytes, options_.network.patience);
  };
  EXPECT_TRUE(promise(100'000).ok());
  EXPECT_TRUE(promise(160'000).ok());
  EXPECT_THAT(ContentOf(server_.Url("/a")),
              AllOf(HasSubstr("RESOURCE_EXHAUSTED"),
                    HasSubstr("160000 of the 250000")));
  EXPECT_TRUE(promise(150'000).ok());
  EXPECT_TRUE(Fetch(server_.Url("/a")).ok());
}

TEST_F(CacheTest, AnUnfinishedDownloadGoesToo) {
  HttpServer server([](const TestRequest& request) {
    TestReply reply = ServeFile(request, std::string(200'000, 'x'));
    reply.sent_bytes = 100'000;
    return request.Header("range").empty() ? reply : Refuse(404);
  });
  EXPECT_FALSE(Fetch(server.Url("/x")).ok());
  EXPECT_TRUE(Fetch(server_.Url("/a")).ok());
}

TEST_F(CacheTest, SeveralAtOnceDownloadOnce) {
  HttpServer server([](const TestRequest& request) {
    TestReply reply = ServeFile(request, "content");
    reply.pause = absl::Milliseconds(300);
    return reply;
  });
  std::vector<std::thread> users;
  for (int i = 0; i < 3; ++i) {
    users.emplace_back(
        [&] { EXPECT_EQ(ContentOf(server.Url("/file")), "content"); });
  }
  for (std::thread& user : users) user.join();
  int downloads = 0;
  for (const TestRequest& request : server.requests()) {
    downloads += request.Header("if-none-match").empty() ? 1 : 0;
  }
  EXPECT_EQ(downloads, 1);
}

TEST_F(CacheTest, OneThatDoesNotGetFurtherIsNotWaitedForForever) {
  const auto entry =
      CacheEntry::Open(options_.folder, server_.Url("/a"), "a",
                       options_.network.patience, [](bool /*goes_on*/) {});
  ASSERT_TRUE(entry.ok()) << entry.status();
  options_.network.patience = absl::Milliseconds(300);
  EXPECT_THAT(ContentOf(server_.Url("/a")),
              AllOf(HasSubstr("DEADLINE_EXCEEDED"),
                    HasSubstr("another process has had")));
}

TEST_F(CacheTest, OneThatGetsFurtherWithoutBytesIsWaitedFor) {
  auto entry =
      CacheEntry::Open(options_.folder, server_.Url("/a"), "a",
                       options_.network.patience, [](bool /*goes_on*/) {});
  ASSERT_TRUE(entry.ok()) << entry.status();
  std::thread holder([held = *std::move(entry)] {
    for (int i = 0; i < 30; ++i) {
      held.ShowProgress();
      absl::SleepFor(absl::Milliseconds(50));
    }
  });
  options_.network.patience = absl::Milliseconds(700);
  EXPECT_EQ(ContentOf(server_.Url("/a")), Brief(std::string(100'000, 'a')));
  holder.join();
}

TEST_F(CacheTest, OthersSeeThatAFileIsHashed) {
  constexpr int64_t kBytes = 32 << 20;
  options_.limit_bytes = kBytes;
  HttpServer server([](const TestRequest& request) {
    return ServeFile(request, std::string(kBytes, 'x'));
  });
  const std::string url = server.Url("/file");
  const std::string part =
      absl::StrCat(options_.folder, "/", Sha256Hex(url), "/part");
  std::set<std::filesystem::file_time_type> times;
  const auto file = RemoteFiles(options_).Fetch(url, [&] {
    if (std::filesystem::file_size(part) == kBytes) {
      times.insert(std::filesystem::last_write_time(part));
    }
  });
  ASSERT_TRUE(file.ok()) << file.status();
  // That of the last bytes, and later ones.
  EXPECT_GT(times.size(), 1);
}

TEST_F(CacheTest, TheSameContentUnderANewTagKeepsItsFile) {
  int version = 0;
  HttpServer server([&](const TestRequest& request) {
    return ServeFile(request, "content", absl::StrCat("\"", ++version, "\""));
  });
  const auto first = Fetch(server.Url("/file"));
  const auto second = Fetch(server.Url("/file"));
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->path(), second->path());
}

TEST_F(CacheTest, ADamagedEntryIsFetchedAnew) {
  const auto path = Fetch(server_.Url("/a"))->path();
  std::filesystem::resize_file(path, 10);
  EXPECT_EQ(ContentOf(server_.Url("/a")), Brief(std::string(100'000, 'a')));
  const auto version =
      std::filesystem::path(path).parent_path().parent_path() / "version";
  ASSERT_TRUE(WriteFileAtomically(version.string(), "damaged").ok());
  EXPECT_EQ(ContentOf(server_.Url("/a")), Brief(std::string(100'000, 'a')));
}

}  // namespace
}  // namespace paceline
