// A cache in a file: what it keeps, and what becomes of it when processes die,
// disks fill up, and files are damaged.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "common/base/file.h"
#include "common/data_source/cache_file.h"
#include "common/data_source/cached_source.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/data_source/counted_source.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr int64_t kHeader = 96;
// Two int32, an int64 and a float32, each array aligned to 8 bytes, behind the
// slot's header.
constexpr int64_t kSlot = 16 + 24;

// A source and what is behind it.
struct Cached {
  std::unique_ptr<const DataSource> source;
  const CountedSource* inner = nullptr;

  int64_t reads() const {
    int64_t sum = 0;
    for (const std::atomic<int>& each : inner->reads) sum += each;
    return sum;
  }
};

class FileCachedSourceTest : public ::testing::Test {
 protected:
  FileCachedSourceTest()
      : folder_(::testing::TempDir() + "file_cached_source_test/"),
        path_(folder_ + "examples.cache") {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~FileCachedSourceTest() override { fs::remove_all(folder_); }

  absl::StatusOr<Cached> TryOpen(
      const std::function<void(CountedSource&)>& prepare = [](auto&) {},
      const std::string& fingerprint = std::string(64, 'a')) const {
    auto inner = std::make_unique<CountedSource>();
    prepare(*inner);
    Cached cached;
    cached.inner = inner.get();
    auto source = CacheInFile(std::move(inner), path_, fingerprint);
    if (!source.ok()) return source.status();
    cached.source = *std::move(source);
    return cached;
  }

  Cached Open(const std::function<void(CountedSource&)>& prepare = [](auto&) {
  }) const {
    auto cached = TryOpen(prepare);
    EXPECT_TRUE(cached.ok()) << cached.status();
    return *std::move(cached);
  }

  static void ExpectAll(const Cached& cached, int64_t step = 1) {
    const auto reader = *cached.source->MakeReader();
    for (int64_t i = 0; i < kCountedExamples; i += step) {
      const auto example = reader->Read(i);
      ASSERT_TRUE(example.ok()) << example.status();
      ExpectExample(**example, i);
    }
  }

  std::string Content() const { return *ReadFile(path_, 1 << 20); }
  void SetContent(const std::string& content) const {
    ASSERT_TRUE(WriteFileAtomically(path_, content).ok());
  }

  const std::string folder_;
  const std::string path_;
};

// Runs `work` in a process of its own; 0 if no expectation in it failed.
template <typename Work>
pid_t InProcess(Work work) {
  const pid_t child = fork();
  if (child != 0) return child;
  work();
  _exit(::testing::Test::HasFailure() ? 1 : 0);
}

int CodeOf(pid_t child) {
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(FileCachedSourceTest, LaterRunsReadTheFile) {
  const Cached first = Open();
  EXPECT_EQ(first.source->name(), "counted");
  EXPECT_EQ(first.source->Files().FilesWithin(kCountedExamples), 2);
  ExpectAll(first);
  ExpectAll(first);
  EXPECT_EQ(first.reads(), kCountedExamples);
  EXPECT_EQ(fs::file_size(path_), kHeader + kCountedExamples * kSlot);

  const Cached second = Open();
  ExpectAll(second);
  EXPECT_EQ(second.reads(), 0);
}

TEST_F(FileCachedSourceTest, ReadersShareIt) {
  const Cached cached = Open();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&cached] { ExpectAll(cached); });
  }
  for (std::thread& thread : threads) thread.join();
  ExpectAll(Open());
  EXPECT_EQ(Open().reads(), 0);
}

// Each makes the file and fills it, the second from the other end.
TEST_F(FileCachedSourceTest, ProcessesShareIt) {
  std::vector<pid_t> children;
  for (int64_t i = 0; i < 4; ++i) {
    children.push_back(InProcess([&] {
      const Cached cached = Open();
      const auto reader = *cached.source->MakeReader();
      for (int64_t at = 0; at < kCountedExamples; ++at) {
        const int64_t index = i % 2 == 0 ? at : kCountedExamples - 1 - at;
        ExpectExample(**reader->Read(index), index);
      }
    }));
  }
  for (const pid_t child : children) EXPECT_EQ(CodeOf(child), 0);
  const Cached after = Open();
  ExpectAll(after);
  EXPECT_EQ(after.reads(), 0);
}

