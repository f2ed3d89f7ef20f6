// What servers do, and what becomes of the download.
#include <atomic>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/identity/sha256.h"
#include "common/remote_file/transfer.h"
#include "tests/certificates/test_authority.h"
#include "tests/unit/remote_file/fetch_fixture.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

using DownloadTest = FetchTest;

TEST_F(DownloadTest, AFileIsFetchedOnceAndAskedForAgain) {
  HttpServer server(
      [](const TestRequest& request) { return ServeFile(request, "content"); });
  EXPECT_EQ(ContentOf(server.Url("/a/train.npz?key=secret")), "content");
  const auto file = Fetch(server.Url("/a/train.npz?key=secret"));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(std::filesystem::path(file->path()).filename(), "train.npz");
  ASSERT_EQ(server.requests().size(), 2);
  EXPECT_EQ(server.requests()[0].target, "/a/train.npz?key=secret");
  EXPECT_EQ(server.requests()[1].Header("if-none-match"), "\"1\"");
}

TEST_F(DownloadTest, AGivenHashNeedsNoQuestion) {
  HttpServer server(
      [](const TestRequest& request) { return ServeFile(request, "content"); });
  const std::string url =
      server.Url("/file") + "#sha256=" + Sha256Hex("content");
  EXPECT_EQ(ContentOf(url), "content");
  EXPECT_EQ(ContentOf(url), "content");
  EXPECT_EQ(server.requests().size(), 1);
}

TEST_F(DownloadTest, AWrongHashIsRefusedAndLeavesNothing) {
  HttpServer server(
      [](const TestRequest& request) { return ServeFile(request, "content"); });
  const std::string url = server.Url("/file") + "#sha256=" + Sha256Hex("other");
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(ContentOf(url),
                AllOf(HasSubstr("DATA_LOSS"), HasSubstr(Sha256Hex("content")),
                      HasSubstr(Sha256Hex("other"))));
  }
  EXPECT_EQ(server.requests()[1].Header("range"), "");
}

