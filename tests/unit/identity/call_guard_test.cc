// Which calls a server takes: of which job, with which proof.
#include "common/identity/call_guard.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/identity/call_header.h"
#include "common/identity/caller.h"
#include "common/limits.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kMethod[] = "/paceline.v1.ParameterServerService/Push";
constexpr char kPeer[] = "ipv4:10.0.0.2:40000";
const JobIdentity kJob = {"00000000000000aa", 1};

JobSecret SecretOf(const std::string& text) {
  return *JobSecret::FromText(text);
}
const JobSecret& Secret() {
  static const JobSecret& secret = *new JobSecret(SecretOf("the job's secret"));
  return secret;
}

class CallGuardTest : public ::testing::Test {
 protected:
  CallGuardTest() { guard_.SetJob(kJob); }

  static std::unique_ptr<Caller> WorkerOf(const JobIdentity& job,
                                          std::optional<JobSecret> secret) {
    v1::Task task;
    task.set_type(v1::TASK_TYPE_WORKER);
    auto caller = std::make_unique<Caller>(task, 77, std::move(secret));
    caller->SetJob(job);
    return caller;
  }
  // The header of a worker of `job`.
  std::string Header(uint64_t sequence, const JobIdentity& job = kJob,
                     const JobSecret& secret = Secret(),
                     const std::string& method = kMethod) {
    return WorkerOf(job, secret)
        ->Header(method, sequence, guard_.Challenge(kPeer));
  }
  absl::Status Admit(const std::string& header, const std::string& peer = kPeer,
                     Access access = Access::kMembers) {
    return guard_.Admit(peer, kMethod, header, access).status();
  }

  CallGuard guard_{Secret()};
};

TEST_F(CallGuardTest, TakesCallsThatProveThemselves) {
  for (const uint64_t sequence : {1, 2, 7, 300, 5000}) {
    EXPECT_TRUE(Admit(Header(sequence)).ok()) << sequence;
  }
}

TEST_F(CallGuardTest, AStrangerIsRefused) {
  using enum absl::StatusCode;
  EXPECT_EQ(Admit("").code(), kUnauthenticated);
  EXPECT_EQ(Admit(WorkerOf(kJob, std::nullopt)->Header(kMethod, 1, "")).code(),
            kUnauthenticated);
  const absl::Status other =
      Admit(Header(1, kJob, SecretOf("the secret of another job")));
  EXPECT_EQ(other.code(), kUnauthenticated);
  EXPECT_THAT(std::string(other.message()), HasSubstr("--job-secret-file"));
}

