#include "common/keras/model_summary.h"

#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/job/model_file.h"
#include "tests/unit/keras/keras_fixture.h"

namespace paceline {
namespace {

std::string TextOf(const std::string& name) {
  std::ifstream file(KerasFixture(name));
  EXPECT_TRUE(file.good()) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

// Keras made these texts, on terminals of 80 and of 200 columns.
void ExpectSummaryOfKeras(const std::string& file, const std::string& name) {
  const auto model = OpenModelFile(KerasFixture(file));
  ASSERT_TRUE(model.ok()) << model.status();
  for (const int columns : {80, 200}) {
    EXPECT_EQ(SummarizeModel(model->graph,
                             {model->weights->OptimizerSize(), columns}),
              TextOf(absl::StrCat(name, "_", columns, ".txt")));
  }
}

TEST(ModelSummary, IsThatOfKeras) {
  ExpectSummaryOfKeras("sequential.keras", "small");
  ExpectSummaryOfKeras("nested.keras", "outer");
  ExpectSummaryOfKeras("shared.keras", "shared");
  ExpectSummaryOfKeras("parts.keras", "parts");
}

TEST(ModelSummary, OfAModelWithBranchesSaysWhatReadsWhat) {
  const auto graph = GraphOfConfig(TextOf("residual.json"));
  ASSERT_TRUE(graph.ok()) << graph.status();
  for (const int columns : {80, 200}) {
    EXPECT_EQ(SummarizeModel(*graph, {{}, columns}),
              TextOf(absl::StrCat("residual_", columns, ".txt")));
  }
}

}  // namespace
}  // namespace paceline
