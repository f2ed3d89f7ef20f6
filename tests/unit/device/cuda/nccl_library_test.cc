#include "worker/device/cuda/plugin/nccl_library.h"

#include <dlfcn.h>

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline::cuda {
namespace {

using ::testing::HasSubstr;

TEST(NcclLibraryTest, HasAllFunctionsOfTheLibraryThatIsThere) {
  if (dlopen("libnccl.so.2", RTLD_LAZY) == nullptr) GTEST_SKIP() << dlerror();
  const absl::StatusOr<NcclLibrary> nccl = LoadNccl();
  ASSERT_TRUE(nccl.ok()) << nccl.status();
  EXPECT_NE(nccl->AllReduce, nullptr);
  // It answers, without a GPU.
  EXPECT_EQ(std::string(nccl->GetErrorString(ncclSuccess)), "no error");
}

TEST(NcclLibraryTest, SaysThatThereIsNone) {
  const absl::Status status = LoadNccl("libpaceline_no_such_nccl.so").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("needs NCCL: libpaceline_no_such_nccl.so: "));
}

TEST(NcclLibraryTest, NamesTheFunctionThatIsMissing) {
  const absl::Status status = LoadNccl("libc.so.6").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()), HasSubstr("ncclAllReduce"));
}

}  // namespace
}  // namespace paceline::cuda
