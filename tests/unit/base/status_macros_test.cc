#include "common/base/status_macros.h"

#include <gtest/gtest.h>

#include "absl/strings/cord.h"

namespace paceline {
namespace {

constexpr char kPayload[] = "test/payload";

absl::Status Missing() {
  absl::Status error = absl::NotFoundError("no file");
  error.SetPayload(kPayload, absl::Cord("which"));
  return error;
}

TEST(StatusMacrosTest, AnnotateKeepsCodeAndPayloads) {
  const absl::Status error = Annotate(Missing(), "worker-1");
  EXPECT_EQ(error.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(error.message(), "worker-1: no file");
  EXPECT_EQ(error.GetPayload(kPayload), absl::Cord("which"));
  EXPECT_TRUE(Annotate(absl::OkStatus(), "worker-1").ok());
}

TEST(StatusMacrosTest, WithMessageKeepsCodeAndPayloads) {
  const absl::Status error = WithMessage(Missing(), "other words");
  EXPECT_EQ(error.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(error.message(), "other words");
  EXPECT_EQ(error.GetPayload(kPayload), absl::Cord("which"));
}

TEST(StatusMacrosTest, PeopleSeeNoPayloads) {
  EXPECT_EQ(CodeAndMessage(Missing()), "NOT_FOUND: no file");
}

}  // namespace
}  // namespace paceline
