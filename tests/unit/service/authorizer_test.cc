// Who may do what: each method with each role, and the life of a token.
#include "coordinator/service/authorizer.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/identity/token.h"
#include "coordinator/service/file_service.h"
#include "coordinator/service/job_service.h"
#include "coordinator/service/token_service.h"
#include "coordinator/store/queue_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr char kList[] = "/paceline.v1.JobService/ListJobs";
constexpr char kSubmit[] = "/paceline.v1.JobService/SubmitJob";

std::string ContentOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class AuthorizerTest : public testing::Test {
 protected:
  AuthorizerTest() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    Open();
  }
  ~AuthorizerTest() override { std::filesystem::remove_all(folder_); }

  // Opens the store anew.
  void Open() {
    authorizer_.reset();
    queue_.reset();
    auto store = QueueStore::Open(folder_ + "/queue.db");
    ASSERT_TRUE(store.ok()) << store.status();
    JobQueueOptions options;
    options.incarnation = 1;
    options.version = "1.0";
    auto queue = SharedQueue::Open(options, *std::move(store));
    ASSERT_TRUE(queue.ok()) << queue.status();
    queue_ = *std::move(queue);
    auto authorizer = Authorizer::Load(*queue_);
    ASSERT_TRUE(authorizer.ok()) << authorizer.status();
    authorizer_ = *std::move(authorizer);
  }

  v1::CreateTokenResponse Create(
      v1::Role role, absl::Duration lifetime = absl::ZeroDuration()) {
    v1::CreateTokenRequest request;
    request.set_user("ann");
    request.set_role(role);
    request.set_lifetime_micros(absl::ToInt64Microseconds(lifetime));
    const auto response = authorizer_->Create(request, now_);
    EXPECT_TRUE(response.ok()) << response.status();
    return response.ok() ? *response : v1::CreateTokenResponse();
  }
  absl::Status Try(const std::string& method, const std::string& token) {
    return authorizer_->Authorize(method, token, now_).status();
  }

  const std::string folder_ =
      testing::TempDir() + "authorizer_test." + std::to_string(getpid());
  absl::Time now_ = absl::FromUnixSeconds(1'900'000'000);
  std::unique_ptr<SharedQueue> queue_;
  std::unique_ptr<Authorizer> authorizer_;
};

TEST_F(AuthorizerTest, EachMethodNeedsItsRole) {
  const std::map<std::string, v1::Role> needed = {
      {"/paceline.v1.JobService/SubmitJob", v1::ROLE_SUBMIT},
      {"/paceline.v1.JobService/ListJobs", v1::ROLE_VIEW},
      {"/paceline.v1.JobService/GetJob", v1::ROLE_VIEW},
      {"/paceline.v1.JobService/StopJob", v1::ROLE_SUBMIT},
      {"/paceline.v1.JobService/DeleteJob", v1::ROLE_SUBMIT},
      {"/paceline.v1.JobService/ReadLog", v1::ROLE_VIEW},
      {"/paceline.v1.JobService/ListMembers", v1::ROLE_VIEW},
      {"/paceline.v1.JobService/DrainMember", v1::ROLE_ADMIN},
      {"/paceline.v1.FileService/FindFiles", v1::ROLE_SUBMIT},
      {"/paceline.v1.FileService/PutFile", v1::ROLE_SUBMIT},
      {"/paceline.v1.FileService/GetFile", v1::ROLE_VIEW},
      {"/paceline.v1.TokenService/CreateToken", v1::ROLE_ADMIN},
      {"/paceline.v1.TokenService/ListTokens", v1::ROLE_ADMIN},
      {"/paceline.v1.TokenService/RevokeToken", v1::ROLE_ADMIN},
  };
  const std::map<v1::Role, std::string> tokens = {
      {v1::ROLE_VIEW, Create(v1::ROLE_VIEW).token()},
      {v1::ROLE_SUBMIT, Create(v1::ROLE_SUBMIT).token()},
      {v1::ROLE_ADMIN, Create(v1::ROLE_ADMIN).token()}};
  for (const auto& [method, role] : needed) {
    for (const auto& [has, token] : tokens) {
      const absl::StatusOr<Person> person =
          authorizer_->Authorize(method, token, now_);
      SCOPED_TRACE(absl::StrCat(method, " with ", v1::Role_Name(has)));
      if (has < role) {
        EXPECT_TRUE(absl::IsPermissionDenied(person.status()));
        EXPECT_THAT(std::string(person.status().message()),
                    AllOf(HasSubstr("needs the role"), HasSubstr("of ann has"),
                          Not(HasSubstr(token))));
      } else {
        ASSERT_TRUE(person.ok()) << person.status();
        EXPECT_EQ(person->user, "ann");
        EXPECT_EQ(person->is_admin, has == v1::ROLE_ADMIN);
      }
    }
  }
  EXPECT_EQ(std::string(Try("/paceline.v1.JobService/DrainMember",
                            tokens.at(v1::ROLE_SUBMIT))
                            .message()),
            "this needs the role admin; the token of ann has submit");
  // Daemons have no tokens.
  EXPECT_TRUE(absl::IsPermissionDenied(
      Try("/paceline.v1.DaemonService/Sync", tokens.at(v1::ROLE_ADMIN))));
}