TEST_F(FileCachedSourceTest, WhatADeadProcessDidNotWriteIsReadAnew) {
  ExpectAll(Open());
  const std::string whole = Content();
  // Within the header, at its end, in a slot's header and in its values.
  for (const int64_t bytes :
       {0L, 50L, kHeader, kHeader + 7 * kSlot + 3, kHeader + 7 * kSlot + 30}) {
    SetContent(whole.substr(0, bytes));
    const Cached cached = Open();
    ExpectAll(cached);
    const int64_t complete = bytes > kHeader ? 7 : 0;
    EXPECT_EQ(cached.reads(), kCountedExamples - complete) << bytes;
    EXPECT_EQ(Content(), whole) << bytes;
  }
}

TEST_F(FileCachedSourceTest, AHoleIsReadAnew) {
  ExpectAll(Open(), 3);
  const Cached cached = Open();
  ExpectAll(cached);
  EXPECT_EQ(cached.reads(), kCountedExamples - (kCountedExamples + 2) / 3);
}

TEST_F(FileCachedSourceTest, NoDamagedByteGetsIntoAnExample) {
  ExpectAll(Open());
  const std::string whole = Content();
  for (int64_t at = 0; at < kHeader + 2 * kSlot; ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    SetContent(damaged);
    const auto cached = TryOpen();
    if (at < kHeader) {
      EXPECT_EQ(cached.status().code(), absl::StatusCode::kInvalidArgument);
      EXPECT_EQ(Content(), damaged) << "it stays as it is";
      continue;
    }
    ASSERT_TRUE(cached.ok()) << cached.status();
    const auto reader = *cached->source->MakeReader();
    for (int64_t i = 0; i < 2; ++i) ExpectExample(**reader->Read(i), i);
    EXPECT_EQ(cached->reads(), 1) << at;
  }
  // A whole slot in another's place has a right checksum, but another number.
  std::string swapped = whole;
  swapped.replace(kHeader, kSlot, whole.substr(kHeader + kSlot, kSlot));
  SetContent(swapped);
  const Cached cached = Open();
  ExpectAll(cached);
  EXPECT_EQ(cached.reads(), 1);
}