TEST_F(CallGuardTest, AProofIsOfItsConnectionItsMethodAndItsContent) {
  EXPECT_EQ(Admit(Header(1), "ipv4:10.0.0.3:40000").code(),
            absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(Admit(Header(1, kJob, Secret(),
                         "/paceline.v1.ParameterServerService/Pull"))
                .code(),
            absl::StatusCode::kInvalidArgument);
  for (size_t i = 0; i < Header(1).size(); ++i) {
    std::string bent = Header(1);
    bent[i] ^= 1;
    EXPECT_FALSE(Admit(bent).ok()) << "byte " << i;
  }
}

TEST_F(CallGuardTest, ANumberIsTakenOnce) {
  EXPECT_TRUE(Admit(Header(10)).ok());
  EXPECT_EQ(Admit(Header(10)).code(), absl::StatusCode::kUnauthenticated);
  // Overtaken by a few others.
  EXPECT_TRUE(Admit(Header(9)).ok());
  EXPECT_EQ(Admit(Header(9)).code(), absl::StatusCode::kUnauthenticated);
  EXPECT_TRUE(Admit(Header(265)).ok());
  EXPECT_TRUE(Admit(Header(11)).ok());
  EXPECT_EQ(Admit(Header(10)).code(), absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(Admit(Header(8)).code(), absl::StatusCode::kUnauthenticated)
      << "older than what is remembered";
}

TEST_F(CallGuardTest, AnotherJobOrGenerationHasACodeOfItsOwn) {
  uint64_t sequence = 0;
  for (const JobIdentity& other :
       {JobIdentity{"00000000000000bb", 1}, JobIdentity{kJob.id, 2}}) {
    const absl::Status refused = Admit(Header(++sequence, other));
    EXPECT_EQ(refused.code(), absl::StatusCode::kPermissionDenied);
    EXPECT_THAT(std::string(refused.message()),
                AllOf(HasSubstr(other.ToString()), HasSubstr(kJob.ToString())));
  }
}

TEST_F(CallGuardTest, OnlyARegistrationNeedsNoJob) {
  EXPECT_EQ(Admit(Header(1, {})).code(), absl::StatusCode::kPermissionDenied);
  EXPECT_TRUE(Admit(Header(2, {}), kPeer, Access::kNewcomers).ok());
  CallGuard joining(std::nullopt);
  const std::string header =
      WorkerOf(kJob, std::nullopt)->Header(kMethod, 1, "");
  EXPECT_EQ(
      joining.Admit(kPeer, kMethod, header, Access::kMembers).status().code(),
      absl::StatusCode::kUnavailable);
}

TEST_F(CallGuardTest, OpenCallsOfACallerAreBounded) {
  std::vector<std::unique_ptr<CallGuard::Admission>> open;
  uint64_t sequence = 0;
  const auto call = [&] {
    return guard_.Admit(kPeer, kMethod, Header(++sequence), Access::kMembers);
  };
  for (int i = 0; i < limits::kMaxCallsPerCaller; ++i) {
    auto admitted = call();
    ASSERT_TRUE(admitted.ok()) << admitted.status();
    open.push_back(*std::move(admitted));
  }
  EXPECT_EQ(call().status().code(), absl::StatusCode::kUnavailable);
  open.pop_back();
  EXPECT_TRUE(call().ok());
}

TEST_F(CallGuardTest, AnybodyMayCallWhatIsOpenToAllButNotOften) {
  std::vector<std::unique_ptr<CallGuard::Admission>> open;
  const auto call = [&](const std::string& peer) {
    return guard_.Admit(peer, kMethod, "nonsense", Access::kAnybody);
  };
  for (int i = 0; i < kMaxUnprovenCalls; ++i) {
    auto admitted = call(absl::StrCat("ipv4:10.0.0.2:", 40'000 + i));
    ASSERT_TRUE(admitted.ok()) << admitted.status();
    open.push_back(*std::move(admitted));
  }
  EXPECT_EQ(call(kPeer).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(call("ipv4:10.0.0.3:40000").ok());
  EXPECT_TRUE(guard_.Admit(kPeer, "/other", "", Access::kAnybody).ok())
      << "each method is counted apart";
  EXPECT_TRUE(Admit(Header(1)).ok()) << "members are counted apart";
  open.clear();
  EXPECT_TRUE(call(kPeer).ok());
}

TEST_F(CallGuardTest, ReadsNoHeaderThatHoldsNonsense) {
  v1::CallHeader good;
  ASSERT_TRUE(good.ParseFromString(
      WorkerOf(kJob, std::nullopt)->Header(kMethod, 1, "")));
  EXPECT_TRUE(ReadHeader(good.SerializeAsString()).ok());
  const auto refused = [&](auto change) {
    v1::CallHeader bad = good;
    change(bad);
    return ReadHeader(bad.SerializeAsString()).status().code() ==
           absl::StatusCode::kInvalidArgument;
  };
  EXPECT_TRUE(refused([](auto& bad) { bad.set_incarnation(0); }));
  EXPECT_TRUE(refused([](auto& bad) { bad.set_sequence(0); }));
  EXPECT_TRUE(refused([](auto& bad) { bad.clear_sender(); }));
  EXPECT_TRUE(refused([](auto& bad) { bad.set_job_id("\r\nmy job"); }));
  EXPECT_TRUE(refused([](auto& bad) { bad.set_mac("short"); }));
  EXPECT_EQ(ReadHeader("\xff").status().code(),
            absl::StatusCode::kInvalidArgument);
}

// What a service asks of the tokens that it is shown.
absl::StatusOr<Person> CheckToken(absl::string_view method,
                                  absl::string_view token) {
  EXPECT_EQ(method, kMethod);
  if (token != "good") return absl::UnauthenticatedError("an unknown token");
  return Person{"ann", false};
}

class TokenGuardTest : public ::testing::Test {
 protected:
  static std::string Header(const std::string& token) {
    v1::Task task;
    task.set_type(v1::TASK_TYPE_WORKER);
    return Caller(task, 77, std::nullopt, nullptr, token)
        .Header(kMethod, 1, "");
  }
  static absl::StatusOr<std::unique_ptr<CallGuard::Admission>> Admit(
      CallGuard& guard, const std::string& token,
      Access access = Access::kPeople) {
    return guard.Admit(kPeer, kMethod, Header(token), access);
  }

  CallGuard guard_{Secret(), CheckToken};
};

TEST_F(TokenGuardTest, ATokenStandsForAProofWherePeopleCall) {
  const auto admission = Admit(guard_, "good");
  ASSERT_TRUE(admission.ok()) << admission.status();
  EXPECT_EQ((*admission)->person().user, "ann");
  EXPECT_FALSE((*admission)->person().is_admin);
  EXPECT_EQ(Admit(guard_, "bad").status().message(), "an unknown token");
  for (const Access access : {Access::kMembers, Access::kNewcomers}) {
    const absl::Status refused = Admit(guard_, "good", access).status();
    EXPECT_TRUE(absl::IsUnauthenticated(refused));
    EXPECT_THAT(std::string(refused.message()),
                HasSubstr("belongs to the service; give all daemons the "
                          "service's secret (--secret-file)"));
  }
  const absl::Status without = Admit(guard_, "").status();
  EXPECT_TRUE(absl::IsUnauthenticated(without));
  EXPECT_THAT(std::string(without.message()), HasSubstr("--token-file"));
}

TEST_F(TokenGuardTest, WhoKnowsTheSecretOrNeedsNoneIsAnAdmin) {
  v1::Task task;
  task.set_type(v1::TASK_TYPE_WORKER);
  const auto proven = guard_.Admit(
      kPeer, kMethod,
      Caller(task, 77, Secret()).Header(kMethod, 1, guard_.Challenge(kPeer)),
      Access::kPeople);
  ASSERT_TRUE(proven.ok()) << proven.status();
  EXPECT_TRUE((*proven)->person().is_admin);
  CallGuard open(std::nullopt, CheckToken);
  const auto anybody = Admit(open, "");
  ASSERT_TRUE(anybody.ok()) << anybody.status();
  EXPECT_TRUE((*anybody)->person().is_admin);
  EXPECT_EQ((*anybody)->person().user, "");
  EXPECT_TRUE(absl::IsUnauthenticated(Admit(open, "bad").status()));
}

TEST_F(TokenGuardTest, TheOpenCallsOfAPersonAreBounded) {
  std::vector<std::unique_ptr<CallGuard::Admission>> open;
  for (int i = 0; i < kMaxCallsPerPerson; ++i) {
    auto admission = Admit(guard_, "good");
    ASSERT_TRUE(admission.ok()) << admission.status();
    open.push_back(*std::move(admission));
  }
  EXPECT_TRUE(absl::IsUnavailable(Admit(guard_, "good").status()));
  open.pop_back();
  EXPECT_TRUE(Admit(guard_, "good").ok());
}

}  // namespace
}  // namespace paceline