TEST_F(AuthorizerTest, EveryMethodForPeopleIsInTheTable) {
  auto files = FileStore::Open(folder_ + "/files", {});
  auto logs = LogStore::Open(folder_ + "/logs", {});
  ASSERT_TRUE(files.ok() && logs.ok());
  ProgressBoard progress;
  const JobService jobs("1.0", *queue_, **files, **logs, progress);
  const FileService file_service(**files, kAnyUploadRate);
  const TokenService tokens(*authorizer_, true);
  for (const RpcService* service :
       std::vector<const RpcService*>{&jobs, &file_service, &tokens}) {
    for (const auto& [name, method] : service->methods()) {
      EXPECT_NE(RoleFor(name), v1::ROLE_UNSPECIFIED) << name;
      EXPECT_EQ(method.access, Access::kPeople) << name;
    }
  }
}

TEST_F(AuthorizerTest, UnknownTokensAreRefused) {
  const std::string token = Create(v1::ROLE_ADMIN).token();
  EXPECT_THAT(token, SizeIs(9 + 64));
  EXPECT_TRUE(absl::StartsWith(token, kTokenPrefix));
  for (const std::string& wrong :
       {std::string("x"), token.substr(0, token.size() - 1), token + "0",
        std::string(9 + 64, 'p')}) {
    const absl::Status status = Try(kList, wrong);
    EXPECT_TRUE(absl::IsUnauthenticated(status)) << status;
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr("token create"), Not(HasSubstr(wrong + " "))));
  }
}

TEST_F(AuthorizerTest, ATokenEndsWhenItsTimeIsOver) {
  const std::string token = Create(v1::ROLE_VIEW, absl::Hours(1)).token();
  now_ += absl::Minutes(59);
  EXPECT_TRUE(Try(kList, token).ok());
  now_ += absl::Minutes(1);
  const absl::Status status = Try(kList, token);
  EXPECT_TRUE(absl::IsUnauthenticated(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("has ended at 20"));
}

TEST_F(AuthorizerTest, ARevokedTokenEndsAtOnceAndItsNumberIsNotUsedAgain) {
  const v1::CreateTokenResponse first = Create(v1::ROLE_SUBMIT);
  EXPECT_TRUE(Try(kSubmit, first.token()).ok());
  EXPECT_TRUE(authorizer_->Revoke(first.record().id()).ok());
  EXPECT_TRUE(absl::IsUnauthenticated(Try(kSubmit, first.token())));
  EXPECT_TRUE(absl::IsNotFound(authorizer_->Revoke(first.record().id())));
  Open();
  EXPECT_TRUE(absl::IsUnauthenticated(Try(kSubmit, first.token())));
  EXPECT_EQ(Create(v1::ROLE_VIEW).record().id(), first.record().id() + 1);
}

TEST_F(AuthorizerTest, TokensOutliveTheCoordinatorAndTheStoreHasOnlyHashes) {
  const v1::CreateTokenResponse created =
      Create(v1::ROLE_SUBMIT, absl::Hours(5));
  EXPECT_TRUE(Try(kSubmit, created.token()).ok());
  now_ += absl::Minutes(5);
  Open();
  EXPECT_TRUE(Try(kSubmit, created.token()).ok());
  const v1::ListTokensResponse list = authorizer_->List();
  ASSERT_THAT(list.tokens(), SizeIs(1));
  EXPECT_EQ(list.tokens(0).user(), "ann");
  EXPECT_EQ(list.tokens(0).role(), v1::ROLE_SUBMIT);
  EXPECT_EQ(list.tokens(0).last_used_micros(), absl::ToUnixMicros(now_));
  const std::string secret = created.token().substr(sizeof(kTokenPrefix) - 1);
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    EXPECT_EQ(ContentOf(entry.path().string()).find(secret), std::string::npos)
        << entry.path();
  }
}

