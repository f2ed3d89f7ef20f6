#include "common/base/remote_url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kHash[] =
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

std::string Address(const std::string& text) {
  const auto url = ParseRemoteUrl(text);
  return url.ok() ? url->Address() : std::string(url.status().message());
}

TEST(RemoteUrlTest, UrlsAreReadAlike) {
  EXPECT_EQ(Address("https://Host.Example:443/A/b.npz?x=1&y=%2F"),
            "https://host.example/A/b.npz?x=1&y=%2F");
  EXPECT_EQ(Address("http://[::1]:8080/a"), "http://[::1]:8080/a");
  EXPECT_EQ(Address("s3://bucket/a b#c?.npz"), "s3://bucket/a b#c?.npz");
}

TEST(RemoteUrlTest, AHashMayFollow) {
  const auto url = ParseRemoteUrl(absl::StrCat("http://h/a?b#sha256=", kHash));
  ASSERT_TRUE(url.ok()) << url.status();
  EXPECT_EQ(url->sha256, kHash);
  EXPECT_EQ(url->Address(), "http://h/a?b");
  EXPECT_EQ(url->Shown(), "http://h/a?…");
  EXPECT_EQ(url->FileName(), "a");
  EXPECT_THAT(Address("http://h/a#sha256=12"), HasSubstr("64 hexadecimal"));
}

TEST(RemoteUrlTest, OtherPathsAreNone) {
  EXPECT_TRUE(IsRemote("ftp://host/a"));
  EXPECT_TRUE(IsRemote("s3://bucket/key"));
  for (const char* path :
       {"/a/b", "a", "a/b://c", "C:/a", "://a", "../x://y"}) {
    EXPECT_FALSE(IsRemote(path)) << path;
  }
}

TEST(RemoteUrlTest, WhatProgramsMayReadDifferentlyIsRefused) {
  for (const char* text : {"ftp://host/a",
                           "file:///etc/passwd",
                           "http://host",
                           "http:///a",
                           "http://host:0/a",
                           "http://host:65536/a",
                           "http://host:+1/a",
                           "http://ho st/a",
                           "http://host/a b",
                           "http://host/a\\b",
                           "http://host/a/../b",
                           "http://host/a/%2e%2E/b",
                           "http://host/a%2f..%2fb",
                           "http://host/%5c..%5cb",
                           "http://host/./a",
                           "http://host/data/..;/b",
                           "http://host/data/..;x=1/b",
                           "http://host/data/.%2e%3bx/b",
                           "http://host/data/%252e%252e/b",
                           "http://host/data/%25../b",
                           "http://host/data/%25252e%25252E/b",
                           "http://host/data/%25c0%25ae/b",
                           "http://host/data/%c0%ae%c0%ae/b",
                           "http://host/data/.../b",
                           "http://host/data/..%20/b",
                           "http://host/a%0d%0ab",
                           "http://host/%2",
                           "http://host/a#b",
                           "http://host/\xc3\xa9",
                           "http://host\\@other/a",
                           "http://[::1/a",
                           "http://host:80:90/a",
                           "s3://bu/key",
                           "s3://../key",
                           "s3://bucket",
                           "s3://bucket/../key",
                           "s3://bucket/data/..;x/key",
                           "s3://bucket/data/%2e%2e/key",
                           "s3://bucket/a\nb"}) {
    EXPECT_FALSE(ParseRemoteUrl(text).ok()) << text;
  }
}

TEST(RemoteUrlTest, NamesMayHaveDotsSemicolonsAndOtherLetters) {
  for (const char* text :
       {"http://host/a..b/.c", "http://host/a;x=1/..b", "http://host/%C3%A9",
        "http://host/a%20b", "s3://bucket/a%3Db/c"}) {
    EXPECT_EQ(Address(text), text);
  }
}

TEST(RemoteUrlTest, ErrorsSayWhatIsExpected) {
  EXPECT_THAT(Address("http://host/data/..;x/b"),
              HasSubstr("without parts of dots alone"));
  EXPECT_THAT(Address("http://host/data/%252e%252e/b"),
              HasSubstr("without \"%25\""));
}

TEST(RemoteUrlTest, SecretsAreNotShown) {
  for (const char* text :
       {"https://user:secret@host/a", "https://secret@host/a",
        "https://user:se/secret@host/a", "ftp://u:secret@host/a?secret",
        "https://host/a b?secret", "https://host:99999/a#secret"}) {
    EXPECT_THAT(Address(text), Not(HasSubstr("secret"))) << text;
  }
}

bool IsBelowPrefix(const std::string& url, const std::string& prefix) {
  return IsBelow(*ParseRemoteUrl(url), *ParseUrlPrefix(prefix));
}

TEST(RemoteUrlTest, PrefixesEndAtASlash) {
  EXPECT_TRUE(IsBelowPrefix("https://host/a/b", "https://HOST:443/a/"));
  EXPECT_TRUE(IsBelowPrefix("s3://bucket/a/b", "s3://bucket/"));
  EXPECT_FALSE(IsBelowPrefix("https://host/ab", "https://host/a/"));
  EXPECT_FALSE(IsBelowPrefix("http://host/a/b", "https://host/a/"));
  EXPECT_FALSE(IsBelowPrefix("https://host:8/a/b", "https://host/a/"));
  EXPECT_FALSE(IsBelowPrefix("https://host.evil/a/b", "https://host/a/"));
  EXPECT_THAT(ParseUrlPrefix("https://host/a").status().message(),
              HasSubstr("a slash at the end"));
  EXPECT_FALSE(ParseUrlPrefix("https://host/a/?x").ok());
}

}  // namespace
}  // namespace paceline
