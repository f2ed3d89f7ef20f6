#include "common/job/reference.h"

#include <algorithm>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "common/base/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace paceline {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Reference, HasEveryChapter) {
  const std::string reference = Reference();
  for (const char* heading : {"# Reference of job files\n",
                              "## The job\n",
                              "### partitioner\n",
                              "## Steps\n",
                              "### RandomFlip\n",
                              "## Layers\n",
                              "### Conv2D\n",
                              "## Initializers\n",
                              "### HeNormal\n",
                              "## Regularizers\n",
                              "### L1L2\n",
                              "## Constraints\n",
                              "### UnitNorm\n",
                              "## Losses\n",
                              "### MeanSquaredError\n",
                              "## Metrics\n",
                              "### BinaryAccuracy\n",
                              "## Optimizers\n",
                              "### Adam\n",
                              "## Callbacks\n",
                              "### EarlyStopping\n"}) {
    EXPECT_THAT(reference, HasSubstr(heading));
  }
}

TEST(Reference, SaysTypeDefaultAndMeaningOfAKey) {
  const std::string job = *ReferenceOf("job");
  EXPECT_THAT(job, StartsWith("### job\n\nA training job.\n"));
  EXPECT_THAT(job, HasSubstr("| `epochs` | integer, from 1 to 2147483647 | `1` "
                             "| Passes over the data. |"));
  EXPECT_THAT(job, HasSubstr("| `model` | model | required | "));
}

TEST(Reference, NamesTheClassThatIsADefault) {
  EXPECT_THAT(*ReferenceOf("Dense"),
              HasSubstr("| `kernel_initializer` | initializer | "
                        "`GlorotUniform` | "));
}

TEST(Reference, RowsOfTablesHaveFourCells) {
  int rows = 0;
  for (absl::string_view line : absl::StrSplit(Reference(), '\n')) {
    if (!absl::StartsWith(line, "| `")) continue;
    ++rows;
    const std::string cells = absl::StrReplaceAll(line, {{"\\|", ""}});
    EXPECT_EQ(std::count(cells.begin(), cells.end(), '|'), 5) << line;
  }
  EXPECT_GT(rows, 100);
}

TEST(Reference, FindsClassesByBothOfKerasNames) {
  EXPECT_THAT(*ReferenceOf("BatchNormalization"),
              StartsWith("### BatchNormalization\n"));
  EXPECT_EQ(*ReferenceOf("batch_normalization"),
            *ReferenceOf("BatchNormalization"));
  EXPECT_EQ(*ReferenceOf("ADAM"), *ReferenceOf("Adam"));
  EXPECT_EQ(*ReferenceOf("Input"), *ReferenceOf("InputLayer"));
}

TEST(Reference, HasAStepAndALayerOfOneName) {
  const std::string both = *ReferenceOf("Rescaling");
  EXPECT_THAT(both, StartsWith("### Rescaling\n"));
  EXPECT_THAT(both, HasSubstr("\n\n### Rescaling\n"));
}

TEST(Reference, SuggestsANameThatIsNear) {
  const absl::Status status = ReferenceOf("Conv2").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(status.message(),
            "no map of a job and no class is named \"Conv2\"; did you mean "
            "\"Conv2D\"?");
  EXPECT_THAT(std::string(ReferenceOf("epochs").status().message()),
              HasSubstr("the whole reference"));
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
