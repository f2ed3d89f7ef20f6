#include "common/keras/model_summary.h"

#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/config/json_reader.h"
#include "common/job/job_fields.h"
#include "common/job/model_file.h"
#include "common/keras/model_config.h"
#include "tests/unit/keras/keras_fixture.h"

namespace paceline {
namespace {

std::string TextOf(const std::string& name) {
  std::ifstream file(KerasFixture(name));
  EXPECT_TRUE(file.good()) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

// Keras made these texts, on terminals of 80 and of 200 columns.
TEST(ModelSummary, IsThatOfKeras) {
  const auto file = OpenModelFile(KerasFixture("sequential.keras"));
  ASSERT_TRUE(file.ok()) << file.status();
  for (const int columns : {80, 200}) {
    EXPECT_EQ(
        SummarizeModel(file->graph, {file->name, file->is_sequential,
                                     file->weights->OptimizerSize(), columns}),
        TextOf(absl::StrCat("small_", columns, ".txt")));
  }
}

TEST(ModelSummary, OfAModelWithBranchesSaysWhatReadsWhat) {
  const auto json = ReadJson(TextOf("residual.json"), "residual.json", 1 << 20);
  ASSERT_TRUE(json.ok()) << json.status();
  const auto config = ReadModelConfig(*json, Path());
  ASSERT_TRUE(config.ok()) << config.status();
  const auto model = FieldsOf(static_cast<const v1::Model*>(nullptr))
                         .Read(config->model, Path("model"));
  ASSERT_TRUE(model.ok()) << model.status();
  const auto graph = BuildGraph(*model);
  ASSERT_TRUE(graph.ok()) << graph.status();
  for (const int columns : {80, 200}) {
    EXPECT_EQ(SummarizeModel(*graph, {"residual", false, {}, columns}),
              TextOf(absl::StrCat("residual_", columns, ".txt")));
  }
}

}  // namespace
}  // namespace paceline