TEST_F(AuthorizerTest, WrongRequestsNameTheField) {
  v1::CreateTokenRequest request;
  const auto error = [&] {
    const absl::Status status = authorizer_->Create(request, now_).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    return std::string(status.message());
  };
  request.set_role(v1::ROLE_VIEW);
  for (const std::string& user :
       {std::string(), std::string("a b"), std::string("a\n"),
        std::string(65, 'a'), std::string("anybody"), std::string("é")}) {
    request.set_user(user);
    EXPECT_THAT(error(), HasSubstr("user: "));
  }
  request.set_user("ann@lab.org");
  request.set_role(static_cast<v1::Role>(9));
  EXPECT_THAT(error(), HasSubstr("role: 9"));
  request.set_role(v1::ROLE_VIEW);
  for (const int64_t lifetime : {int64_t{-1}, INT64_MAX}) {
    request.set_lifetime_micros(lifetime);
    EXPECT_THAT(error(), HasSubstr("lifetime_micros: "));
  }
}

TEST_F(AuthorizerTest, TheNumberOfTokensIsBounded) {
  for (size_t i = 0; i < kMaxTokens; ++i) Create(v1::ROLE_VIEW);
  v1::CreateTokenRequest request;
  request.set_user("ann");
  request.set_role(v1::ROLE_VIEW);
  EXPECT_TRUE(
      absl::IsResourceExhausted(authorizer_->Create(request, now_).status()));
}

TEST_F(AuthorizerTest, TheFirstTokenIsWrittenOnceForItsUserAlone) {
  const std::string path = folder_ + "/admin.token";
  EXPECT_TRUE(*authorizer_->WriteFirst(path, now_));
  struct stat information = {};
  ASSERT_EQ(stat(path.c_str(), &information), 0);
  EXPECT_EQ(information.st_mode & 0777, 0600);
  const std::string text = ContentOf(path);
  ASSERT_THAT(text, SizeIs(9 + 64 + 1));
  const auto person = authorizer_->Authorize(
      "/paceline.v1.TokenService/CreateToken", text.substr(0, 9 + 64), now_);
  ASSERT_TRUE(person.ok()) << person.status();
  EXPECT_EQ(person->user, "admin");
  EXPECT_TRUE(authorizer_->Revoke(1).ok());
  Open();
  EXPECT_FALSE(*authorizer_->WriteFirst(path, now_));
  EXPECT_EQ(ContentOf(path), text);
}

TEST_F(AuthorizerTest, AFileThatCannotBeWrittenIsNamedAndNoTokenIsMade) {
  const std::string path = folder_ + "/none/admin.token";
  EXPECT_THAT(
      std::string(authorizer_->WriteFirst(path, now_).status().message()),
      HasSubstr(path));
  EXPECT_THAT(authorizer_->List().tokens(), SizeIs(0));
  EXPECT_TRUE(*authorizer_->WriteFirst(folder_ + "/admin.token", now_));
}

TEST_F(AuthorizerTest, AGivenTokenIsAnAdminsAndStays) {
  const std::string token = DrawToken();
  ASSERT_TRUE(authorizer_->EnterGiven(token, now_).ok());
  const auto person = authorizer_->Authorize(
      "/paceline.v1.TokenService/CreateToken", token, now_);
  ASSERT_TRUE(person.ok()) << person.status();
  EXPECT_EQ(person->user, "admin");
  const absl::Status revoked = authorizer_->Revoke(1);
  EXPECT_TRUE(absl::IsFailedPrecondition(revoked)) << revoked;
  EXPECT_THAT(std::string(revoked.message()), HasSubstr("--admin-token-file"));
  EXPECT_TRUE(Try(kList, token).ok());
  EXPECT_FALSE(*authorizer_->WriteFirst(folder_ + "/admin.token", now_));

  Open();
  ASSERT_TRUE(authorizer_->EnterGiven(token, now_).ok());
  EXPECT_THAT(authorizer_->List().tokens(), SizeIs(1));
}

TEST_F(AuthorizerTest, AnotherGivenTokenLeavesTheFirstToBeRevoked) {
  const std::string first = DrawToken();
  const std::string second = DrawToken();
  ASSERT_TRUE(authorizer_->EnterGiven(first, now_).ok());
  Open();
  ASSERT_TRUE(authorizer_->EnterGiven(second, now_).ok());
  EXPECT_TRUE(Try(kList, first).ok());
  EXPECT_TRUE(authorizer_->Revoke(1).ok());
  EXPECT_TRUE(absl::IsUnauthenticated(Try(kList, first)));
  EXPECT_TRUE(Try(kList, second).ok());
}

TEST_F(AuthorizerTest, AGivenTokenIsNobodyElses) {
  const std::string view = Create(v1::ROLE_VIEW).token();
  const std::string ends = Create(v1::ROLE_ADMIN, absl::Hours(1)).token();
  for (const std::string& token : {view, ends}) {
    const absl::Status status = authorizer_->EnterGiven(token, now_);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr("of ann"), Not(HasSubstr(token))));
  }
  EXPECT_TRUE(
      authorizer_->EnterGiven(Create(v1::ROLE_ADMIN).token(), now_).ok());
}

}  // namespace
}  // namespace paceline