TEST_F(DownloadTest, ACutDownloadGoesOn) {
  const std::string content = Bytes(300'000);
  std::atomic<int> count = 0;
  HttpServer server([&](const TestRequest& request) {
    TestReply reply = ServeFile(request, content);
    if (++count <= 2) reply.sent_bytes = 100'000;
    return reply;
  });
  EXPECT_EQ(ContentOf(server.Url("/file")), Brief(content));
  ASSERT_EQ(server.requests().size(), 3);
  EXPECT_EQ(server.requests()[1].Header("range"), "bytes=100000-");
  EXPECT_EQ(server.requests()[1].Header("if-range"), "\"1\"");
  EXPECT_EQ(server.requests()[2].Header("range"), "bytes=200000-");
}

// The first answer does not say how long the file is, and the next is shorter
// than what is left.
TEST_F(DownloadTest, AShortRangeIsNotTheEnd) {
  const std::string content = Bytes(100);
  std::atomic<int> count = 0;
  HttpServer server([&](const TestRequest& /*request*/) {
    TestReply reply;
    reply.headers["ETag"] = "\"1\"";
    if (++count == 1) {
      // A chunk, and no last one.
      reply.headers["Transfer-Encoding"] = "chunked";
      reply.said_length = -1;
      reply.body = absl::StrCat("a\r\n", content.substr(0, 10), "\r\n");
      return reply;
    }
    const size_t begin = count == 2 ? 10 : 50;
    reply.status = 206;
    reply.body = content.substr(begin, count == 2 ? 40 : 50);
    reply.headers["Content-Range"] = absl::StrCat(
        "bytes ", begin, "-", begin + reply.body.size() - 1, "/100");
    return reply;
  });
  EXPECT_EQ(ContentOf(server.Url("/file")), Brief(content));
  EXPECT_EQ(count, 3);
}

TEST_F(DownloadTest, APartThatNobodyAskedForIsRefused) {
  HttpServer server([](const TestRequest& /*request*/) {
    TestReply reply;
    reply.status = 206;
    reply.body = "content";
    reply.headers["Content-Range"] = "bytes 0-6/7";
    return reply;
  });
  EXPECT_THAT(ContentOf(server.Url("/file")),
              AllOf(HasSubstr("FAILED_PRECONDITION"), HasSubstr("answered 206"),
                    HasSubstr("expected 200")));
  EXPECT_EQ(server.requests().size(), 1);
}

TEST_F(DownloadTest, NobodyReadsTheBodyOfARedirect) {
  HttpServer server([&](const TestRequest& request) {
    if (request.target == "/file") return ServeFile(request, "content");
    TestReply reply = Refuse(302);
    reply.headers["Location"] = "/file";
    reply.body = std::string(1 << 20, 'x');
    reply.said_length = int64_t{1} << 40;
    return reply;
  });
  EXPECT_EQ(ContentOf(server.Url("/away")), "content");
  EXPECT_EQ(server.requests().size(), 2);
}

TEST_F(DownloadTest, AnotherProcessGoesOnWhereOneEnded) {
  const std::string content = Bytes(300'000);
  std::atomic<bool> fails = true;
  HttpServer server([&](const TestRequest& request) {
    TestReply reply = ServeFile(request, content);
    if (fails && !request.Header("range").empty()) return Refuse(404);
    if (fails) reply.sent_bytes = 100'000;
    return reply;
  });
  EXPECT_THAT(ContentOf(server.Url("/file")), HasSubstr("answered 404"));
  fails = false;
  EXPECT_EQ(ContentOf(server.Url("/file")), Brief(content));
  EXPECT_EQ(server.requests().back().Header("range"), "bytes=100000-");
}

// Another start of the machine is as if the part had been synced by one.
class LossOfPowerTest : public FetchTest {
 protected:
  // Fetches `sent_bytes` of the content, and no more.
  void FetchPart(size_t sent_bytes) {
    sent_bytes_ = sent_bytes;
    EXPECT_THAT(ContentOf(url_), HasSubstr("answered 404"));
    sent_bytes_ = SIZE_MAX;
  }

  std::string PartPath() const {
    return absl::StrCat(options_.folder, "/", Sha256Hex(url_), "/part");
  }
  // Of what the entry says of its part.
  int64_t SyncedBytes() const {
    const std::string text = *ReadFile(PartPath() + ".synced", 1000);
    int64_t bytes = -1;
    EXPECT_TRUE(absl::SimpleAtoi(text.substr(text.find(' ')), &bytes)) << text;
    return bytes;
  }
  void StartMachine(int64_t synced_bytes) const {
    ASSERT_TRUE(WriteFileAtomically(PartPath() + ".synced",
                                    absl::StrCat("another ", synced_bytes))
                    .ok());
  }

  std::string content_ = Bytes(300'000);
  std::atomic<size_t> sent_bytes_ = SIZE_MAX;
  HttpServer server_{[this](const TestRequest& request) {
    TestReply reply = ServeFile(request, content_);
    reply.sent_bytes = sent_bytes_;
    return sent_bytes_ < SIZE_MAX && !request.Header("range").empty()
               ? Refuse(404)
               : reply;
  }};
  const std::string url_ = server_.Url("/file");
};

TEST_F(LossOfPowerTest, WhatTheDiskHadCounts) {
  FetchPart(100'000);
  StartMachine(/*synced_bytes=*/40'000);
  // The disk lost the rest, and some of it reads as zeros.
  std::filesystem::resize_file(PartPath(), 40'000);
  std::filesystem::resize_file(PartPath(), 310'000);
  EXPECT_EQ(ContentOf(url_), Brief(content_));
  EXPECT_EQ(server_.requests().back().Header("range"), "bytes=40000-");
}

TEST_F(LossOfPowerTest, LittleIsLost) {
  options_.limit_bytes = 100 << 20;
  content_ = std::string(66 << 20, 'x');
  FetchPart(65 << 20);
  const int64_t synced = SyncedBytes();
  EXPECT_GE(synced, 64 << 20);
  StartMachine(synced);
  EXPECT_EQ(ContentOf(url_), Brief(content_));
  EXPECT_EQ(server_.requests().back().Header("range"),
            absl::StrCat("bytes=", synced, "-"));
}

TEST_F(LossOfPowerTest, WithoutAWordOfTheDiskItBeginsAnew) {
  FetchPart(100'000);
  std::filesystem::remove(PartPath() + ".synced");
  EXPECT_EQ(ContentOf(url_), Brief(content_));
  EXPECT_EQ(server_.requests().back().Header("range"), "");
}

TEST_F(DownloadTest, AnotherVersionBeginsAnew) {
  const std::string old_content(300'000, 'o');
  const std::string new_content = Bytes(200'000);
  std::atomic<int> count = 0;
  HttpServer server([&](const TestRequest& request) {
    if (++count > 1) return ServeFile(request, new_content, "\"2\"");
    TestReply reply = ServeFile(request, old_content);
    reply.sent_bytes = 100'000;
    return reply;
  });
  EXPECT_EQ(ContentOf(server.Url("/file")), Brief(new_content));
  EXPECT_EQ(count, 2);
}

TEST_F(DownloadTest, APartOfAnotherVersionIsNotAdded) {
  const std::string content = Bytes(300'000);
  std::atomic<int> count = 0;
  HttpServer server([&](const TestRequest& request) {
    TestReply reply = ServeFile(request, content);
    if (++count == 1) reply.sent_bytes = 100'000;
    // It heeds no If-Range.
    if (count == 2) reply.headers["ETag"] = "\"2\"";
    return reply;
  });
  EXPECT_EQ(ContentOf(server.Url("/file")), Brief(content));
  EXPECT_EQ(server.requests()[2].Header("range"), "");
}

TEST_F(DownloadTest, WithoutRangesItBeginsAnew) {
  const std::string content = Bytes(300'000);
  std::atomic<int> count = 0;
  HttpServer server([&](const TestRequest& /*request*/) {
    TestReply reply;
    reply.headers["ETag"] = "\"1\"";
    reply.body = content;
    if (++count == 1) reply.sent_bytes = 100'000;
    return reply;
  });
  EXPECT_EQ(ContentOf(server.Url("/file")), Brief(content));
  EXPECT_EQ(count, 2);
}

TEST_F(DownloadTest, AFileWithoutALengthIsWhatComes) {
  HttpServer server([](const TestRequest& request) {
    TestReply reply = ServeFile(request, "content");
    reply.said_length = -1;
    return reply;
  });
  EXPECT_EQ(ContentOf(server.Url("/file")), "content");
}

TEST_F(DownloadTest, AWrongLengthIsGivenUp) {
  options_.network.patience = absl::Milliseconds(300);
  HttpServer server([](const TestRequest& /*request*/) {
    TestReply reply;
    reply.body = "content";
    reply.said_length = 100;
    return reply;
  });
  EXPECT_THAT(
      ContentOf(server.Url("/file")),
      AllOf(HasSubstr("UNAVAILABLE"), HasSubstr("gave up after 300ms")));
}

TEST_F(DownloadTest, ARefusalIsNotTriedAgain) {
  HttpServer server([](const TestRequest& request) {
    return Refuse(request.target == "/closed" ? 403 : 404);
  });
  EXPECT_THAT(ContentOf(server.Url("/none?token=secret")),
              AllOf(HasSubstr(server.Url("/none?…: the server answered 404")),
                    Not(HasSubstr("secret"))));
  EXPECT_EQ(Fetch(server.Url("/closed")).status().code(),
            absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(server.requests().size(), 2);
}

TEST_F(DownloadTest, WhatMayPassIsTriedAgain) {
  std::atomic<int> count = 0;
  HttpServer server([&](const TestRequest& request) {
    return ++count < 3 ? Refuse(503) : ServeFile(request, "content");
  });
  EXPECT_EQ(ContentOf(server.Url("/file")), "content");
}

TEST_F(DownloadTest, ASilentServerIsGivenUp) {
  options_.network.patience = absl::Seconds(1);
  HttpServer server([](const TestRequest& request) {
    TestReply reply = ServeFile(request, "content");
    reply.pause = absl::Minutes(1);
    return reply;
  });
  const absl::Time begin = absl::Now();
  EXPECT_THAT(ContentOf(server.Url("/file")),
              AllOf(HasSubstr("UNAVAILABLE"),
                    HasSubstr("sent less than 1024 bytes a second for 1s")));
  EXPECT_LT(absl::Now() - begin, absl::Seconds(8));
}

// As on a disk that is busy: the time is not the server's. libcurl's own limit
// gives up a small file, all of which has come.
TEST_F(DownloadTest, WhoeverTakesTheBytesMayBeSlow) {
  Network network;
  network.patience = absl::Seconds(1);
  HttpServer server(
      [](const TestRequest& request) { return ServeFile(request, "content"); });
  HttpRequest request;
  request.url = server.Url("/file");
  std::string content;
  const absl::Status status = Transfer(
      request, network, [](const HttpResponse&) { return absl::OkStatus(); },
      [&content](absl::string_view piece) {
        absl::SleepFor(absl::Seconds(3));
        content += std::string(piece);
        return absl::OkStatus();
      });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(content, "content");
}

TEST_F(DownloadTest, NobodyThere) {
  options_.network.patience = absl::Milliseconds(300);
  EXPECT_THAT(ContentOf("http://127.0.0.1:1/file"),
              AllOf(HasSubstr("UNAVAILABLE: http://127.0.0.1:1/file: gave up"),
                    HasSubstr("onnect")));
}

TestReply Redirect(const std::string& to) {
  TestReply reply;
  reply.status = 302;
  reply.headers["Location"] = to;
  return reply;
}

TEST_F(DownloadTest, RedirectsAreFollowed) {
  HttpServer server([](const TestRequest& request) {
    return request.target == "/b/real?x=1" ? ServeFile(request, "content")
                                           : Redirect("/b/real?x=1");
  });
  EXPECT_EQ(ContentOf(server.Url("/a/file")), "content");
}

TEST_F(DownloadTest, RedirectsEnd) {
  HttpServer server(
      [](const TestRequest& /*request*/) { return Redirect("/file"); });
  EXPECT_THAT(ContentOf(server.Url("/file")),
              HasSubstr("redirects more than 5 times"));
  EXPECT_EQ(server.requests().size(), 6);
}

TEST_F(DownloadTest, RedirectsLeadToHttpOnly) {
  for (const std::string to :
       {"file:///etc/passwd", "ftp://127.0.0.1/a", "gopher://127.0.0.1/a",
        "s3://bucket/key", "http://user:password@127.0.0.1/a", ""}) {
    HttpServer server(
        [&](const TestRequest& /*request*/) { return Redirect(to); });
    EXPECT_THAT(ContentOf(server.Url("/file")),
                AllOf(HasSubstr("FAILED_PRECONDITION"),
                      HasSubstr("expected http:// or https://"),
                      Not(HasSubstr("password@"))))
        << to;
    EXPECT_EQ(server.requests().size(), 1);
  }
}

TEST_F(DownloadTest, HttpsServersProveWhoTheyAre) {
  const TestAuthority authority(options_.folder, "authority");
  HttpServer good(
      [](const TestRequest& request) {
        return request.target == "/plain" ? Redirect("http://127.0.0.1:1/file")
                                          : ServeFile(request, "content");
      },
      authority.Issue("good"));
  HttpServer other(
      [](const TestRequest& request) { return ServeFile(request, "content"); },
      authority.Issue("other", "DNS:other.example"));
  // Not one of the system's authorities.
  EXPECT_THAT(
      ContentOf(good.Url("/file")),
      AllOf(HasSubstr("FAILED_PRECONDITION"), HasSubstr("certificate")));
  options_.network.authority_file = options_.folder + "/authority.pem";
  EXPECT_EQ(ContentOf(good.Url("/file")), "content");
  EXPECT_THAT(ContentOf(other.Url("/file")), HasSubstr("FAILED_PRECONDITION"));
  EXPECT_EQ(other.requests().size(), 0);
  EXPECT_THAT(ContentOf(good.Url("/plain")),
              HasSubstr("redirects from https to http://127.0.0.1:1/file"));
}

TEST_F(DownloadTest, NoRedirectLeadsFromHttpsBackToHttp) {
  const TestAuthority authority(options_.folder, "authority");
  options_.network.authority_file = options_.folder + "/authority.pem";
  std::string secure_url;
  HttpServer plain([&](const TestRequest& request) {
    return request.target == "/file" ? ServeFile(request, "content")
                                     : Redirect(secure_url + request.target);
  });
  HttpServer secure(
      [&](const TestRequest& request) {
        return request.target == "/up" ? ServeFile(request, "secure")
                                       : Redirect(plain.Url("/file"));
      },
      authority.Issue("server"));
  secure_url = secure.Url("");
  EXPECT_EQ(ContentOf(plain.Url("/up")), "secure");
  EXPECT_THAT(
      ContentOf(plain.Url("/up-and-down")),
      AllOf(HasSubstr("FAILED_PRECONDITION"),
            HasSubstr("redirects from https to " + plain.Url("/file"))));
  for (const TestRequest& request : plain.requests()) {
    EXPECT_NE(request.target, "/file");
  }
}

TEST_F(DownloadTest, OnlyWhatIsAllowedIsFetchedAndRedirectedTo) {
  HttpServer inner(
      [](const TestRequest& request) { return ServeFile(request, "secret"); });
  HttpServer server([&](const TestRequest& request) {
    if (request.target == "/data/in") return Redirect("/data/file");
    if (request.target == "/data/out") return Redirect("/other");
    if (request.target == "/data/inner") return Redirect(inner.Url("/file"));
    return ServeFile(request, "content");
  });
  options_.allowed = {*ParseUrlPrefix(server.Url("/data/"))};
  EXPECT_EQ(ContentOf(server.Url("/data/in")), "content");
  EXPECT_THAT(ContentOf(server.Url("/data/out")),
              AllOf(HasSubstr("PERMISSION_DENIED"),
                    HasSubstr("/other, which no --data")));
  EXPECT_THAT(ContentOf(server.Url("/data/inner")),
              HasSubstr("PERMISSION_DENIED"));
  const size_t before = server.requests().size();
  EXPECT_THAT(ContentOf(server.Url("/other")), HasSubstr("PERMISSION_DENIED"));
  EXPECT_THAT(ContentOf(inner.Url("/file")), HasSubstr(server.Url("/data/")));
  EXPECT_EQ(server.requests().size(), before);
  EXPECT_EQ(inner.requests().size(), 0);
}

}  // namespace
}  // namespace paceline
