// S3: the server checks signatures by itself.
#include "common/remote_file/s3.h"

#include <atomic>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/identity/sha256.h"
#include "tests/http_server/signature_check.h"
#include "tests/unit/remote_file/fetch_fixture.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kAccessKey[] = "AKIAEXAMPLE";
constexpr char kSecretKey[] = "wJalrXUtnFEMI/K7MDENG+bPxRfiCY";
constexpr char kRegion[] = "eu-test-1";

class S3Test : public FetchTest {
 protected:
  S3Test() {
    options_.s3 = {kAccessKey, kSecretKey, "a/session+token==", kRegion,
                   server_.Url("")};
  }

  TestReply Answer(const TestRequest& request) {
    const std::string wrong =
        SignatureError(request, kAccessKey, kSecretKey, kRegion);
    if (!wrong.empty()) {
      TestReply reply;
      reply.status = 403;
      reply.body =
          absl::StrCat("<Error><Code>SignatureDoesNotMatch</Code><Message>",
                       wrong, "</Message></Error>");
      return reply;
    }
    TestReply reply = ServeFile(request, content_);
    if (!checksum_of_.empty()) {
      reply.headers["x-amz-checksum-sha256"] =
          absl::Base64Escape(absl::HexStringToBytes(Sha256Hex(checksum_of_)));
    }
    if (++count_ == 1) reply.sent_bytes = first_bytes_;
    return reply;
  }

  std::string content_ = Bytes(200'000);
  std::string checksum_of_;
  size_t first_bytes_ = SIZE_MAX;
  std::atomic<int> count_ = 0;
  HttpServer server_{
      [this](const TestRequest& request) { return Answer(request); }};
};

TEST_F(S3Test, RequestsAreSigned) {
  EXPECT_EQ(ContentOf("s3://bucket/folder/train.npz"), Brief(content_));
  EXPECT_EQ(server_.requests()[0].target, "/bucket/folder/train.npz");
  EXPECT_EQ(server_.requests()[0].Header("x-amz-security-token"),
            "a/session+token==");
  EXPECT_EQ(ContentOf("s3://bucket/folder/train.npz"), Brief(content_));
  EXPECT_EQ(server_.requests()[1].Header("if-none-match"), "\"1\"");
}

TEST_F(S3Test, KeysMayHaveAnyCharacters) {
  EXPECT_EQ(ContentOf("s3://bucket/a b+c=d?/é#1.npz"), Brief(content_));
  EXPECT_EQ(server_.requests()[0].target,
            "/bucket/a%20b%2Bc%3Dd%3F/%C3%A9%231.npz");
}

TEST_F(S3Test, ACutDownloadGoesOn) {
  first_bytes_ = 100'000;
  EXPECT_EQ(ContentOf("s3://bucket/file"), Brief(content_));
  ASSERT_EQ(server_.requests().size(), 2);
  EXPECT_EQ(server_.requests()[1].Header("range"), "bytes=100000-");
}

TEST_F(S3Test, TheStoredHashMustMatch) {
  checksum_of_ = content_;
  first_bytes_ = 100'000;
  EXPECT_EQ(ContentOf("s3://bucket/good"), Brief(content_));
  checksum_of_ = "other";
  EXPECT_THAT(ContentOf("s3://bucket/bad"),
              AllOf(HasSubstr("DATA_LOSS"), HasSubstr("which S3 gives")));
}

TEST_F(S3Test, WrongKeysAreRefusedAndNotShown) {
  options_.s3.secret_key = "another-secret";
  EXPECT_THAT(ContentOf("s3://bucket/file"),
              AllOf(HasSubstr("PERMISSION_DENIED: s3://bucket/file: the server "
                              "answered 403, SignatureDoesNotMatch"),
                    Not(HasSubstr("another-secret"))));
}

TEST_F(S3Test, WithoutKeysNothingIsSigned) {
  options_.s3 = S3Access();
  options_.s3.endpoint = server_.Url("/");
  EXPECT_THAT(ContentOf("s3://bucket/file"), HasSubstr("not signed"));
  EXPECT_EQ(server_.requests()[0].Header("authorization"), "");
}

TEST_F(S3Test, ARedirectNamesTheRegion) {
  HttpServer server([](const TestRequest& /*request*/) {
    TestReply reply;
    reply.status = 301;
    reply.headers["x-amz-bucket-region"] = "us-west-2";
    return reply;
  });
  options_.s3.endpoint = server.Url("");
  EXPECT_THAT(
      ContentOf("s3://bucket/file"),
      AllOf(HasSubstr("bucket is in us-west-2"), HasSubstr("AWS_REGION")));
}

std::string UrlOf(const S3Access& access, const std::string& url) {
  const auto request = S3Request(access, *ParseRemoteUrl(url));
  return request.ok() ? request->url : std::string(request.status().message());
}

TEST(S3RequestTest, AmazonsBucketsAreHosts) {
  S3Access access;
  EXPECT_EQ(UrlOf(access, "s3://bucket/a/b"),
            "https://bucket.s3.us-east-1.amazonaws.com/a/b");
  access.region = "eu-west-1";
  EXPECT_EQ(UrlOf(access, "s3://my.bucket/a/b"),
            "https://s3.eu-west-1.amazonaws.com/my.bucket/a/b");
}

TEST(S3RequestTest, BadAccessIsRefused) {
  S3Access access;
  access.endpoint = "https://u:pass@host";
  EXPECT_THAT(UrlOf(access, "s3://bucket/a"),
              AllOf(HasSubstr("AWS_ENDPOINT_URL"), Not(HasSubstr("pass"))));
  access.endpoint = "host:9000";
  EXPECT_THAT(UrlOf(access, "s3://bucket/a"), HasSubstr("AWS_ENDPOINT_URL"));
  access = S3Access();
  access.region = "a/b";
  EXPECT_THAT(UrlOf(access, "s3://bucket/a"), HasSubstr("AWS_REGION"));
  access = S3Access();
  access.access_key = "key";
  EXPECT_THAT(UrlOf(access, "s3://bucket/a"), HasSubstr("both or neither"));
  access.secret_key = "two\r\nlines";
  EXPECT_THAT(UrlOf(access, "s3://bucket/a"),
              AllOf(HasSubstr("one word"), Not(HasSubstr("lines"))));
}

}  // namespace
}  // namespace paceline
