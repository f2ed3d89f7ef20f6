#include "common/cluster/blame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "common/base/status_macros.h"
#include "common/limits.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;

const Blame kBlame = {{TaskType::kPs, 1}, "10.0.0.2:2222", "Push"};

TEST(BlameTest, TravelsWithAnError) {
  const absl::Status plain = absl::UnavailableError("gone");
  EXPECT_EQ(BlameOf(plain), std::nullopt);
  const absl::Status error = WithBlame(plain, kBlame);
  EXPECT_EQ(error.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(error.message(), "gone");
  EXPECT_EQ(BlameOf(error), kBlame);
  EXPECT_EQ(kBlame.Name(), "ps-1 at 10.0.0.2:2222");
}

TEST(BlameTest, StaysWhereTextIsAdded) {
  const absl::Status error = WithBlame(absl::UnavailableError("gone"), kBlame);
  EXPECT_EQ(BlameOf(Annotate(error, "worker-0")), kBlame);
}

TEST(BlameTest, TheLastOneCounts) {
  absl::Status error = WithBlame(absl::UnavailableError("gone"), kBlame);
  const Blame other = {{TaskType::kWorker, 2}, "", ""};
  error = WithBlame(error, other);
  EXPECT_EQ(BlameOf(error), other);
  error = WithoutBlame(error);
  EXPECT_EQ(BlameOf(error), std::nullopt);
  EXPECT_EQ(error, absl::UnavailableError("gone"));
}

TEST(BlameTest, SuccessBlamesNobody) {
  const absl::Status ok = WithBlame(absl::OkStatus(), kBlame);
  EXPECT_TRUE(ok.ok());
  EXPECT_EQ(BlameOf(ok), std::nullopt);
}

TEST(BlameTest, TravelsBetweenProcesses) {
  const absl::Status error = WithBlame(absl::UnavailableError("gone"), kBlame);
  const v1::Error proto = ErrorToProto(error);
  EXPECT_EQ(proto.message(), "gone");
  EXPECT_EQ(proto.blame().task().type(), v1::TASK_TYPE_PS);
  EXPECT_EQ(proto.blame().task().index(), 1u);
  EXPECT_EQ(proto.blame().address(), "10.0.0.2:2222");
  EXPECT_EQ(proto.blame().waited_for(), "Push");
  EXPECT_EQ(ErrorFromProto(proto), error);

  const absl::Status plain = absl::UnavailableError("gone");
  EXPECT_FALSE(ErrorToProto(plain).has_blame());
  EXPECT_EQ(ErrorFromProto(ErrorToProto(plain)), plain);
  EXPECT_TRUE(ErrorFromProto(v1::Error()).ok());
}

TEST(BlameTest, OfWhatIsNoTaskIsLeftOut) {
  v1::Error proto;
  proto.set_code(14);
  proto.set_message("gone");
  for (const auto& [type, index] :
       {std::pair<int, uint32_t>(v1::TASK_TYPE_UNSPECIFIED, 0),
        {77, 0},
        {v1::TASK_TYPE_PS, limits::kMaxTasks},
        {v1::TASK_TYPE_PS, ~uint32_t{0}}}) {
    proto.mutable_blame()->mutable_task()->set_type(
        static_cast<v1::TaskType>(type));
    proto.mutable_blame()->mutable_task()->set_index(index);
    EXPECT_EQ(ErrorFromProto(proto), absl::UnavailableError("gone"))
        << type << " " << index;
  }
}

TEST(BlameTest, TextsOfAPeerAreEscapedAndShort) {
  v1::Error proto =
      ErrorToProto(WithBlame(absl::UnavailableError("gone"), kBlame));
  proto.mutable_blame()->set_address("\x1b[2J" + std::string(1'000'000, 'a'));
  proto.mutable_blame()->set_waited_for("\r" + std::string(1'000'000, 'w'));
  const std::optional<Blame> blame = BlameOf(ErrorFromProto(proto));
  ASSERT_TRUE(blame);
  EXPECT_THAT(blame->address, HasSubstr("\\x1b[2Jaaa"));
  EXPECT_THAT(blame->waited_for, HasSubstr("\\x0dwww"));
  EXPECT_LT(blame->address.size() + blame->waited_for.size(), 500u);
}

}  // namespace
}  // namespace paceline
