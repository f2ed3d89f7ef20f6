// The config.json of a Keras file.
#include <glog/logging.h>

#include "common/config/json_reader.h"
#include "common/job/job_fields.h"
#include "common/keras/model_config.h"
#include "common/keras/weight_paths.h"
#include "common/model/build_graph.h"
#include "common/model/graph.h"
#include "tests/fuzz/fuzz_input.h"

namespace paceline {

void Fuzz(FuzzInput input) {
  const auto json = ReadJson(input.rest(), "config.json", 1 << 20);
  if (!json.ok()) return;
  const auto config = ReadModelConfig(*json, Path());
  if (!config.ok()) return;
  const auto model = FieldsOf(static_cast<const v1::Model*>(nullptr))
                         .Read(config->model, Path("model"));
  if (!model.ok()) return;
  const auto graph = BuildGraph(*model);
  if (!graph.ok()) return;
  CHECK_EQ(WeightPaths(graph->tree).size(), graph->variables.size());
}

}  // namespace paceline
