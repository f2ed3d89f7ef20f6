#include "common/keras/model_writer.h"

#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "common/base/status_macros.h"
#include "common/config/json_value.h"
#include "common/keras/keras_archive.h"
#include "common/keras/serialize_model.h"
#include "common/keras/slot_paths.h"
#include "common/keras/weight_paths.h"
#include "common/keras/weights_stream.h"
#include "common/zip/zip_writer.h"

namespace paceline {
namespace {

// The group of the model's own variables, of which there are none. Releases of
// Keras before 3.6 do not read a file without it.
const char kRootVariables[] = "vars";

// Adds the state of an optimizer in a LossScaleOptimizer (slot_paths.h).
void AddInLossScale(const LossScaling& scaling,
                    std::vector<WrittenDataset> state,
                    std::vector<WrittenDataset>& datasets) {
  std::vector<WrittenDataset> around = LossScaleState(scaling);
  for (size_t i = 0; i < state.size(); ++i) {
    around.push_back(state[i]);
    around.back().entry.path = absl::StrCat(kOptimizerGroup, around.size() - 1);
    state[i].entry.path = absl::StrCat(kInnerOptimizerGroup, i);
  }
  std::move(state.begin(), state.end(), std::back_inserter(datasets));
  std::move(around.begin(), around.end(), std::back_inserter(datasets));
}

std::vector<WrittenDataset> DatasetsOf(const TrainedModel& model) {
  std::vector<WrittenDataset> datasets;
  for (WeightPath& each : WeightPaths(model.graph.tree)) {
    datasets.push_back(VariableDataset(std::move(each.path),
                                       model.graph.variables[each.variable]));
  }
  std::vector<WrittenDataset> state = OptimizerState(model);
  if (const std::optional<LossScaling>& scaling =
          model.optimizer.loss_scaling) {
    AddInLossScale(*scaling, std::move(state), datasets);
  } else {
    std::move(state.begin(), state.end(), std::back_inserter(datasets));
  }
  return datasets;
}

WeightsStream StreamOf(const TrainedModel& model) {
  return WeightsStream(model, DatasetsOf(model), {kRootVariables});
}

std::string Metadata() {
  const nlohmann::ordered_json json = {
      {"keras_version", kWrittenKerasVersion},
      {"date_saved", absl::FormatTime("%Y-%m-%d@%H:%M:%S", absl::Now(),
                                      absl::LocalTimeZone())}};
  return json.dump();
}

}  // namespace

absl::Status WriteKerasModel(const std::string& path,
                             const TrainedModel& model) {
  ASSIGN_OR_RETURN(const Value config,
                   SerializeModel(model.job, model.graph, model.optimizer));
  const WeightsStream weights = StreamOf(model);
  std::vector<ZipContent> members;
  members.push_back(ZipText(kMetadataMember, Metadata()));
  members.push_back(ZipText(kConfigMember, ToJson(config).dump()));
  members.push_back({kWeightsMember, weights.size_bytes(),
                     [&weights](int64_t offset, absl::Span<std::byte> out) {
                       return weights.Read(offset, out);
                     }});
  return WriteZip(path, std::move(members));
}

absl::Status WriteKerasWeights(const std::string& path,
                               const TrainedModel& model) {
  return StreamOf(model).WriteTo(path);
}

}  // namespace paceline