TEST_F(FileCachedSourceTest, RefusesTheExamplesOfAnotherSource) {
  ExpectAll(Open());
  const std::string whole = Content();
  const auto other = TryOpen([](auto&) {}, std::string(64, 'b'));
  EXPECT_EQ(other.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(other.status().message(),
            path_ +
                ": has the examples of another source, or files of this one "
                "have changed since; delete the file, or name another");
  std::string newer = whole;
  newer[8] = 2;
  SetContent(newer);
  EXPECT_THAT(std::string(TryOpen().status().message()),
              HasSubstr("version 2; expected version 1: delete the file"));
  for (const char* foreign : {"{}", "PLCACHE", "PLCACHE\nxyz"}) {
    SetContent(foreign);
    const absl::Status status = TryOpen().status();
    if (absl::StartsWith("PLCACHE\n", foreign)) {
      EXPECT_TRUE(status.ok()) << "the beginning of a header";
      continue;
    }
    EXPECT_THAT(std::string(status.message()),
                AllOf(StartsWith(path_), HasSubstr("is no cache of examples")));
    EXPECT_EQ(Content(), foreign);
  }
}

TEST_F(FileCachedSourceTest, RemembersWhatCannotBeRead) {
  const absl::Status broken = absl::DataLossError("broken");
  const auto with = [](const absl::Status& error) {
    return [error](CountedSource& source) {
      source.broken = 7;
      source.error = error;
    };
  };
  EXPECT_EQ((*Open(with(broken)).source->MakeReader())->Read(7).status(),
            broken);
  const Cached second = Open();
  EXPECT_EQ((*second.source->MakeReader())->Read(7).status(), broken);
  EXPECT_EQ(second.reads(), 0);
  ExpectExample(**(*second.source->MakeReader())->Read(8), 8);

  fs::remove(path_);
  const absl::Status wordy =
      absl::InvalidArgumentError("a text that is longer than a slot");
  EXPECT_EQ((*Open(with(wordy)).source->MakeReader())->Read(7).status(), wordy);
  EXPECT_EQ((*Open().source->MakeReader())->Read(7).status(),
            absl::InvalidArgumentError("counted: example 7 could not be read "
                                       "when " +
                                       path_ + " was written"));

  // A file may come back.
  fs::remove(path_);
  const Cached gone = Open(with(absl::NotFoundError("gone")));
  const auto reader = *gone.source->MakeReader();
  EXPECT_TRUE(absl::IsNotFound(reader->Read(7).status()));
  ExpectExample(**reader->Read(7), 7);
}

TEST_F(FileCachedSourceTest, AFullDiskEndsTheWritingAlone) {
  const pid_t child = InProcess([&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {kHeader + 10 * kSlot + 5, RLIM_INFINITY};
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    const Cached cached = Open();
    ::testing::internal::CaptureStderr();
    ExpectAll(cached);
    ExpectAll(cached);
    const std::string log = ::testing::internal::GetCapturedStderr();
    EXPECT_THAT(log, HasSubstr("cannot write " + path_ + ": File too large"));
    EXPECT_EQ(log.find("cannot write"), log.rfind("cannot write"));
    EXPECT_EQ(cached.reads(), 10 + 2 * (kCountedExamples - 10));
  });
  EXPECT_EQ(CodeOf(child), 0);
  const Cached cached = Open();
  ExpectAll(cached);
  EXPECT_EQ(cached.reads(), kCountedExamples - 10);
}

TEST_F(FileCachedSourceTest, AFileThatIsCutMeanwhileIsReadAnew) {
  const Cached cached = Open();
  ExpectAll(cached);
  fs::resize_file(path_, kHeader + 100 * kSlot + 8);
  ExpectAll(cached);
  EXPECT_EQ(cached.reads(), 2 * kCountedExamples - 100);
}

TEST_F(FileCachedSourceTest, NamesAPathThatCannotBeWritten) {
  const auto error_of = [](const std::string& path) {
    return std::string(CacheInFile(std::make_unique<CountedSource>(), path,
                                   std::string(64, 'a'))
                           .status()
                           .message());
  };
  EXPECT_EQ(error_of(folder_ + "none/x"), "cannot write " + folder_ +
                                              "none/x: No such file or "
                                              "directory");
  EXPECT_EQ(error_of(folder_),
            folder_ + ": is no regular file; expected one, or none yet");
  ASSERT_EQ(mkfifo((folder_ + "pipe").c_str(), 0600), 0);
  EXPECT_EQ(error_of(folder_ + "pipe"),
            folder_ + "pipe: is no regular file; expected one, or none yet");
  EXPECT_THAT(error_of("/proc/self/exe"), StartsWith("cannot write /proc"));
  EXPECT_EQ(
      CacheInFile(std::make_unique<CountedSource>(Shape{int64_t{1} << 40}),
                  path_, std::string(64, 'a'))
          .status()
          .code(),
      absl::StatusCode::kResourceExhausted);
  EXPECT_FALSE(fs::exists(path_));
}

// What a job of a service names lies in its folder, whatever links there are.
TEST_F(FileCachedSourceTest, ARelativePathFollowsNoLinks) {
  fs::create_directories(folder_ + "job/sub");
  fs::create_directories(folder_ + "other");
  fs::create_symlink(folder_ + "other", folder_ + "job/link");
  fs::create_symlink(folder_ + "other/file", folder_ + "job/file");
  const fs::path before = fs::current_path();
  fs::current_path(folder_ + "job");
  const auto status_of = [](const std::string& path) {
    return CacheInFile(std::make_unique<CountedSource>(), path,
                       std::string(64, 'a'))
        .status();
  };
  EXPECT_TRUE(status_of("sub/x").ok());
  EXPECT_TRUE(fs::exists("sub/x"));
  for (const char* path : {"link/x", "file", "sub/x/y", "sub"}) {
    EXPECT_EQ(status_of(path).code(), absl::StatusCode::kInvalidArgument)
        << path;
  }
  fs::current_path(before);
  EXPECT_TRUE(fs::is_empty(folder_ + "other"));
}

}  // namespace
}  // namespace paceline
