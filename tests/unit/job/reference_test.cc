#include "common/job/reference.h"

#include "common/base/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(Reference, HasEveryChapter) {
  const std::string reference = Reference();
  for (const char* heading :
       {"# Reference of job files\n", "## The job\n", "### partitioner\n",
        "## Layers\n", "### Conv2D\n", "## Initializers\n", "### HeNormal\n",
        "## Regularizers\n", "### L1L2\n", "## Losses\n",
        "### MeanSquaredError\n", "## Metrics\n", "### BinaryAccuracy\n",
        "## Optimizers\n", "### Adam\n"}) {
    EXPECT_THAT(reference, HasSubstr(heading));
  }
}

TEST(Reference, SaysTypeDefaultAndMeaningOfAKey) {
  const std::string job = *ReferenceOf("job");
  EXPECT_THAT(job, StartsWith("### job\n\nA training job.\n"));
  EXPECT_THAT(job, HasSubstr("| `epochs` | integer, from 1 to 2147483647 | `1` "
                             "| Passes over the data. |"));
  EXPECT_THAT(job, HasSubstr("| `model` | model | required | "));
  EXPECT_THAT(job, Not(HasSubstr("callbacks"))) << "not supported yet";
}

TEST(Reference, FindsClassesByBothOfKerasNames) {
  EXPECT_THAT(*ReferenceOf("BatchNormalization"),
              StartsWith("### BatchNormalization\n"));
  EXPECT_EQ(*ReferenceOf("batch_normalization"),
            *ReferenceOf("BatchNormalization"));
  EXPECT_EQ(*ReferenceOf("ADAM"), *ReferenceOf("Adam"));
}

TEST(Reference, SuggestsANameThatIsNear) {
  const absl::Status status = ReferenceOf("Conv2").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(status.message(),
            "nothing in a job is named \"Conv2\"; did you mean \"Conv2D\"?");
}

TEST(Reference, TheCommittedPageIsOfToday) {
  const absl::StatusOr<std::string> page =
      ReadFile(PACELINE_SOURCE_DIR "/docs/reference.md", 1 << 20);
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_TRUE(*page == Reference())
      << "make it anew: build/release/bin/coordinator reference > "
         "docs/reference.md";
}

}  // namespace
}  // namespace paceline
